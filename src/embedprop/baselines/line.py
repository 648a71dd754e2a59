"""LINE: first- and second-order proximity by edge sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.baselines.densify import densified
from embedprop.baselines.registry import Embedder, Vectors, baseline
from embedprop.errors import InvalidParameterError
from embedprop.graph.graph import Graph
from embedprop.methods.random_streams import RandomStreams

_NEGATIVE_POWER = 0.75


@baseline("line")
class LINE(Embedder):
    """LINE of Tang et al. (WWW 2015): both orders, as their reference code trains them.

    Half of the numbers are learned by the first order (nodes with an edge are close), half by the
    second (nodes with the same neighbors are close); each half is scaled to length 1 and they are
    concatenated. Edges are drawn by weight, negatives in proportion to degree^0.75.

    Parameters
    ----------
    dim
        Both halves together: 64 + 64, as the paper gives 128 to all methods.
    n_samples
        Edges drawn for each order: 20 million, as in the paper.
    n_negatives, learning_rate
        5 negatives per edge, a rate of 0.025 that falls linearly to 0: the reference code's.
    densify_to
        A node with at most this many neighbors gets neighbors of neighbors, too, and an edge to
        itself; of these the heaviest, up to this number. The reference does so for sparse graphs,
        with 1,000. None: the graph as it is.
    random_state
        The same seed gives the same vectors.
    n_threads
        Not used: the reference lets threads overwrite each other, here one does all the work.
    """

    dim: int = 128
    n_samples: int = 20_000_000
    n_negatives: int = 5
    learning_rate: float = 0.025
    densify_to: int | None = None

    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, dim): the first order, then the second."""
        if self.dim < 2 or self.dim % 2:
            raise InvalidParameterError(
                f"dim={self.dim}: LINE needs an even number, half for each order."
            )
        if self.densify_to is not None and self.densify_to < 1:
            raise InvalidParameterError(
                f"densify_to={self.densify_to}: expected None, or a number of at least 1."
            )
        streams = RandomStreams.from_random_state(self.random_state)
        edges, weights = _edges(graph, self.densify_to)
        halves = [
            _unit_rows(self._order(edges, weights, graph.n_nodes, order, streams))
            for order in (1, 2)
        ]
        return np.concatenate(halves, axis=1)

    def _order(
        self,
        edges: NDArray[np.int32],
        weights: NDArray[np.floating],
        n_nodes: int,
        order: int,
        streams: RandomStreams,
    ) -> Vectors:
        from embedprop.kernels.draws.alias import alias_table
        from embedprop.kernels.line import train_edges

        # Each end of an edge counts, as the reference code draws negatives.
        degrees = np.bincount(edges.ravel(), np.repeat(weights, 2), minlength=n_nodes)
        rng = streams.generator("line start", order)
        half = self.dim // 2
        start = (rng.random((n_nodes, half), np.float32) - np.float32(0.5)) / np.float32(half)
        # In the first order a node is its own context; in the second, contexts have vectors of
        # their own, which start at 0 and are thrown away.
        train_edges(
            start,
            start if order == 1 else np.zeros_like(start),
            edges,
            *alias_table(weights),
            *alias_table(degrees**_NEGATIVE_POWER),
            self.n_samples,
            self.n_negatives,
            self.learning_rate,
            streams.key("line", order),
        )
        return start


def _edges(graph: Graph, densify_to: int | None) -> tuple[NDArray[np.int32], NDArray[np.floating]]:
    """Return (n_edges, 2), source and target, and their weights."""
    near = graph.neighbors
    # An undirected edge stands in both rows, so it is drawn in both directions.
    edges = np.stack([near.ids, near.owners], axis=1)
    weights = np.ones(near.n_values) if near.weights is None else near.weights
    if densify_to is None:
        return edges, weights
    dense = densified(csr_array((weights, edges.T), shape=2 * (graph.n_nodes,)), densify_to)
    pairs = np.stack(dense.tocoo().coords, axis=1)
    return pairs.astype(np.int32), dense.data


def _unit_rows(vectors: NDArray[Any]) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)

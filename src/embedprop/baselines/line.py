"""LINE: first- and second-order proximity by edge sampling.

Sparse graphs are made denser as its authors do it: by edges to neighbors of neighbors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, vstack

from embedprop.baselines.registry import Embedder, Vectors, baseline
from embedprop.errors import InvalidParameterError
from embedprop.graph import Graph
from embedprop.methods.random_streams import RandomStreams

_NEGATIVE_POWER = 0.75
# Bounds the memory for neighbors of neighbors.
_ROWS_AT_A_TIME = 1024


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
                f"dim={self.dim}: expected an even number of at least 2, half for each order of "
                f"LINE, got {self.dim}."
            )
        if self.densify_to is not None and self.densify_to < 1:
            raise InvalidParameterError(
                f"densify_to={self.densify_to}: expected None, or a number of at least 1."
            )
        from embedprop.kernels.line import alias_table, train_edges

        streams = RandomStreams.from_random_state(self.random_state)
        edges, weights = _edges(graph, self.densify_to)
        # Each end of an edge counts, as the reference code draws negatives.
        degrees = np.bincount(edges.ravel(), np.repeat(weights, 2), minlength=graph.n_nodes)
        tables = *alias_table(weights), *alias_table(degrees**_NEGATIVE_POWER)
        size = self.dim // 2
        halves = []
        for order in (1, 2):
            rng = streams.generator("line start", order)
            half = rng.random((graph.n_nodes, size), np.float32) - np.float32(0.5)
            half /= np.float32(size)
            # In the first order a node is its own context; in the second, contexts have vectors of
            # their own, which start at 0 and are thrown away.
            contexts = half if order == 1 else np.zeros_like(half)
            settings = self.n_samples, self.n_negatives, self.learning_rate
            train_edges(half, contexts, edges, *tables, *settings, streams.key("line", order))
            lengths = np.linalg.norm(half, axis=1, keepdims=True)
            halves.append(half / np.where(lengths > 0, lengths, np.float32(1)))
        return np.concatenate(halves, axis=1)


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


def densified(edges: csr_array[Any], n_targets: int) -> csr_array[Any]:
    """Lead edges from sources with few targets to their targets' targets, too, and to themselves.

    From v the weights are w(v, u), plus w(v, x) w(x, u) / (sum of the weights from x) by way of
    each x, plus for v itself a tenth of its weights, out and in. The largest ones are kept; a
    source that has more targets than that stays as it is.
    """
    out, into = (np.asarray(edges.sum(axis=axis)).ravel() for axis in (1, 0))
    # A second step leads from x to each target by its share of the weights from x.
    shares = diags_array(1 / np.where(out > 0, out, 1)) @ edges
    self_links = csr_array(diags_array((out + into) / 10))
    pieces = []
    for low in range(0, edges.shape[0], _ROWS_AT_A_TIME):
        rows = slice(low, low + _ROWS_AT_A_TIME)
        direct = csr_array(edges[rows])
        dense = csr_array(direct + direct @ shares + self_links[rows])
        pieces.append(_largest(direct, dense, n_targets))
    return csr_array(vstack(pieces))


def _largest(direct: csr_array[Any], dense: csr_array[Any], n: int) -> csr_array[Any]:
    """Return the n largest weights of each dense row, or the direct row if it has more."""
    ids, weights = [], []
    for i in range(direct.shape[0]):
        source = dense if direct.indptr[i + 1] - direct.indptr[i] <= n else direct
        row = slice(source.indptr[i], source.indptr[i + 1])
        near, weight = source.indices[row], source.data[row]
        if source is dense:
            # Stable: of equal weights the lower id is kept. Then by id, the order of a row.
            best = np.sort(np.argsort(-weight, kind="stable")[:n])
            near, weight = near[best], weight[best]
        ids.append(near)
        weights.append(weight)
    ptr = np.concatenate([[0], np.cumsum([len(near) for near in ids])])
    return csr_array((np.concatenate(weights), np.concatenate(ids), ptr), shape=direct.shape)

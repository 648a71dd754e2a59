"""A graph without some of its edges, so that a model can be asked for them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.graph import Graph

Ids = NDArray[np.int64]


class EdgeSplit(NamedTuple):
    """A graph without some of its edges, these edges, and as many pairs without one.

    Pairs are rows (source, target) of node ids; in an undirected graph the smaller id comes first.
    """

    training: Graph
    held_out: Ids
    non_edges: Ids


def split_edges(graph: Graph, share: float, seed: int) -> EdgeSplit:
    """Hold out a share of the edges and draw as many pairs without one, both uniformly.

    All nodes and labels stay, even where a node loses its last edge. Self-loops are never held
    out. In a directed graph the direction counts: an edge and its reverse are different pairs.

    Parameters
    ----------
    graph
        A graph without relations; with relations use `filtered_ranking`.
    share
        The share of edges to hold out, between 0 and 1.
    seed
        The same seed gives the same split.

    Examples
    --------
    >>> ring = Graph.from_edges([(i, (i + 1) % 10) for i in range(10)])
    >>> split = split_edges(ring, 0.2, seed=0)
    >>> split.training, split.held_out.shape, split.non_edges.shape
    (Graph(10 nodes, 8 undirected edges, label types: node), (2, 2), (2, 2))
    """
    if graph.relations is not None:
        raise InvalidGraphError(
            "split_edges expects a graph without relations. Rank triples with filtered_ranking."
        )
    rng = np.random.default_rng(seed)
    sources, targets = graph.neighbors.ids, graph.neighbors.owners
    keys = _pair_keys(graph, sources, targets)
    pairs = np.unique(keys[sources != targets])
    n_held = round(share * len(pairs))
    if not 0 < n_held < len(pairs):
        raise InvalidParameterError(
            f"share={share} of {len(pairs)} edges holds out {n_held}. Expected at least one edge "
            f"to hold out and one to train on."
        )
    held = rng.choice(pairs, n_held, replace=False)
    absent = _non_edges(pairs, n_held, graph, rng)
    training = replace(
        graph,
        neighbors=graph.neighbors.keeping(~np.isin(keys, held)),
        n_self_loops_dropped=0,
        n_duplicates_dropped=0,
        n_zero_weights_dropped=0,
    )
    as_pairs = [np.stack(np.divmod(some, graph.n_nodes), axis=1) for some in (held, absent)]
    return EdgeSplit(training, *as_pairs)


def _pair_keys(graph: Graph, sources: NDArray[np.integer], targets: NDArray[np.integer]) -> Ids:
    """Return one number per pair, the same for both directions of an undirected edge."""
    if not graph.directed:
        sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
    return sources.astype(np.int64) * graph.n_nodes + targets


def _non_edges(pairs: Ids, wanted: int, graph: Graph, rng: np.random.Generator) -> Ids:
    """Draw `wanted` different pairs of different nodes that are not among the sorted `pairs`."""
    n_nodes = graph.n_nodes
    n_pairs = n_nodes * (n_nodes - 1) // (1 if graph.directed else 2)
    n_free = n_pairs - len(pairs)
    if n_free < wanted:
        raise InvalidGraphError(
            f"The graph has {n_free} pairs of nodes without an edge, but {wanted} are needed. Hold "
            f"out fewer edges."
        )
    drawn = np.empty(0, np.int64)
    while len(drawn) < wanted:
        # Twice as many as would be enough on average, were no pair drawn twice.
        n_draws = 2 * ((wanted - len(drawn)) * n_pairs // n_free + 8)
        sources, targets = rng.integers(n_nodes, size=(2, n_draws))
        fresh = _pair_keys(graph, sources, targets)[sources != targets]
        fresh = np.concatenate([drawn, fresh[~np.isin(fresh, pairs)]])
        # Each pair at its first draw: sorted ones, cut off below, would prefer small ids.
        drawn = fresh[np.sort(np.unique(fresh, return_index=True)[1])]
    return drawn[:wanted]

"""A graph without some of its nodes or edges: what is trained on, to be asked for the rest."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph import Graph, Multisets, Vocabulary
from embedprop.graph.arrays import Rows
from embedprop.graph.labels import NODE_TYPE


def subgraph(graph: Graph, rows: Rows) -> Graph:
    """Return the graph of the nodes at `rows`, in that order, with the edges between them.

    Labels that only other nodes have leave their vocabulary: they are unknown to the new graph.
    Labels of kinds other than sets are left behind.

    >>> words = {"a": ["x"], "c": ["y"]}
    >>> graph = Graph.from_edges([("a", "b"), ("b", "c")], labels={"word": words})
    >>> small = subgraph(graph, np.array([0, 1]))
    >>> small.nodes.names, small.n_edges, small.vocabulary("word").names
    (('a', 'b'), 1, ('x',))
    """
    if len(np.unique(rows)) != len(rows):
        raise InvalidGraphError("`rows` of a subgraph must name each node once.")
    new_id = np.full(graph.n_nodes, -1, np.int32)
    # -1 marks the nodes that go, and with them their entries among the neighbors.
    new_id[rows] = np.arange(len(rows), dtype=np.int32)
    near = graph.neighbors.subset(rows)
    is_kept = new_id[near.ids] >= 0
    if not is_kept.any():
        raise InvalidGraphError(f"No edge remains between the {len(rows)} nodes of the subgraph.")
    near = near.keeping(is_kept)
    relations = graph.neighbor_relations
    if relations is not None:
        # The entries travel as ids, so that `subset` finds each neighbor's relation.
        entries = Multisets(graph.neighbors.ptr, np.arange(len(relations), dtype=np.int32))
        relations = relations[entries.subset(rows).ids[is_kept]]
    nodes = Vocabulary.trusted(graph.nodes[row] for row in rows.tolist())
    labels = {
        name: _without_unused(sets.subset(rows), graph.vocabulary(name))
        for name, sets in graph.labels.items()
        if name != NODE_TYPE
    }
    return Graph(
        nodes=nodes,
        neighbors=Multisets(near.ptr, new_id[near.ids], near.weights),
        directed=graph.directed,
        labels={NODE_TYPE: Multisets.identity(len(rows))} | {t: labels[t][1] for t in labels},
        vocabularies={NODE_TYPE: nodes} | {t: labels[t][0] for t in labels},
        values={},
        label_types=(NODE_TYPE, *labels),
        relations=graph.relations,
        neighbor_relations=relations,
    )


def _without_unused(sets: Multisets, names: Vocabulary) -> tuple[Vocabulary, Multisets]:
    """Return the names that are left, in their order, and the sets of their new ids."""
    used, ids = np.unique(sets.ids, return_inverse=True)
    kept = Vocabulary.trusted(names[id_] for id_ in used.tolist())
    return kept, Multisets(sets.ptr, ids.astype(np.int32), sets.weights)


class EdgeSplit(NamedTuple):
    """A graph without some of its edges, these edges, and as many pairs without one.

    Pairs are rows (source, target) of node ids; in an undirected graph the smaller id comes first.
    """

    training: Graph
    held_out: Rows
    non_edges: Rows


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


def _pair_keys(graph: Graph, sources: NDArray[np.integer], targets: NDArray[np.integer]) -> Rows:
    """Return one number per pair, the same for both directions of an undirected edge."""
    if not graph.directed:
        sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
    return sources.astype(np.int64) * graph.n_nodes + targets


def _non_edges(pairs: Rows, wanted: int, graph: Graph, rng: np.random.Generator) -> Rows:
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

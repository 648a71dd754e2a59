"""A graph without some of its nodes: what an inductive experiment trains on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph import Graph, Multisets, Vocabulary
from embedprop.graph.labels import NODE_TYPE


def subgraph(graph: Graph, rows: NDArray[np.int64]) -> Graph:
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

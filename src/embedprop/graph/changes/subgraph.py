"""A graph without some of its nodes: what an inductive experiment trains on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph.graph import Graph
from embedprop.graph.labels import NODE_TYPE
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary


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
    place = np.full(graph.n_nodes, -1, np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    if len(np.unique(rows)) != len(rows):
        raise InvalidGraphError("`rows` of a subgraph must name each node once.")
    neighbors, kept = _renamed(graph.neighbors.subset(rows), place)
    if neighbors.n_values == 0:
        raise InvalidGraphError(f"No edge remains between the {len(rows)} nodes of the subgraph.")
    owners = np.repeat(np.arange(len(rows)), neighbors.sizes)
    loops = int((owners == neighbors.ids).sum())
    n_arcs = neighbors.n_values
    labels, vocabularies = {}, {}
    nodes = Vocabulary.trusted(graph.nodes[row] for row in rows.tolist())
    labels[NODE_TYPE], vocabularies[NODE_TYPE] = Multisets.identity(len(rows)), nodes
    for name, sets in graph.labels.items():
        if name != NODE_TYPE:
            some = sets.subset(rows)
            used = np.unique(some.ids)
            new_id = np.full(len(graph.vocabulary(name)), -1, np.int32)
            new_id[used] = np.arange(len(used), dtype=np.int32)
            labels[name] = _renamed(some, new_id)[0]
            old = graph.vocabulary(name)
            vocabularies[name] = Vocabulary.trusted(old[id_] for id_ in used.tolist())
    relations = graph.neighbor_relations
    if relations is not None:
        place_in = np.arange(graph.neighbors.n_values, dtype=np.int32)
        whole = Multisets(graph.neighbors.ptr, place_in).subset(rows)
        relations = relations[whole.ids[kept]]
    return Graph(
        nodes=nodes,
        neighbors=neighbors,
        directed=graph.directed,
        labels=labels,
        vocabularies=vocabularies,
        values={},
        relations=graph.relations,
        neighbor_relations=relations,
        n_edges=n_arcs if graph.directed else (n_arcs - loops) // 2 + loops,
        label_types=tuple(labels),
        n_self_loops_dropped=0,
        n_duplicates_dropped=0,
        n_zero_weights_dropped=0,
    )


def _renamed(sets: Multisets, new_id: NDArray[np.int32]) -> tuple[Multisets, NDArray[np.bool_]]:
    """Return the sets with new ids, without members whose new id is -1, and which were kept."""
    ids = new_id[sets.ids]
    kept = ids >= 0
    some = sets.keeping(kept)
    return Multisets(some.ptr, ids[kept], some.weights), kept

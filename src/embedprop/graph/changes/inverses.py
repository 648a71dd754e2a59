"""A directed graph with an inverse relation beside each relation: labels travel both ways."""

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from embedprop.errors import InvalidGraphError
from embedprop.graph import Graph, Vocabulary
from embedprop.graph.adjacency import EdgeRows, adjacency


def inverse_of(relation: Hashable) -> tuple[str, Hashable]:
    """Return the name of the inverse of a relation."""
    return ("inverse", relation)


def has_inverses(relations: Vocabulary | None) -> bool:
    """Return whether the second half of the relations are the inverses of the first half."""
    names = () if relations is None else relations.names
    half = len(names) // 2
    return half > 0 and [*map(inverse_of, names[:half])] == [*names[half:]]


def with_inverses(graph: Graph) -> Graph:
    """Return the graph with an edge (v, inverse of r, u) for each edge (u, r, v).

    >>> graph = Graph.from_edges([("a", "b")], relations=["likes"], directed=True)
    >>> both = with_inverses(graph)
    >>> both.relations.names, both.n_edges
    (('likes', ('inverse', 'likes')), 2)
    """
    if has_inverses(graph.relations):
        return graph
    relation_ids = graph.neighbor_relations
    if graph.relations is None or relation_ids is None or not graph.directed:
        what = "undirected" if graph.relations is not None else "without relations"
        problem = f"needs a directed graph with relations, but this one is {what}"
        raise InvalidGraphError(f"Adding inverse relations {problem}.")
    # N(v) are the sources of the edges to v, so each entry's owner is the target.
    sources, targets = graph.neighbors.ids, graph.neighbors.owners
    names = graph.relations.names
    weights = graph.neighbors.weights
    edges = EdgeRows(
        sources=np.concatenate([sources, targets]),
        targets=np.concatenate([targets, sources]),
        weights=None if weights is None else np.concatenate([weights, weights]),
        relation_ids=np.concatenate([relation_ids, relation_ids + np.int32(len(names))]),
        # Checked, because a user may have given a relation the name of an inverse.
        relations=Vocabulary([*names, *map(inverse_of, names)]),
    )
    neighbors, relation_ids, _ = adjacency(graph.n_nodes, edges, directed=True)
    return replace(
        graph, neighbors=neighbors, neighbor_relations=relation_ids, relations=edges.relations
    )

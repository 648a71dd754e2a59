"""A directed graph with an inverse relation beside each relation: labels travel both ways."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from embedprop.errors import InvalidGraphError
from embedprop.graph.adjacency import EdgeTable, directed_adjacency
from embedprop.graph.graph import Graph
from embedprop.graph.vocabulary import Vocabulary


def inverse_of(relation: Hashable) -> tuple[str, Hashable]:
    """Return the name of the inverse of a relation."""
    return ("inverse", relation)


def with_inverses(graph: Graph) -> Graph:
    """Return the graph with an edge (v, inverse of r, u) for each edge (u, r, v).

    >>> graph = Graph.from_edges([("a", "b")], relations=["likes"], directed=True)
    >>> both = with_inverses(graph)
    >>> both.relations.names, both.n_edges
    (('likes', ('inverse', 'likes')), 2)
    """
    if graph.relations is None or graph.neighbor_relations is None or not graph.directed:
        what = "undirected" if graph.relations is not None else "without relations"
        raise InvalidGraphError(
            f"inverse_relations=True needs a directed graph with relations, but this one is {what}."
        )
    n_relations = len(graph.relations)
    sources = graph.neighbors.ids
    targets = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.neighbors.sizes)
    weights, relations = graph.neighbors.weights, graph.neighbor_relations
    table = EdgeTable(
        n_nodes=graph.n_nodes,
        sources=np.concatenate([sources, targets]),
        targets=np.concatenate([targets, sources]),
        weights=None if weights is None else np.concatenate([weights, weights]),
        relation_ids=np.concatenate([relations, relations + np.int32(n_relations)]),
        n_relations=2 * n_relations,
    )
    adjacency = directed_adjacency(table)
    names = list(graph.relations.names)
    return replace(
        graph,
        neighbors=adjacency.neighbors,
        neighbor_relations=adjacency.relation_ids,
        relations=Vocabulary.trusted([*names, *map(inverse_of, names)]),
        n_edges=adjacency.n_edges,
    )

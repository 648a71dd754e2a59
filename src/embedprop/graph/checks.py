"""What must hold between the parts of a graph, however it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from embedprop.errors import InvalidGraphError
from embedprop.graph.labels import NODE_TYPE

if TYPE_CHECKING:
    from embedprop.graph.graph import Graph


def check_graph(graph: Graph) -> None:
    """Refuse parts that do not fit together."""
    n_nodes, n_entries = graph.n_nodes, graph.neighbors.n_values
    if graph.neighbors.n_sets != n_nodes:
        raise InvalidGraphError(
            f"Expected the neighbors of {n_nodes} nodes, got {graph.neighbors.n_sets} sets."
        )
    if n_entries and graph.neighbors.ids.max() >= n_nodes:
        raise InvalidGraphError(
            f"Neighbor {graph.neighbors.ids.max()} does not exist: there are {n_nodes} nodes."
        )
    if (graph.relations is None) != (graph.neighbor_relations is None) or (
        graph.neighbor_relations is not None and len(graph.neighbor_relations) != n_entries
    ):
        raise InvalidGraphError("Expected one relation for every neighbor, or none at all.")
    if graph.label_types[:1] != (NODE_TYPE,) or set(graph.label_types) != {
        *graph.labels,
        *graph.values,
    }:
        raise InvalidGraphError(
            f"Expected 'node' and then every label type once, got {graph.label_types}."
        )
    for label_type, sets in graph.labels.items():
        n_labels = len(graph.vocabularies[label_type])
        if sets.n_sets != n_nodes or (sets.n_values and sets.ids.max() >= n_labels):
            raise InvalidGraphError(
                f"Label type {label_type!r} does not fit: expected {n_nodes} sets of ids below "
                f"{n_labels}, got {sets!r}."
            )
    for label_type, values in graph.values.items():
        if values.n_nodes != n_nodes:
            raise InvalidGraphError(
                f"Label type {label_type!r} does not fit: expected values for {n_nodes} nodes, "
                f"got {values.n_nodes}."
            )

"""What must hold between the parts of a graph, however it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from embedprop.errors import InvalidGraphError
from embedprop.graph.labels import NODE_TYPE

if TYPE_CHECKING:
    from embedprop.graph.graph import Graph


def check_graph(graph: Graph) -> None:
    """Refuse parts that do not fit together."""
    n_nodes, near = graph.n_nodes, graph.neighbors
    if near.n_sets != n_nodes:
        raise InvalidGraphError(f"Expected the neighbors of {n_nodes} nodes, got {near!r}.")
    if near.n_values and near.ids.max() >= n_nodes:
        raise InvalidGraphError(
            f"Neighbor {near.ids.max()} does not exist: there are {n_nodes} nodes."
        )
    # A relation for each entry of the neighbors, or neither names nor entries.
    n_relations = None if graph.neighbor_relations is None else len(graph.neighbor_relations)
    if n_relations != (None if graph.relations is None else near.n_values):
        raise InvalidGraphError("Expected one relation for every neighbor, or none at all.")
    types = graph.label_types
    if types[:1] != (NODE_TYPE,) or set(types) != {*graph.labels, *graph.values}:
        raise InvalidGraphError(f"Expected 'node' and then every label type once, got {types}.")
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

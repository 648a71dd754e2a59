"""NetworkX graph → Graph; the library itself is not imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from embedprop.errors import InvalidGraphError, InvalidParameterError, did_you_mean
from embedprop.graph.graph import Graph
from embedprop.graph.objects.convert import Choices, graph_from_edges
from embedprop.graph.objects.edge_input import EdgeInput


def graph_from_networkx(
    graph: Any,
    labels: Mapping[str, Any] | str | None,
    weight: str | None,
    relation: str | None,
    **choices: Unpack[Choices],
) -> Graph:
    """Make a graph of a NetworkX graph; see `Graph.from_networkx`."""
    if not (hasattr(graph, "is_directed") and hasattr(graph, "edges")):
        raise InvalidParameterError(
            f"from_networkx: expected a NetworkX graph, got {type(graph).__name__}."
        )
    # Parallel edges stay apart here; `build_graph` adds up their weights.
    rows = list(graph.edges(data=True))
    edges = EdgeInput.from_pairs([(source, target) for source, target, _ in rows])
    weights = relations = None
    if weight is not None and any(weight in data for _, _, data in rows):
        weights = [data.get(weight, 1) for _, _, data in rows]
    if relation is not None:
        relations = [data.get(relation) for _, _, data in rows]
    # A string alone names both the attribute and the label type.
    by_type = {labels: labels} if isinstance(labels, str) else labels or {}
    return graph_from_edges(
        edges.carrying(weights, relations),
        {key: _node_attribute(graph, value) for key, value in by_type.items()},
        directed=graph.is_directed(),
        nodes=list(graph.nodes),
        **choices,
    )


def _node_attribute(graph: Any, labels: Any) -> Any:
    """Return {node: value} if `labels` names a node attribute, else `labels` itself."""
    if not isinstance(labels, str):
        return labels
    values = {node: data[labels] for node, data in graph.nodes(data=True) if labels in data}
    if not values:
        known = {str(name) for _, data in graph.nodes(data=True) for name in data}
        advice = f"Name one that nodes have, or give the labels.{did_you_mean(labels, known)}"
        raise InvalidGraphError(f"labels: no node has an attribute {labels!r}. {advice}")
    return values

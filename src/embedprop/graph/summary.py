"""What was understood from the input of a graph, in a few lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from embedprop.graph.messages import counted

if TYPE_CHECKING:
    from embedprop.graph.graph import Graph


def summary(graph: Graph) -> str:
    """Return the lines that `Graph.describe` prints."""
    way = "directed" if graph.directed else "undirected"
    weighted = "" if graph.neighbors.weights is None else ", weighted"
    n_isolated = int(np.count_nonzero(graph.degrees == 0))
    rows = [
        ("nodes", f"{graph.n_nodes:,}, {n_isolated:,} of them isolated"),
        ("edges", f"{graph.n_edges:,} {way}{weighted}"),
        ("dropped", _dropped(graph)),
    ]
    if graph.relations is not None:
        rows.append(("relations", f"{len(graph.relations):,}"))
    rows += [(f"label type {t}", _labels(graph, t)) for t in graph.label_types]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


def _dropped(graph: Graph) -> str:
    n_loops, n_duplicates = graph.n_self_loops_dropped, graph.n_duplicates_dropped
    text = f"{counted(n_loops, 'self-loop')}, {counted(n_duplicates, 'duplicate')}"
    n_zero = graph.n_zero_weights_dropped
    return text + (f", {counted(n_zero, 'edge')} of weight 0" if n_zero else "")


def _labels(graph: Graph, label_type: str) -> str:
    n_missing = graph.n_nodes - int(np.count_nonzero(graph.has_labels(label_type)))
    missing = f"{counted(n_missing, 'node')} without"
    if label_type == "node":
        return "each node's own id"
    if label_type not in graph.labels:
        return f"{graph.kinds[label_type]}, {missing}"
    sets = graph.labels[label_type]
    weighted = "" if sets.weights is None else ", weighted"
    n_labels = counted(len(graph.vocabulary(label_type)), "label")
    return f"{n_labels}, {sets.n_values:,} on nodes{weighted}, {missing}"

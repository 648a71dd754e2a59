"""Encoded edges and labels in any form → Graph: where all inputs from memory meet."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypedDict, Unpack, get_args

from embedprop.errors import InvalidGraphError
from embedprop.graph.build import build_graph
from embedprop.graph.graph import Graph, UnknownNodes
from embedprop.graph.messages import check_choice
from embedprop.graph.objects.columns import as_collection, give_memory_back
from embedprop.graph.objects.edge_input import EdgeInput
from embedprop.graph.objects.label_input import read_labels
from embedprop.graph.vocabulary import Vocabulary


class Choices(TypedDict, total=False):
    """What happens to self-loops, and to labels of unknown nodes; see `Graph.from_edges`."""

    self_loops: str
    unknown_nodes: str


def graph_from_edges(
    edges: EdgeInput,
    labels: Mapping[str, Any] | None = None,
    *,
    directed: bool = False,
    nodes: Iterable[Hashable] | None = None,
    **choices: Unpack[Choices],
) -> Graph:
    """Make a graph of encoded edges: declared nodes first, then those of edges, then of labels."""
    unknown_nodes = choices.get("unknown_nodes", "error")
    check_choice("unknown_nodes", unknown_nodes, get_args(UnknownNodes))
    check_choice("directed", directed, (False, True))
    known, rows, n_declared = edges.nodes, edges.rows, None
    if nodes is not None:
        declared = declared_nodes(nodes)
        n_declared = len(declared)
        known, ids = declared.extended(edges.nodes)
        rows = replace(rows, sources=ids[rows.sources], targets=ids[rows.targets])
    known, read = read_labels(labels, known, n_declared, unknown_nodes)
    self_loops = choices.get("self_loops", "drop")
    graph = build_graph(known, rows, read, directed=directed, self_loops=self_loops)
    give_memory_back()
    return graph


def declared_nodes(nodes: Iterable[Hashable]) -> Vocabulary:
    """Return the names that the user gives as ``nodes=``."""
    if isinstance(nodes, Vocabulary):
        return nodes
    try:
        return Vocabulary(as_collection(nodes, "nodes", "the names of the nodes, in their order"))
    except InvalidGraphError as error:
        raise InvalidGraphError(f"nodes: {error}") from None

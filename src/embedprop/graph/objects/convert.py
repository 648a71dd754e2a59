"""Encoded edges and labels in any form → Graph: where all inputs from memory meet."""

import logging
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from embedprop.errors import InvalidGraphError
from embedprop.graph import Graph, Vocabulary
from embedprop.graph.arrays import Ids
from embedprop.graph.build import Labels, build_graph
from embedprop.graph.graph import UnknownNodes
from embedprop.graph.labels import split_kinds
from embedprop.graph.messages import check_choice, counted
from embedprop.graph.objects.columns import Encoded, as_collection, collected, give_memory_back
from embedprop.graph.objects.edge_input import EdgeInput
from embedprop.graph.objects.label_input import SetRows, ValueRows, read_rows

logger = logging.getLogger(__name__)


def graph_from_edges(
    edges: EdgeInput,
    labels: Mapping[str, Any] | None,
    nodes: Iterable[Hashable] | None,
    directed: bool,
    *,
    self_loops: str,
    unknown_nodes: str,
) -> Graph:
    """Make a graph of encoded edges: declared nodes first, then those of edges, then of labels."""
    check_choice("unknown_nodes", unknown_nodes, get_args(UnknownNodes))
    check_choice("directed", directed, (False, True))
    known, rows, n_declared = edges.nodes, edges.rows, None
    if nodes is not None:
        declared = declared_nodes(nodes)
        n_declared = len(declared)
        known, ids = declared.extended(edges.nodes)
        rows = replace(rows, sources=ids[rows.sources], targets=ids[rows.targets])
    known, read = _read_labels(labels, known, n_declared, unknown_nodes)
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


def _read_labels(
    labels: Mapping[str, Any] | None, nodes: Vocabulary, n_declared: int | None, unknown_nodes: str
) -> tuple[Vocabulary, dict[str, Labels]]:
    """Encode the labels that `Graph.from_edges` takes; return all nodes, and labels by node id.

    `n_declared` nodes have an order that the user knows, so that row i of a matrix can be meant
    for node i; None if no nodes were declared.
    """
    if not isinstance(labels, Mapping | None):
        raise InvalidGraphError(
            f"labels: expected a dict from label types to their labels, such as {{'word': words}}, "
            f"got {type(labels).__name__}."
        )
    declared = None if n_declared is None else nodes.names[:n_declared]
    tables: dict[str, tuple[SetRows | ValueRows, Ids, str]] = {}
    labels = labels or {}
    for key, (label_type, kind) in split_kinds(labels).items():
        what = f"Label type {label_type!r}"
        rows = read_rows(kind, collected(labels[key]), declared, what)
        nodes, ids = _resolved(rows.nodes, nodes, unknown_nodes, what)
        tables[label_type] = rows, ids, what
    # Only now: the labels of a later type may have added nodes.
    return nodes, {
        name: rows.placed(len(nodes), ids, what) for name, (rows, ids, what) in tables.items()
    }


def _resolved(
    named: Encoded, nodes: Vocabulary, unknown_nodes: str, what: str
) -> tuple[Vocabulary, Ids]:
    """Return the nodes, more if unknown ones are added, and the node id of each row or -1."""
    found = nodes.find_all(named.names)
    n_unknown = int(np.count_nonzero(found < 0))
    # The first row that names the node says more than the node alone.
    if n_unknown and unknown_nodes == "error":
        first = int(np.argmax(found < 0))
        name = named.names[first]
        rows = np.flatnonzero(named.ids == first)
        where = f", row {rows[0]} (counted from 0)" if len(rows) else ""
        others = f" (and {n_unknown - 1} more)" if n_unknown > 1 else ""
        raise InvalidGraphError(
            f"{what}{where}: node {name!r}{others} is not among the {counted(len(nodes), 'node')} "
            f"of the graph. Check its spelling and its type ('1' is not 1), declare it in nodes=, "
            f"or pass unknown_nodes='ignore' or 'add'.{nodes.suggestion(name)}"
        )
    if n_unknown and unknown_nodes == "add":
        nodes, found = nodes.extended(named.names)
        logger.info("%s: added %s without edges", what, counted(n_unknown, "node"))
    elif n_unknown:
        logger.info("%s: ignored the labels of %s", what, counted(n_unknown, "unknown node"))
    return nodes, found[named.ids]

"""All labels that a user gives with a graph → labels by node id, unknown nodes dealt with."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from embedprop.errors import InvalidGraphError
from embedprop.graph.build import Labels
from embedprop.graph.labels import split_kinds
from embedprop.graph.messages import counted
from embedprop.graph.objects.columns import Encoded, Ids
from embedprop.graph.objects.frames import collected
from embedprop.graph.objects.set_input import SetRows, read_set
from embedprop.graph.objects.value_input import ValueRows, read_values
from embedprop.graph.vocabulary import Vocabulary

logger = logging.getLogger(__name__)


def read_labels(
    labels: Mapping[str, Any] | None,
    nodes: Vocabulary,
    n_declared: int | None,
    unknown_nodes: str,
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
    tables: dict[str, tuple[SetRows | ValueRows, Ids]] = {}
    labels = labels or {}
    for key, (label_type, kind) in split_kinds(labels).items():
        what, source = f"Label type {label_type!r}", collected(labels[key])
        rows: SetRows | ValueRows = (
            read_set(source, declared, what)
            if kind == "set"
            else read_values(kind, source, declared, what)
        )
        nodes, ids = _resolved(rows.nodes, nodes, unknown_nodes, what)
        tables[label_type] = rows, ids
    # Only now: the labels of a later type may have added nodes.
    placed = {
        label_type: rows.placed(len(nodes), ids, f"Label type {label_type!r}")
        for label_type, (rows, ids) in tables.items()
    }
    return nodes, placed


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

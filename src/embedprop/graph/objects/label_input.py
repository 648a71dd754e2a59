"""All labels that a user gives with a graph → labels by node id, unknown nodes dealt with."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from embedprop.errors import InvalidGraphError
from embedprop.graph.labels import ImageLabels, NumericLabels, TextLabels, split_kinds
from embedprop.graph.multisets import Multisets
from embedprop.graph.objects.columns import Encoded, Ids, collected
from embedprop.graph.objects.set_input import SetRows, read_set
from embedprop.graph.objects.value_input import ValueRows, read_values
from embedprop.graph.vocabulary import Vocabulary

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class LabelTables:
    """All labels of a graph, whose nodes have become ids."""

    nodes: Vocabulary
    label_types: tuple[str, ...]
    sets: dict[str, tuple[Vocabulary, Multisets]]
    values: dict[str, NumericLabels | TextLabels | ImageLabels]

    @classmethod
    def of(
        cls,
        labels: Mapping[str, Any] | None,
        nodes: Vocabulary,
        n_declared: int | None,
        unknown_nodes: str,
    ) -> LabelTables:
        """Encode the labels that `Graph.from_edges` takes.

        `n_declared` nodes have an order that the user knows, so that row i of a matrix can be meant
        for node i; None if no nodes were declared.
        """
        declared = None if n_declared is None else nodes.names[:n_declared]
        types = split_kinds(_checked_mapping(labels))
        rows: dict[str, SetRows | ValueRows] = {}
        ids: dict[str, Ids] = {}
        for key, (label_type, kind) in types.items():
            what = f"Label type {label_type!r}"
            source = collected((labels or {})[key])
            rows[label_type] = (
                read_set(source, declared, what)
                if kind == "set"
                else read_values(kind, source, declared, what)
            )
            nodes, ids[label_type] = _resolved(rows[label_type].nodes, nodes, unknown_nodes, what)
        sets, values = {}, {}
        for label_type, table in rows.items():
            what = f"Label type {label_type!r}"
            if isinstance(table, SetRows):
                sets[label_type] = table.placed(len(nodes), ids[label_type], what)
            else:
                values[label_type] = table.placed(len(nodes), ids[label_type], what)
        return cls(nodes, tuple(rows), sets, values)


def _checked_mapping(labels: Any) -> Mapping[str, Any]:
    if labels is None:
        return {}
    if isinstance(labels, Mapping):
        return labels
    raise InvalidGraphError(
        f"labels: expected a dict from label types to their labels, such as {{'word': words}}, "
        f"got {type(labels).__name__}."
    )


def _resolved(
    named: Encoded, nodes: Vocabulary, unknown_nodes: str, what: str
) -> tuple[Vocabulary, Ids]:
    """Return the nodes, more if unknown ones are added, and the node id of each row or -1."""
    found = nodes.find_all(named.names)
    n_unknown = int(np.count_nonzero(found < 0))
    if n_unknown and unknown_nodes == "error":
        first = int(np.argmax(found < 0))
        rows = np.flatnonzero(named.ids == first)
        where = f", row {rows[0]} (counted from 0)" if len(rows) else ""
        others = f" (and {n_unknown - 1} more)" if n_unknown > 1 else ""
        raise InvalidGraphError(
            f"{what}{where}: node {named.names[first]!r}{others} is not among the {len(nodes)} "
            f"nodes of the graph. Check its spelling and its type ('1' is not 1), declare it in "
            f"nodes=, or pass unknown_nodes='ignore' or 'add'."
        )
    if n_unknown and unknown_nodes == "add":
        nodes, found = nodes.extended(named.names)
        logger.info("%s: added %d nodes that have no edges", what, n_unknown)
    elif n_unknown:
        logger.info("%s: ignored the labels of %d unknown nodes", what, n_unknown)
    return nodes, found[named.ids]

"""Label files → rows of labels by node id, one reader per kind of labels."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.build import Labels, label_multisets
from embedprop.graph.files.name_encoder import Ids, NameEncoder
from embedprop.graph.files.table_layout import Roles, TableOptions
from embedprop.graph.files.tables import Batch, read_table
from embedprop.graph.files.text_blocks import shortened
from embedprop.graph.labels import NumericLabels, TextLabels
from embedprop.graph.messages import counted

logger = logging.getLogger(__name__)

# What was read of a label type; it becomes labels when the number of all nodes is known.
Placing = Callable[[int], Labels]


@dataclass(frozen=True)
class KnownNodes:
    """The nodes that labels may belong to, and what happens to labels of others."""

    encoder: NameEncoder
    unknown_nodes: str  # "error", "ignore" or "add"

    def batches(
        self, path: Path, roles: Roles, options: TableOptions
    ) -> Iterator[tuple[Batch, Ids]]:
        """Yield the rows of known nodes of a label file, and the ids of these nodes."""
        n_before, n_ignored = len(self.encoder), 0
        for batch in read_table(path, roles, options):
            names = batch.names("node")
            if self.unknown_nodes == "add":
                yield batch, self.encoder.add(names)[0]
                continue
            ids = self.encoder.find(names)
            is_known = ids >= 0
            if is_known.all():
                yield batch, ids
                continue
            if self.unknown_nodes == "error":
                raise self._unknown(batch, int(np.argmin(is_known)))
            n_ignored += int(np.count_nonzero(~is_known))
            yield _chosen(batch, is_known), ids[is_known]
        if n_ignored:
            logger.info("%s: ignored %s of unknown nodes", path, counted(n_ignored, "label"))
        n_added = len(self.encoder) - n_before
        if n_added:
            logger.info("%s: added %s without edges", path, counted(n_added, "node"))

    def _unknown(self, batch: Batch, row: int) -> InvalidGraphError:
        known = self.encoder.vocabulary()
        advice = (
            "Correct it, declare it with nodes= (--nodes), or read with unknown_nodes='ignore' or "
            f"'add' (--unknown-nodes).{known.suggestion(batch.columns['node'][row])}"
        )
        problem = f"is not among the {counted(len(known), 'node')} of the graph"
        return _bad_node(batch, row, f"{problem}. {advice}")


def _bad_node(batch: Batch, row: int, problem: str) -> InvalidGraphError:
    name = shortened(batch.columns["node"][row])
    return InvalidGraphError(f"{batch.place(row)}: node {name!r} {problem}")


def _chosen(batch: Batch, choice: NDArray[np.bool_]) -> Batch:
    """Return some rows of a batch; each still knows its place in the file."""
    rows = np.flatnonzero(choice)
    columns = {role: column.gather(rows) for role, column in batch.columns.items()}
    return Batch(columns, batch.path, batch.unit, np.asarray(batch.positions)[rows])


def read_labels(
    path: Path, label_type: str, kind: str, nodes: KnownNodes, options: TableOptions
) -> Placing:
    """Read the label file of one label type."""
    if kind == "image":
        raise InvalidParameterError(
            f"Label type {label_type!r}: images are not read from files. Load them into arrays and "
            f"give {{node: array}} to Graph.from_edges."
        )
    read = {"set": _read_sets, "numeric": _read_numbers, "text": _read_texts}[kind]
    return read(path, nodes, options)


def _read_sets(path: Path, nodes: KnownNodes, options: TableOptions) -> Placing:
    """Read a file with the columns node, label[, weight]."""
    labels = NameEncoder()
    node_ids: list[Ids] = []
    label_ids: list[Ids] = []
    weights: list[NDArray[np.float32]] = []
    for batch, ids in nodes.batches(path, Roles(("node", "label"), ("weight",)), options):
        node_ids.append(ids)
        label_ids.extend(labels.add(batch.names("label")))
        if "weight" in batch.columns:
            weights.append(batch.weights())
    columns = np.concatenate(node_ids), np.concatenate(label_ids)
    all_weights = np.concatenate(weights) if weights else None
    names = labels.vocabulary()
    return lambda n_nodes: (names, label_multisets(n_nodes, *columns, all_weights))


def _read_numbers(path: Path, nodes: KnownNodes, options: TableOptions) -> Placing:
    """Read a file with the column node; all its other columns are values, empty if unknown."""
    node_ids: list[Ids] = []
    values: list[NDArray[np.float32]] = []
    names: tuple[str, ...] = ()
    batches = nodes.batches(path, Roles(("node",), takes_rest=True), options)
    for batch, ids in _once_per_node(batches):
        names = tuple(name for name in batch.columns if name != "node")
        node_ids.append(ids)
        values.append(np.stack([_finite(batch, name) for name in names], axis=1))
    rows = np.concatenate(node_ids), np.concatenate(values), names
    return lambda n_nodes: NumericLabels.from_rows(n_nodes, *rows)


def _read_texts(path: Path, nodes: KnownNodes, options: TableOptions) -> Placing:
    """Read a file with the columns node, text; an empty text is none."""
    node_ids: list[Ids] = []
    texts: list[str | None] = []
    for batch, ids in _once_per_node(nodes.batches(path, Roles(("node", "text")), options)):
        node_ids.append(ids)
        texts.extend(text or None for text in batch.columns["text"].to_list())
    rows = np.concatenate(node_ids), texts
    return lambda n_nodes: TextLabels.from_rows(n_nodes, *rows)


def _once_per_node(batches: Iterator[tuple[Batch, Ids]]) -> Iterator[tuple[Batch, Ids]]:
    """Refuse a second row of a node, where one value is all that a node can have."""
    has_row = np.zeros(0, dtype=np.bool_)
    for batch, ids in batches:
        n_more = max(ids.max(initial=-1) + 1 - len(has_row), 0)
        has_row = np.concatenate([has_row, np.zeros(n_more, dtype=np.bool_)])
        is_first = np.zeros(len(ids), dtype=np.bool_)
        # A batch can repeat a node itself: only the first of its rows is new.
        is_first[np.unique(ids, return_index=True)[1]] = True
        again = has_row[ids] | ~is_first
        if again.any():
            advice = "Expected at most one row per node: keep one, or combine them."
            raise _bad_node(batch, int(np.argmax(again)), f"has a row already. {advice}")
        has_row[ids] = True
        yield batch, ids


def _finite(batch: Batch, name: str) -> NDArray[np.float32]:
    """Return a column of values; NaN means "not known", infinite numbers are errors."""
    with np.errstate(over="ignore"):
        values = batch.numbers(name).astype(np.float32)
    if np.isinf(values).any():
        raise batch.bad_value(name, int(np.argmax(np.isinf(values))), "a finite number or nothing")
    return values

"""Label files → rows of labels by node id, one reader per kind of labels."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.build import label_multisets
from embedprop.graph.files.name_encoder import Ids, NameEncoder
from embedprop.graph.files.table_layout import Roles, TableOptions
from embedprop.graph.files.tables import Batch, read_table
from embedprop.graph.files.text_blocks import shortened
from embedprop.graph.labels import NumericLabels, TextLabels
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary

logger = logging.getLogger(__name__)


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
            logger.info("%s: ignored %d labels of unknown nodes", path, n_ignored)
        if len(self.encoder) > n_before:
            n_added = len(self.encoder) - n_before
            logger.info("%s: added %d nodes that have no edges", path, n_added)

    def _unknown(self, batch: Batch, row: int) -> InvalidGraphError:
        name = shortened(batch.columns["node"][row])
        return InvalidGraphError(
            f"{batch.place(row)}: node {name!r} is not among the {len(self.encoder)} nodes of the "
            f"graph. Correct it, declare it with nodes= (--nodes), or read with unknown_nodes="
            f"'ignore' or 'add' (--unknown-nodes)."
        )


def _chosen(batch: Batch, choice: NDArray[np.bool_]) -> Batch:
    """Return some rows of a batch; each still knows its place in the file."""
    rows = np.flatnonzero(choice)
    columns = {role: column.gather(rows) for role, column in batch.columns.items()}
    return Batch(columns, lambda row: batch.place(int(rows[row])))


@dataclass(frozen=True, eq=False)
class SetRows:
    """Rows (node, label[, weight]) of a label type that is a set."""

    labels: Vocabulary
    node_ids: Ids
    label_ids: Ids
    weights: NDArray[np.float32] | None

    @classmethod
    def read(cls, path: Path, nodes: KnownNodes, options: TableOptions) -> SetRows:
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
        return cls(
            labels.vocabulary(),
            np.concatenate(node_ids),
            np.concatenate(label_ids),
            np.concatenate(weights) if weights else None,
        )

    def placed(self, n_nodes: int) -> tuple[Vocabulary, Multisets]:
        """Return the names of the labels, and l_i(v) of every node."""
        return self.labels, label_multisets(n_nodes, self.node_ids, self.label_ids, self.weights)


@dataclass(frozen=True, eq=False)
class NumericRows:
    """Rows (node, value...) of a numeric label type."""

    names: tuple[str, ...]
    node_ids: Ids
    values: NDArray[np.float32]

    @classmethod
    def read(cls, path: Path, nodes: KnownNodes, options: TableOptions) -> NumericRows:
        """Read a file with the column node; all its other columns are values, empty if unknown."""
        node_ids: list[Ids] = []
        values: list[NDArray[np.float32]] = []
        names: tuple[str, ...] = ()
        once = _OncePerNode()
        for batch, ids in nodes.batches(path, Roles(("node",), takes_rest=True), options):
            once.check(batch, ids)
            names = tuple(name for name in batch.columns if name != "node")
            node_ids.append(ids)
            values.append(np.stack([_finite(batch, name) for name in names], axis=1))
        return cls(names, np.concatenate(node_ids), np.concatenate(values))

    def placed(self, n_nodes: int) -> NumericLabels:
        """Return the values of every node."""
        return NumericLabels.from_rows(n_nodes, self.node_ids, self.values, self.names)


@dataclass(frozen=True, eq=False)
class TextRows:
    """Rows (node, text) of a label type that is text."""

    node_ids: Ids
    texts: list[str | None]

    @classmethod
    def read(cls, path: Path, nodes: KnownNodes, options: TableOptions) -> TextRows:
        """Read a file with the columns node, text; an empty text is none."""
        node_ids: list[Ids] = []
        texts: list[str | None] = []
        once = _OncePerNode()
        for batch, ids in nodes.batches(path, Roles(("node", "text")), options):
            once.check(batch, ids)
            node_ids.append(ids)
            texts.extend(text or None for text in batch.columns["text"].to_list())
        return cls(np.concatenate(node_ids), texts)

    def placed(self, n_nodes: int) -> TextLabels:
        """Return the text of every node."""
        return TextLabels.from_rows(n_nodes, self.node_ids, self.texts)


LabelRows = SetRows | NumericRows | TextRows


def read_labels(
    path: Path, label_type: str, kind: str, nodes: KnownNodes, options: TableOptions
) -> LabelRows:
    """Read the label file of one label type."""
    if kind == "image":
        raise InvalidParameterError(
            f"Label type {label_type!r}: images are not read from files. Load them into arrays and "
            f"give {{node: array}} to Graph.from_edges."
        )
    readers: dict[str, type[LabelRows]] = {"set": SetRows, "numeric": NumericRows, "text": TextRows}
    return readers[kind].read(path, nodes, options)


class _OncePerNode:
    """Refuses a second row of a node, where one value is all that a node can have."""

    def __init__(self) -> None:
        self._has_row = np.zeros(0, dtype=np.bool_)

    def check(self, batch: Batch, ids: Ids) -> None:
        if not len(ids):
            return
        size = max(int(ids.max()) + 1, len(self._has_row))
        self._has_row = np.concatenate(
            [self._has_row, np.zeros(size - len(self._has_row), dtype=np.bool_)]
        )
        is_first = np.zeros(len(ids), dtype=np.bool_)
        is_first[np.unique(ids, return_index=True)[1]] = True
        again = self._has_row[ids] | ~is_first
        if again.any():
            row = int(np.argmax(again))
            name = shortened(batch.columns["node"][row])
            raise InvalidGraphError(
                f"{batch.place(row)}: node {name!r} has a row already. Expected at most one row "
                f"per node: keep one, or combine them."
            )
        self._has_row[ids] = True


def _finite(batch: Batch, name: str) -> NDArray[np.float32]:
    """Return a column of values; NaN means "not known", infinite numbers are errors."""
    with np.errstate(over="ignore"):
        values = batch.numbers(name).astype(np.float32)
    if np.isinf(values).any():
        raise batch.bad_value(name, int(np.argmax(np.isinf(values))), "a finite number or nothing")
    return values

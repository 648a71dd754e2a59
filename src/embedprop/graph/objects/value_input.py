"""Numbers, texts and images of nodes as users give them → values by node id."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph.graph import ValueLabels
from embedprop.graph.labels import ImageLabels, NumericLabels, TextLabels
from embedprop.graph.messages import counted
from embedprop.graph.objects import columns, frames
from embedprop.graph.objects.columns import Encoded, Ids
from embedprop.graph.vocabulary import is_missing


@dataclass(frozen=True, eq=False)
class ValueRows:
    """One value (numbers, a text, an image) for the node of each row."""

    kind: str
    nodes: Encoded
    values: Any
    names: tuple[str, ...] = ()

    def placed(self, n_nodes: int, node_ids: Ids, what: str) -> ValueLabels:
        """Return the values by node id, given the id of each row's node (-1: leave out)."""
        kept = node_ids >= 0
        values = self.values
        if not kept.all():
            node_ids = node_ids[kept]
            values = [v for v, k in zip(values, kept, strict=True) if k]
        try:
            if self.kind == "numeric":
                return NumericLabels.from_rows(n_nodes, node_ids, values, self.names)
            if self.kind == "text":
                return TextLabels.from_rows(n_nodes, node_ids, values)
            return ImageLabels.from_rows(n_nodes, node_ids, values)
        except InvalidGraphError as error:
            raise InvalidGraphError(f"{what}: {error}") from None

    def mismatch(self, what: str, row: int, expected: str) -> InvalidGraphError:
        """Return the error about a row whose value is unlike the first one."""
        node = self.nodes.names[self.nodes.ids[row]]
        return InvalidGraphError(f"{what}, node {node!r}: expected {expected}")


def read_values(
    kind: str, source: Any, declared: Sequence[Hashable] | None, what: str
) -> ValueRows:
    """Read labels of kind numeric, text or image; `declared` nodes are those with a known order."""
    if kind == "numeric":
        return _read_numeric(source, declared, what)
    rows = _value_rows(source, declared, what, kind, kind)
    return rows if kind == "text" else _as_images(rows, what)


def _value_rows(
    source: Any, declared: Sequence[Hashable] | None, what: str, kind: str, column_name: str
) -> ValueRows:
    if frames.is_frame(source):
        values = columns.as_list(frames.column(source, column_name, what))
        return ValueRows(kind, columns.encode_column(source, "node", what), values)
    if isinstance(source, Mapping):
        nodes = columns.encode(list(source), f"{what}, nodes")
        return ValueRows(kind, nodes, list(source.values()))
    if isinstance(source, str | bytes) or not hasattr(source, "__len__"):
        raise InvalidGraphError(
            f"{what}: expected {{node: {column_name}}}, a frame with the columns 'node' and "
            f"{column_name!r}, or one {column_name} for each declared node, got {source!r:.80}."
        )
    return ValueRows(kind, columns.declared_rows(len(source), declared, what), source)


def _read_numeric(source: Any, declared: Sequence[Hashable] | None, what: str) -> ValueRows:
    if frames.is_frame(source):
        nodes = columns.encode_column(source, "node", what)
        names = tuple(name for name in frames.column_names(source) if name != "node")
        if not names:
            raise InvalidGraphError(f"{what}: expected columns of numbers beside 'node', got none.")
        n_rows, numbers = len(nodes.ids), []
        for name in names:
            values = frames.column(source, name, what)
            numbers.append(columns.as_numbers(values, n_rows, f"{what}, column {name!r}"))
        return ValueRows("numeric", nodes, np.stack(numbers, axis=1), names)
    rows = _value_rows(source, declared, what, "numeric", "numbers")
    return ValueRows("numeric", rows.nodes, _as_matrix(rows, what))


def _as_matrix(rows: ValueRows, what: str) -> NDArray[np.float64]:
    values = rows.values
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.astype(np.float64)
    # The first value that is known says how many numbers each node has.
    width = next((np.size(value) for value in values if not is_missing(value)), 1)
    table = np.empty((len(values), width), dtype=np.float64)
    for row, value in enumerate(values):
        try:
            table[row] = np.nan if is_missing(value) else np.ravel(value)
        except (TypeError, ValueError):
            expected = f"{counted(width, 'number')} as for the first node"
            raise rows.mismatch(what, row, f"{expected}, got {value!r:.80}.") from None
    return table


def _as_images(rows: ValueRows, what: str) -> ValueRows:
    images = [np.asarray(image) for image in rows.values]
    for row, image in enumerate(images):
        if image.shape != images[0].shape:
            expected = f"an image of shape {images[0].shape} as for the first node"
            advice = "Bring all images to one size."
            raise rows.mismatch(what, row, f"{expected}, got {image.shape}. {advice}")
    return ValueRows("image", rows.nodes, np.stack(images) if images else np.empty((0, 0, 0)))

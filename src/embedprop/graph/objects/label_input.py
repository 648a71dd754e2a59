"""Labels of each kind as users give them (dicts, rows, frames, arrays) → labels by node id."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from embedprop.errors import InvalidGraphError
from embedprop.graph import Multisets, Vocabulary
from embedprop.graph.arrays import Ids
from embedprop.graph.build import check_weights, label_multisets
from embedprop.graph.graph import ValueLabels
from embedprop.graph.labels import ImageLabels, NumericLabels, TextLabels
from embedprop.graph.messages import bad_row, counted
from embedprop.graph.multisets import taken
from embedprop.graph.objects import columns
from embedprop.graph.objects.columns import Encoded, Floats
from embedprop.graph.vocabulary import is_missing

Triple = tuple[Hashable, Hashable, Any]  # a node, a label, its weight
Declared = Sequence[Hashable] | None  # the nodes whose order the user knows
EXPECTED_SET = (
    "{node: [labels]}, {node: {label: weight}}, rows (node, label[, weight]), a frame with the "
    "columns 'node' and 'label', or a SciPy sparse matrix"
)


@dataclass(frozen=True, eq=False)
class SetRows:
    """Rows (node, label, weight) of one label type."""

    nodes: Encoded
    labels: Encoded
    weights: Floats | None

    def placed(self, n_nodes: int, node_ids: Ids, what: str) -> tuple[Vocabulary, Multisets]:
        """Return the labels' names and l_i(v), given the id of each row's node (-1: leave out)."""
        (names, label_ids), weights = self.labels, self.weights

        def place(row: int) -> str:
            node = self.nodes.names[self.nodes.ids[row]]
            label = f"label {names[label_ids[row]]!r} of node {node!r}"
            return f"{what}, {label} in row {row} (counted from 0)"

        if weights is not None:
            check_weights(weights, place)
        kept = node_ids >= 0
        if kept.all():
            sets = label_multisets(n_nodes, node_ids, label_ids, weights)
            return Vocabulary.trusted(names), sets
        # Labels of unknown nodes alone must not stay in the vocabulary.
        order, ids = columns.first_appearance(label_ids[kept])
        sets = label_multisets(n_nodes, node_ids[kept], ids, taken(weights, kept))
        return Vocabulary.trusted(names[id_] for id_ in order.tolist()), sets


@dataclass(frozen=True, eq=False)
class ValueRows:
    """One value (numbers, a text, an image) for the node of each row."""

    kind: str
    nodes: Encoded
    values: Any
    names: tuple[str, ...] = ()

    def placed(self, n_nodes: int, node_ids: Ids, what: str) -> ValueLabels:
        """Return the values by node id, given the id of each row's node (-1: leave out)."""
        kept, values = node_ids >= 0, self.values
        if not kept.all():
            node_ids, values = node_ids[kept], list(compress(values, kept))
        try:
            if self.kind == "numeric":
                return NumericLabels.from_rows(n_nodes, node_ids, values, self.names)
            labels = TextLabels if self.kind == "text" else ImageLabels
            return labels.from_rows(n_nodes, node_ids, values)
        except InvalidGraphError as error:
            raise InvalidGraphError(f"{what}: {error}") from None

    def mismatch(self, what: str, row: int, expected: str) -> InvalidGraphError:
        """Return the error about a row whose value is unlike the first one."""
        node = self.nodes.names[self.nodes.ids[row]]
        return InvalidGraphError(f"{what}, node {node!r}: expected {expected}")


def read_rows(kind: str, source: Any, declared: Declared, what: str) -> SetRows | ValueRows:
    """Read the labels of one type in any form; `declared` nodes are those with a known order."""
    if kind == "set":
        return _read_set(source, declared, what)
    if kind == "numeric":
        return _read_numeric(source, declared, what)
    rows = _value_rows(source, declared, what, kind, kind)
    return rows if kind == "text" else _as_images(rows, what)


def _read_set(source: Any, declared: Declared, what: str) -> SetRows:
    if hasattr(source, "tocoo"):
        return _set_rows_of_matrix(source, declared, what)
    if columns.is_frame(source):
        labels, nodes = (columns.encode_column(source, name, what) for name in ("label", "node"))
        weights = None
        if "weight" in columns.column_names(source):
            column = columns.frame_column(source, "weight", what)
            weights = columns.as_numbers(column, len(nodes.ids), f"{what}, weights")
        return SetRows(nodes, labels, weights)
    if isinstance(source, np.ndarray):
        if source.ndim != 2 or source.shape[1] != 2:
            raise InvalidGraphError(
                f"{what}: expected {EXPECTED_SET}, got an array of shape {source.shape}. "
                f"A matrix of nodes x labels can be wrapped: scipy.sparse.csr_array(array)."
            )
        nodes = columns.encode(source[:, 0], f"{what}, nodes")
        return SetRows(nodes, columns.encode(source[:, 1], f"{what}, labels"), None)
    if isinstance(source, Mapping):
        return _set_rows_of_triples(_triples_of_mapping(source), what, list(source))
    return _set_rows_of_triples(_triples_of_rows(source, what), what)


def _set_rows_of_matrix(matrix: Any, declared: Declared, what: str) -> SetRows:
    rows = columns.declared_rows(matrix.shape[0], declared, what)
    # A copy, because adding up duplicates happens in place, and the matrix is the user's.
    table = matrix.tocoo(copy=True)
    table.sum_duplicates()
    is_plain = table.dtype == np.bool_
    return SetRows(
        Encoded(rows.names, table.row.astype(np.int32)),
        Encoded(range(matrix.shape[1]), table.col.astype(np.int32)),
        None if is_plain else columns.as_numbers(table.data, len(table.data), f"{what}, weights"),
    )


def _set_rows_of_triples(
    triples: Iterable[Triple], what: str, named: Sequence[Hashable] = ()
) -> SetRows:
    """Encode rows; the nodes in `named` count as named even if they have no row."""
    # Nodes without labels are named too: a spelling mistake among them must not go unseen.
    triples = list(triples)
    names, ids = columns.encode([*named, *(node for node, _, _ in triples)], f"{what}, nodes")
    labels = columns.encode([label for _, label, _ in triples], f"{what}, labels")
    weights = [weight for _, _, weight in triples]
    is_plain = all(weight == 1 for weight in weights)
    return SetRows(
        Encoded(names, ids[len(named) :]),
        labels,
        None if is_plain else columns.as_numbers(weights, len(weights), f"{what}, weights"),
    )


def _triples_of_mapping(source: Mapping[Hashable, Any]) -> Iterator[Triple]:
    for node, labels in source.items():
        if isinstance(labels, Mapping):
            yield from ((node, label, weight) for label, weight in labels.items())
        elif isinstance(labels, str | bytes) or not hasattr(labels, "__iter__"):
            yield node, labels, 1  # a single label needs no list around it
        else:
            yield from ((node, label, 1) for label in columns.in_stable_order(labels))


def _triples_of_rows(source: Any, what: str) -> Iterator[Triple]:
    for row, fields in enumerate(columns.as_collection(source, what, EXPECTED_SET)):
        is_row = hasattr(fields, "__len__") and not isinstance(fields, str | bytes | Mapping | set)
        if not is_row or len(fields) not in (2, 3):
            expected = "(node, label) or (node, label, weight)"
            raise bad_row(what, row, f"expected {expected}, got {fields!r:.80}.")
        yield fields[0], fields[1], fields[2] if len(fields) == 3 else 1


def _value_rows(
    source: Any, declared: Declared, what: str, kind: str, column_name: str
) -> ValueRows:
    if columns.is_frame(source):
        values = columns.as_list(columns.frame_column(source, column_name, what))
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


def _read_numeric(source: Any, declared: Declared, what: str) -> ValueRows:
    if columns.is_frame(source):
        nodes = columns.encode_column(source, "node", what)
        names = tuple(name for name in columns.column_names(source) if name != "node")
        if not names:
            raise InvalidGraphError(f"{what}: expected columns of numbers beside 'node', got none.")
        n_rows, numbers = len(nodes.ids), []
        for name in names:
            column = columns.frame_column(source, name, what)
            numbers.append(columns.as_numbers(column, n_rows, f"{what}, column {name!r}"))
        return ValueRows("numeric", nodes, np.stack(numbers, axis=1), names)
    rows = _value_rows(source, declared, what, "numeric", "numbers")
    values = rows.values
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return ValueRows("numeric", rows.nodes, values.astype(np.float64))
    # The first value that is known says how many numbers each node has.
    width = next((np.size(value) for value in values if not is_missing(value)), 1)
    table = np.empty((len(values), width), dtype=np.float64)
    for row, value in enumerate(values):
        try:
            table[row] = np.nan if is_missing(value) else np.ravel(value)
        except (TypeError, ValueError):
            expected = f"{counted(width, 'number')} as for the first node"
            raise rows.mismatch(what, row, f"{expected}, got {value!r:.80}.") from None
    return ValueRows("numeric", rows.nodes, table)


def _as_images(rows: ValueRows, what: str) -> ValueRows:
    images = [np.asarray(image) for image in rows.values]
    for row, image in enumerate(images):
        if image.shape != images[0].shape:
            expected = f"an image of shape {images[0].shape} as for the first node"
            advice = "Bring all images to one size."
            raise rows.mismatch(what, row, f"{expected}, got {image.shape}. {advice}")
    return ValueRows("image", rows.nodes, np.stack(images) if images else np.empty((0, 0, 0)))

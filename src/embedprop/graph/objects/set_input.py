"""Sets of labels as users give them (dicts, rows, frames, sparse matrices) → l_i(v)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph.build import check_weights, label_multisets
from embedprop.graph.messages import bad_row
from embedprop.graph.multisets import Multisets, taken
from embedprop.graph.objects import columns, frames
from embedprop.graph.objects.columns import Encoded, Floats, Ids, as_numbers, encode
from embedprop.graph.vocabulary import Vocabulary

Triple = tuple[Hashable, Hashable, Any]  # a node, a label, its weight
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
        if self.weights is not None:
            check_weights(self.weights, lambda row: self._place(row, what))
        names, label_ids, weights = self.labels.names, self.labels.ids, self.weights
        kept = node_ids >= 0
        if not kept.all():
            node_ids, label_ids = node_ids[kept], label_ids[kept]
            weights = taken(weights, kept)
            # Labels of unknown nodes alone must not stay in the vocabulary.
            order, label_ids = columns.first_appearance(label_ids)
            names = [names[id_] for id_ in order.tolist()]
        return Vocabulary.trusted(names), label_multisets(n_nodes, node_ids, label_ids, weights)

    def _place(self, row: int, what: str) -> str:
        node = self.nodes.names[self.nodes.ids[row]]
        label = self.labels.names[self.labels.ids[row]]
        return f"{what}, label {label!r} of node {node!r} in row {row} (counted from 0)"


def read_set(source: Any, declared: Sequence[Hashable] | None, what: str) -> SetRows:
    """Read labels of kind set; `declared` nodes are those with a known order."""
    if hasattr(source, "tocoo"):
        return _set_rows_of_matrix(source, declared, what)
    if frames.is_frame(source):
        labels, nodes = (columns.encode_column(source, name, what) for name in ("label", "node"))
        weights = None
        if "weight" in frames.column_names(source):
            column = frames.column(source, "weight", what)
            weights = as_numbers(column, len(nodes.ids), f"{what}, weights")
        return SetRows(nodes, labels, weights)
    if isinstance(source, np.ndarray):
        return _set_rows_of_array(source, what)
    if isinstance(source, Mapping):
        return _set_rows_of_triples(_triples_of_mapping(source), what, list(source))
    return _set_rows_of_triples(_triples_of_rows(source, what), what)


def _set_rows_of_array(pairs: NDArray[Any], what: str) -> SetRows:
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InvalidGraphError(
            f"{what}: expected {EXPECTED_SET}, got an array of shape {pairs.shape}. "
            f"A matrix of nodes x labels can be wrapped: scipy.sparse.csr_array(array)."
        )
    nodes, labels = encode(pairs[:, 0], f"{what}, nodes"), encode(pairs[:, 1], f"{what}, labels")
    return SetRows(nodes, labels, None)


def _set_rows_of_matrix(matrix: Any, declared: Sequence[Hashable] | None, what: str) -> SetRows:
    rows = columns.declared_rows(matrix.shape[0], declared, what)
    # A copy, because adding up duplicates happens in place, and the matrix is the user's.
    table = matrix.tocoo(copy=True)
    table.sum_duplicates()
    is_plain = table.dtype == np.bool_
    return SetRows(
        Encoded(rows.names, table.row.astype(np.int32)),
        Encoded(range(matrix.shape[1]), table.col.astype(np.int32)),
        None if is_plain else as_numbers(table.data, len(table.data), f"{what}, weights"),
    )


def _set_rows_of_triples(
    triples: Iterable[Triple], what: str, nodes: Iterable[Hashable] = ()
) -> SetRows:
    """Encode rows; the names in `nodes` count as named even if they have no row."""
    # Nodes without labels are named too: a spelling mistake among them must not go unseen.
    triples = list(triples)
    named = list(nodes)
    both = encode(named + [node for node, _, _ in triples], f"{what}, nodes")
    labels = encode([label for _, label, _ in triples], f"{what}, labels")
    weights = [weight for _, _, weight in triples]
    is_plain = all(weight == 1 for weight in weights)
    return SetRows(
        Encoded(both.names, both.ids[len(named) :]),
        labels,
        None if is_plain else as_numbers(weights, len(weights), f"{what}, weights"),
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

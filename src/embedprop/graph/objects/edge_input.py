"""Edges as users give them (pairs, arrays, frames) → ids of sources and targets."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.adjacency import EdgeRows
from embedprop.graph.messages import bad_row
from embedprop.graph.objects import columns
from embedprop.graph.vocabulary import HASHABLE, Vocabulary, is_missing, plain_name

EXPECTED = (
    "pairs (source, target), an array of shape (n, 2), or a frame with the columns "
    "'source' and 'target'"
)


@dataclass(frozen=True, eq=False)
class EdgeInput:
    """Edges whose names have become ids, and the names of their nodes."""

    nodes: Vocabulary
    rows: EdgeRows

    @classmethod
    def of(
        cls, edges: Any, *, weights: Any = None, relations: Iterable[Hashable] | None = None
    ) -> EdgeInput:
        """Encode edges in any of the forms that `Graph.from_edges` takes."""
        edges = columns.collected(edges)
        if columns.is_frame(edges):
            for name, given in (("weight", weights), ("relation", relations)):
                if given is not None and name in columns.column_names(edges):
                    raise InvalidParameterError(
                        f"{name}s= was given, but the frame of edges has a column {name!r} too. "
                        f"Drop the column or the parameter."
                    )
            return cls.from_frame(edges).carrying(weights, relations)
        is_networkx = hasattr(edges, "is_directed") and hasattr(edges, "edges")
        if is_networkx or hasattr(edges, "tocsr"):
            other = "NetworkX graph. Use Graph.from_networkx"
            other = other if is_networkx else "sparse matrix. Use Graph.from_scipy"
            raise InvalidParameterError(f"edges: expected {EXPECTED}, got a {other}.")
        if hasattr(edges, "__array__"):
            return cls.from_array(np.asarray(edges)).carrying(weights, relations)
        return cls.from_pairs(edges).carrying(weights, relations)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        relation: str | None = None,
    ) -> EdgeInput:
        """Encode a frame; columns named weight and relation are used without being asked for."""
        frame = columns.collected(frame)
        known = columns.column_names(frame)
        pair = [columns.frame_column(frame, name, "Edges") for name in (source, target)]
        nodes, sources, targets = columns.encode_pairs(pair[0], pair[1], "Edges")
        beside = [
            columns.frame_column(frame, name or usual, "Edges") if name or usual in known else None
            for name, usual in ((weight, "weight"), (relation, "relation"))
        ]
        return cls(nodes, EdgeRows(sources, targets)).carrying(*beside)

    @classmethod
    def from_array(cls, edges: NDArray[Any]) -> Self:
        """Encode an array of shape (n, 2) of integers, strings or objects."""
        if edges.ndim != 2 or edges.shape[1] != 2:
            hint = ""
            if edges.ndim == 2 and edges.shape[0] == 2:
                hint = " Transpose it: edges.T."
            elif edges.shape[1:] == (3,):
                hint = " Give the third column as weights= or relations=."
            raise InvalidGraphError(
                f"Edges: expected an array of shape (n, 2), a source and a target in each row, "
                f"got shape {edges.shape}.{hint}"
            )
        if edges.dtype.kind not in "biuUSO":
            raise InvalidGraphError(
                f"Edges: expected an array of integers or strings, but its type is {edges.dtype}. "
                f"Convert it, for instance with edges.astype(np.int64)."
            )
        # Row by row, source then target: the order of names is that of reading.
        names, ids = columns.encode(edges.ravel(), "Edges, the flattened array")
        return cls(Vocabulary.trusted(names), EdgeRows(ids[0::2], ids[1::2]))

    @classmethod
    def from_pairs(cls, edges: Any) -> Self:
        """Encode an iterable of pairs of any hashable names."""
        # One pass in plain Python: Arrow encodes neither tuples nor names of several types.
        pairs = columns.as_collection(edges, "edges", EXPECTED)
        id_of: dict[Hashable, int] = {}
        flat = array("i")
        for row, pair in enumerate(pairs):
            try:
                source, target = pair
                flat.append(id_of.setdefault(source, len(id_of)))
                flat.append(id_of.setdefault(target, len(id_of)))
            except (TypeError, ValueError):
                raise _bad_pair(pair, row) from None
            # "ab" can be unpacked into two, a set has no order: neither is meant as a pair.
            if type(pair) in (str, bytes, dict, set, frozenset):
                raise _bad_pair(pair, row)
        ids = np.array(flat, dtype=np.int32)
        # Distinct names are fewer than rows, so they are looked at once, here.
        for name, id_ in id_of.items():
            if is_missing(name):
                raise columns.missing_name("Edges", int(np.argmax(ids == id_)) // 2, name)
        return cls(Vocabulary.trusted(map(plain_name, id_of)), EdgeRows(ids[0::2], ids[1::2]))

    def carrying(self, weights: Any, relations: Any) -> Self:
        """Return these edges with weights and relations where they are given."""
        rows = self.rows
        if weights is not None:
            rows = replace(rows, weights=columns.as_numbers(weights, len(rows), "Edges, weights"))
        if relations is not None:
            names, ids = columns.encode(relations, "Edges, column of relations")
            if len(ids) != len(rows):
                raise InvalidGraphError(
                    f"Edges: expected {len(rows)} relations, one for each edge, got {len(ids)}."
                )
            rows = replace(rows, relations=Vocabulary.trusted(names), relation_ids=ids)
        return replace(self, rows=rows)


def _bad_pair(pair: Any, row: int) -> InvalidGraphError:
    n_fields = len(pair) if isinstance(pair, tuple | list) else 0
    if n_fields == 2:
        return bad_row("Edges", row, f"a node of {pair!r:.80} cannot be hashed. {HASHABLE}")
    hint = " Give the third values as weights= or relations=." if n_fields == 3 else ""
    return bad_row("Edges", row, f"expected a pair (source, target), got {pair!r:.80}.{hint}")

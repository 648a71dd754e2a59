"""What users have as edges (pairs, arrays, frames) → ids of sources and targets."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.adjacency import EdgeRows
from embedprop.graph.objects import frames
from embedprop.graph.objects.columns import as_collection, as_numbers, encode, encode_pairs
from embedprop.graph.vocabulary import Vocabulary, is_missing, plain_name

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
        edges = frames.collected(edges)
        if frames.is_frame(edges):
            known = frames.column_names(edges)
            _refuse_both(known, "weight", weights)
            _refuse_both(known, "relation", relations)
            return cls.from_frame(edges).carrying(weights, relations)
        if hasattr(edges, "tocsr"):
            raise InvalidParameterError(
                f"edges: expected {EXPECTED}, got a sparse matrix. Use Graph.from_scipy."
            )
        if hasattr(edges, "is_directed") and hasattr(edges, "edges"):
            raise InvalidParameterError(
                f"edges: expected {EXPECTED}, got a NetworkX graph. Use Graph.from_networkx."
            )
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
        frame = frames.collected(frame)
        known = frames.column_names(frame)
        weight = "weight" if weight is None and "weight" in known else weight
        relation = "relation" if relation is None and "relation" in known else relation
        pair = (frames.column(frame, name, "Edges") for name in (source, target))
        nodes, sources, targets = encode_pairs(*pair, "Edges")
        return cls(nodes, EdgeRows(sources, targets)).carrying(
            *(
                None if name is None else frames.column(frame, name, "Edges")
                for name in (weight, relation)
            )
        )

    @classmethod
    def from_array(cls, edges: NDArray[Any]) -> Self:
        """Encode an array of shape (n, 2) of integers, strings or objects."""
        if edges.ndim != 2 or edges.shape[1] != 2:
            hint = ""
            if edges.ndim == 2 and edges.shape[0] == 2:
                hint = " Transpose it: edges.T."
            elif edges.ndim == 2 and edges.shape[1] == 3:
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
        names, ids = encode(edges.ravel(), "Edges, the flattened array")
        return cls(Vocabulary.trusted(names), EdgeRows(ids[0::2], ids[1::2]))

    @classmethod
    def from_pairs(cls, edges: Any) -> Self:
        """Encode an iterable of pairs of any hashable names."""
        pairs = as_collection(edges, "edges", EXPECTED)
        id_of: dict[Hashable, int] = {}
        flat = array("i")
        for row, pair in enumerate(pairs):
            try:
                source, target = pair
                flat.append(id_of.setdefault(source, len(id_of)))
                flat.append(id_of.setdefault(target, len(id_of)))
            except (TypeError, ValueError):
                raise _bad_pair(pair, row) from None
            if type(pair) in (str, bytes, dict, set, frozenset):
                raise _bad_pair(pair, row)
        ids = np.array(flat, dtype=np.int32)
        for name, id_ in id_of.items():
            if is_missing(name):
                row = int(np.argmax(ids == id_)) // 2
                raise InvalidGraphError(
                    f"Edges, row {row} (counted from 0): the name of a node is missing ({name!r}). "
                    f"Fill it in, or leave the row out."
                )
        nodes = Vocabulary.trusted(map(plain_name, id_of))
        return cls(nodes, EdgeRows(ids[0::2], ids[1::2]))

    def carrying(self, weights: Any, relations: Any) -> Self:
        """Return these edges with weights and relations where they are given."""
        rows = self.rows
        if weights is not None:
            rows = replace(rows, weights=as_numbers(weights, len(rows), "Edges, weights"))
        if relations is not None:
            names, ids = encode(relations, "Edges, column of relations")
            if len(ids) != len(rows):
                raise InvalidGraphError(
                    f"Edges: expected {len(rows)} relations, one for each edge, got {len(ids)}."
                )
            rows = replace(rows, relations=Vocabulary.trusted(names), relation_ids=ids)
        return replace(self, rows=rows)


def _refuse_both(known: list[str], name: str, given: object) -> None:
    if given is not None and name in known:
        raise InvalidParameterError(
            f"{name}s= was given, but the frame of edges has a column {name!r} too. "
            f"Drop the column or the parameter."
        )


def _bad_pair(pair: Any, row: int) -> InvalidGraphError:
    where = f"Edges, row {row} (counted from 0)"
    if isinstance(pair, tuple | list) and len(pair) == 2:
        return InvalidGraphError(
            f"{where}: a node of {pair!r:.80} cannot be hashed. Expected strings, numbers or "
            f"tuples as names; a list can be turned into a tuple."
        )
    hint = ""
    if isinstance(pair, tuple | list) and len(pair) == 3:
        hint = " Give the third values as weights= or relations=."
    return InvalidGraphError(f"{where}: expected a pair (source, target), got {pair!r:.80}.{hint}")

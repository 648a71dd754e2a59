"""Columns of names, batch after batch → dense ids, in the order in which the names first come."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedprop.graph.vocabulary import Vocabulary

Ids = NDArray[np.int32]


class _NextIds(dict[str, int]):
    """A dict in which a name that is asked for the first time gets the next id."""

    def __missing__(self, name: str) -> int:
        self[name] = next_id = len(self)
        return next_id


class NameEncoder:
    """Gives each new name the next id.

    Only the distinct names of a batch become Python strings, so that time and memory depend on
    the names rather than on the rows.

    Examples
    --------
    >>> encoder = NameEncoder()
    >>> encoder.add(pl.Series(["a", "b"]), pl.Series(["c", "a"]))
    [array([0, 2], dtype=int32), array([1, 0], dtype=int32)]
    >>> encoder.find(pl.Series(["c", "x"]))
    array([ 1, -1], dtype=int32)
    """

    def __init__(self) -> None:
        self._id_of = _NextIds()

    def __len__(self) -> int:
        return len(self._id_of)

    def add(self, *columns: pl.Series) -> list[Ids]:
        """Return the ids of equally long columns; new names are numbered row by row."""
        names = columns[0] if len(columns) == 1 else _row_by_row(columns)
        distinct, codes = _distinct(names)
        ids = np.fromiter(
            map(self._id_of.__getitem__, distinct), dtype=np.int32, count=len(distinct)
        )
        by_row = ids[codes].reshape(-1, len(columns))
        return [np.ascontiguousarray(by_row[:, j]) for j in range(len(columns))]

    def find(self, column: pl.Series) -> Ids:
        """Return the ids of names, -1 for unknown ones."""
        distinct, codes = _distinct(column)
        find = self._id_of.get
        found = (find(name, -1) for name in distinct)
        return np.fromiter(found, dtype=np.int32, count=len(distinct))[codes]

    def vocabulary(self) -> Vocabulary:
        """Return all names in the order of their ids."""
        return Vocabulary.trusted(self._id_of)


def _row_by_row(columns: tuple[pl.Series, ...]) -> pl.Series:
    n_rows = len(columns[0])
    # Row by row: names get their ids in the order in which a person reads them.
    order = np.arange(len(columns) * n_rows).reshape(len(columns), n_rows).T.ravel()
    return pl.concat([column.alias("name") for column in columns]).gather(order)


def _distinct(names: pl.Series) -> tuple[list[str], NDArray[np.int32]]:
    """Return the distinct names in the order of appearance, and the index of each row there."""
    # Arrow keeps the order of first appearance, which polars' own encodings do not promise.
    encoded = names.to_arrow().dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()

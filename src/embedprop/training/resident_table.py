"""The table of a label type, and which of its rows are in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike, NDArray

from embedprop.kernels.adam import Table
from embedprop.training.partitions import Ranges
from embedprop.training.tables import CHUNK, Tables

Vectors = NDArray[np.floating]


class ResidentTable:
    """Vectors of labels, then of relations, and their Adam state.

    home: all rows, where `tables` keeps them; table: for kernels, with the rows that are in memory.
    The two are one unless the table is partitioned; then row i belongs to node i, and `turn_to`
    brings the rows of some nodes into memory in place of others.
    """

    def __init__(
        self,
        vectors: Vectors,
        relation_vectors: Vectors | None,
        dtype: DTypeLike,
        tables: Tables,
        partitioned: bool,
    ) -> None:
        self.n_labels, self._tables = len(vectors), tables
        self.n_relations = 0 if relation_vectors is None else len(relation_vectors)
        if relation_vectors is None:
            vectors = tables.own(vectors, dtype)
        else:
            vectors = _joined(vectors, relation_vectors, dtype, tables)
        # `moved` and `gradient_step` are small and stay in memory.
        steps = np.zeros((2, len(vectors)), np.int32)
        direction, root = (tables.zeros(vectors.shape, dtype) for _ in range(2))
        self.home = self.table = Table(vectors, direction, root, steps[0], steps[1])
        self._partitioned, self._ranges = partitioned, list[tuple[int, int]]()
        if partitioned:
            window = tables.window
            self.table = Table(window(vectors), window(direction), window(root), steps[0], steps[1])

    def turn_to(self, ranges: Ranges) -> None:
        """Bring the rows of ranges of nodes into memory, in place of those that are there."""
        if not self._partitioned:
            return
        if ranges and self.n_relations:
            ranges = [*ranges, (self.n_labels, self.n_labels + self.n_relations)]
        gone = [rows for rows in self._ranges if rows not in ranges]
        new = [rows for rows in ranges if rows not in self._ranges]
        pairs = list(zip(self.home[:3], self.table[:3], strict=True))
        for home, window in pairs:
            self._tables.write(home, window, gone)
        for home, window in pairs:
            self._tables.read(home, window, new)
        self._ranges = ranges

    def pieces(self) -> Iterator[NDArray[np.int32]]:
        """Bring all rows into memory, some at a time; yield which. In the end all are at home."""
        n_rows = len(self.home.vectors)
        if not self._partitioned:
            yield np.arange(n_rows, dtype=np.int32)
            return
        for low in range(0, self.n_labels, CHUNK):
            high = min(low + CHUNK, self.n_labels)
            self.turn_to([(low, high)])
            # Relations are there all the time.
            yield np.arange(low, high if high < self.n_labels else n_rows, dtype=np.int32)
        self.turn_to([])


def _joined(
    vectors: Vectors, relation_vectors: Vectors, dtype: DTypeLike, tables: Tables
) -> Vectors:
    n_labels = len(vectors)
    joined = tables.zeros((n_labels + len(relation_vectors), vectors.shape[1]), dtype)
    for low in range(0, n_labels, CHUNK):
        high = min(low + CHUNK, n_labels)
        joined[low:high] = vectors[low:high]
    joined[n_labels:] = relation_vectors
    return joined

"""The table of a label type, and which of its rows are in memory."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from embedprop.kernels.epb.adam import Table
from embedprop.methods.epb.neighborhoods import Ranges
from embedprop.methods.epb.tables.storage import CHUNK, Array, cut, join, part_sizes
from embedprop.methods.epb.task import Task


class ResidentTable:
    """Array of labels, then of relations, and their Adam state.

    table: for kernels, cut into parts. It holds all rows, unless it is partitioned: then row i
    belongs to node i, `turn_to` brings the rows of some nodes into memory in place of others, and
    all rows are at home where `tables` keeps them.
    """

    def __init__(self, task: Task, name: str, partitioned: bool, n_threads: int) -> None:
        vectors, relation_vectors = task.start.labels[name], task.start.relations.get(name)
        tables, dtype = task.tables, task.dtype
        self.n_labels, self.dim = len(vectors), int(vectors.shape[1])
        self.n_relations = 0 if relation_vectors is None else len(relation_vectors)
        self._tables, self._partitioned = tables, partitioned
        self._ranges = list[tuple[int, int]]()
        if relation_vectors is not None:
            joined = tables.zeros((self.n_labels + self.n_relations, self.dim), dtype)
            joined[: self.n_labels], joined[self.n_labels :] = vectors, relation_vectors
            vectors = joined
        n_rows = len(vectors)
        n_parts, width = part_sizes(self.dim, n_threads)
        shape = (n_parts, n_rows, width)
        # Steps stay in memory: 8 bytes per row and part, where vectors take 4 per column.
        steps = [np.zeros((n_parts, n_rows), np.int32) for _ in range(2)]
        if partitioned:
            home = tables.own(vectors, dtype)
            self._home = [home, *(tables.zeros(home.shape, dtype) for _ in range(2))]
            arrays = [tables.window(shape, dtype) for _ in range(3)]
        elif (n_parts, width) == (1, self.dim):
            arrays = [tables.own(vectors, dtype)[np.newaxis]]
        else:
            arrays = [tables.zeros(shape, dtype)]
            cut(vectors, arrays[0])
        while len(arrays) < 3:
            arrays.append(tables.zeros(shape, dtype))
        self.table = Table(*arrays, *steps)

    def turn_to(self, ranges: Ranges) -> None:
        """Bring the rows of ranges of nodes into memory, in place of those that are there."""
        if not self._partitioned:
            return
        if ranges and self.n_relations:
            ranges = [*ranges, (self.n_labels, self.n_labels + self.n_relations)]
        gone = [rows for rows in self._ranges if rows not in ranges]
        new = [rows for rows in ranges if rows not in self._ranges]
        pairs = list(zip(self._home, self.table[:3], strict=True))
        for home, window in pairs:
            self._tables.write(home, window, gone)
        for home, window in pairs:
            self._tables.read(home, window, new)
        self._ranges = ranges

    def pieces(self) -> Iterator[NDArray[np.int32]]:
        """Bring all rows into memory, some at a time; yield which. In the end all are at home."""
        n_rows = self.n_labels + self.n_relations
        if not self._partitioned:
            yield np.arange(n_rows, dtype=np.int32)
            return
        for low in range(0, self.n_labels, CHUNK):
            high = min(low + CHUNK, self.n_labels)
            self.turn_to([(low, high)])
            # Relations are there all the time.
            yield np.arange(low, high if high < self.n_labels else n_rows, dtype=np.int32)
        self.turn_to([])

    def vectors(self) -> Array:
        """Return all vectors as rows; learning is over, and the moments are lost."""
        if self._partitioned:
            return self._home[0]
        parts = self.table.vectors
        del self.table
        return self._as_rows(parts)

    def state(self) -> dict[str, Array]:
        """Return vectors and moments as rows, and the steps of each row; some are not copies."""
        self.turn_to([])  # what is in memory goes home first
        arrays = self._home if self._partitioned else map(self._as_rows, self.table[:3])
        # All parts of a row have come equally far.
        steps = [steps[0] for steps in self.table[3:]]
        return dict(zip(Table._fields, [*arrays, *steps], strict=True))

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from such a state, into however many parts the vectors are cut here."""
        self.turn_to([])
        for number, (name, array) in enumerate(self.table._asdict().items()):
            if array.ndim == 2:
                array[:] = state[name]  # the steps, in every part the same
            elif self._partitioned:
                self._home[number][:] = state[name]
            else:
                cut(state[name], array)

    def _as_rows(self, parts: Array) -> Array:
        """Return parts joined, or the only one as it is."""
        if parts.shape[0] == 1 and parts.shape[2] == self.dim:
            only: Array = parts[0]
            return only
        rows = self._tables.zeros((parts.shape[1], self.dim), parts.dtype)
        join(parts, rows)
        return rows

"""Where tables live while they are learned: in memory, or in files, a pair of partitions in memory.

Rows of a pair are read into memory when its round begins, and written back when it ends: each table
goes over the disk once per epoch, in order. Learning in the mapped files themselves was tried: the
system writes their pages again and again while they change, and makes the writer wait (10 million
nodes, 8 partitions: 2.1 times as long as the work takes).

Vectors are cut into parts of some columns each: threads share the work part by part.
"""

from __future__ import annotations

import errno
import math
import mmap
import os
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from embedprop.kernels.machine.arrays import BLOCK

if TYPE_CHECKING:  # the type alone: who stores tables needs no kernel
    from embedprop.methods.epb.neighborhoods import Ranges

Array = NDArray[Any]

# Rows that are moved, cut and checked at a time: 16 MB of 128 float32.
CHUNK = 2**15
# Pages count when they are used, not when the array is made; Python 3.11 lacks Linux's name for it.
_LAZILY = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
# Bytes that come together on all common processors: a row that begins with them takes no more.
_LINE = 64
# What one look-up of an address serves, if an array fills all of it: on Linux and most processors.
_HUGE_PAGE = 2**21
# Numbers between the lists of two threads.
BETWEEN = 256
# Columns of a part, at least: all parts repeat what is not a vector (steps, who sends to whom), so
# narrow ones cost more than they share. CPU time of 1, 2, 4 and 8 parts, measured on PPI with 128
# dimensions: 1, 1.1, 1.5 and 2.8, so that eight parts would be hardly faster than four.
NARROWEST = 32


def part_sizes(dim: int, n_threads: int) -> tuple[int, int]:
    """Return how many parts there are, at most one per thread, and their width.

    >>> part_sizes(128, 2), part_sizes(100, 3), part_sizes(10, 2), part_sizes(128, 64)
    ((2, 64), (3, 48), (1, 16), (4, 32))
    """
    n_blocks = -(-dim // BLOCK)
    most = max(1, n_blocks * BLOCK // NARROWEST)
    blocks_per_part = -(-n_blocks // min(n_threads, most))
    return -(-n_blocks // blocks_per_part), blocks_per_part * BLOCK


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """Return zeros in memory, from the beginning of a cache line on, large ones of a huge page.

    Rows are read in random order, and the processor looks up the page of each: a number from far
    memory took 160 ns in a small page, 124 ns in a huge one. NumPy asks for huge pages, but the
    system gives them only for what begins and ends with one: else a third of BlogCatalog's tables
    would be in small ones.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    unit = _HUGE_PAGE if size >= _HUGE_PAGE else _LINE
    memory = np.zeros(-(-size // unit) * unit + unit, np.uint8)
    start = -memory.ctypes.data % unit
    return memory[start : start + size].view(dtype).reshape(shape)


def apart(n_parts: int, size: int, dtype: DTypeLike) -> Array:
    """Return zeros of at least this size for each part; none stays none.

    Some more lie in between: processors fetch what follows in memory, too, and threads would take
    it from each other.
    """
    return aligned_zeros((n_parts, size + BETWEEN if size else 0), dtype)


def cut(rows: Array, parts: Array) -> None:
    """Write rows into parts of the same number of rows; columns that are left over stay 0."""
    for columns, own in _pairs(rows, parts):
        own[:] = columns


def join(parts: Array, rows: Array) -> None:
    """Write parts into rows: the opposite of `cut`."""
    for columns, own in _pairs(rows, parts):
        columns[:] = own


def _pairs(rows: Array, parts: Array) -> Iterator[tuple[Array, Array]]:
    """Yield columns of some rows and where each part has them."""
    width = parts.shape[2]
    # Some rows at a time: a table on disk is then read once, not once per part.
    for first in range(0, len(rows), CHUNK):
        some = slice(first, first + CHUNK)
        for part, low in zip(parts, range(0, rows.shape[1], width), strict=True):
            columns = rows[some, low : low + width]
            yield columns, part[some, : columns.shape[1]]


class MemoryTables:
    """Makes tables in memory, and windows for rows of them, which are copies."""

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return a new table of zeros."""
        return aligned_zeros(shape, dtype)

    def own(self, vectors: Array, dtype: DTypeLike) -> Array:
        """Return a copy of the vectors."""
        table = aligned_zeros(vectors.shape, dtype)
        table[:] = vectors
        return table

    def window(self, shape: tuple[int, int, int], dtype: DTypeLike) -> Array:
        """Return parts for the rows of a table."""
        return aligned_zeros(shape, dtype)

    def read(self, table: Array, window: Array, ranges: Ranges) -> None:
        """Copy rows of a table into its window."""
        for low, high in ranges:
            cut(table[low:high], window[:, low:high])

    def write(self, table: Array, window: Array, ranges: Ranges) -> None:
        """Copy rows of a window back to its table."""
        for low, high in ranges:
            join(window[:, low:high], table[low:high])


MEMORY = MemoryTables()


class DiskTables:
    """Tables in mapped files without a name: they are gone with the last array, or process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return a new table of zeros, whose place on the disk is reserved."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size == 0:
            return np.zeros(shape, dtype)
        file = tempfile.TemporaryFile(prefix="embedprop-", dir=self._folder, buffering=0)  # noqa: SIM115
        try:
            _reserve(file, size)
            mapped = _MappedFile(file.fileno(), size)
        except OSError as error:
            file.close()
            raise OSError(
                error.errno or errno.EIO,
                f"{self._folder}: there is no space for a table of {size / 1e9:.1f} GB "
                f"({error.strerror or error}). Free some space, or choose another folder",
            ) from error
        mapped.file = file
        weakref.finalize(mapped, file.close)
        return np.frombuffer(mapped, dtype).reshape(shape)

    def own(self, vectors: Array, dtype: DTypeLike) -> Array:
        """Return the vectors as they are if they are such a table, else a copy in a file."""
        if vectors.dtype == dtype and vectors.flags.c_contiguous and is_mapped(vectors):
            return vectors
        table = self.zeros(vectors.shape, dtype)
        table[:] = vectors
        return table

    def window(self, shape: tuple[int, int, int], dtype: DTypeLike) -> Array:
        """Return parts that take memory only for rows that are read."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if sys.platform == "win32":
            memory = mmap.mmap(-1, size)
        else:
            memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _LAZILY)
        _advise(memory, "MADV_HUGEPAGE", 0, size)  # rows are read in random order
        return np.frombuffer(memory, dtype).reshape(shape)

    def read(self, table: Array, window: Array, ranges: Ranges) -> None:
        """Bring rows of a table into its window."""
        file = _mapping_of(table).file
        for rows, own in _pieces(table, window, ranges, file):
            _transfer(file.readinto, rows)
            cut(rows, own)

    def write(self, table: Array, window: Array, ranges: Ranges) -> None:
        """Take rows of a window back to its table, and give their memory away."""
        file = _mapping_of(table).file
        for rows, own in _pieces(table, window, ranges, file):
            join(own, rows)
            _transfer(file.write, rows)
        for number, (low, high) in product(range(len(window)), ranges):
            _forget(window, number, low, high)


Tables = MemoryTables | DiskTables


def _pieces(
    table: Array, window: Array, ranges: Ranges, file: IO[bytes]
) -> Iterator[tuple[Array, Array]]:
    """Yield room for CHUNK rows at most, and the window's parts of them; the file stands there."""
    for low, high in ranges:
        for start in range(low, high, CHUNK):
            end = min(start + CHUNK, high)
            file.seek(start * table.strides[0])
            yield np.empty((end - start, table.shape[1]), table.dtype), window[:, start:end]


def _transfer(move: Callable[[memoryview], int], rows: Array) -> None:
    """Read or write all bytes of some rows: a system call may move fewer than it is asked for."""
    left = memoryview(rows.data).cast("B")
    while len(left):
        n_moved = move(left)
        if not n_moved:
            raise OSError(errno.EIO, "a table on disk has ended before its last row")
        left = left[n_moved:]


def _forget(window: Array, number: int, low: int, high: int) -> None:
    """Give the memory of rows low..high of one part away.

    Whole pages only: the rest of the first and the last belongs to other rows.
    """
    begin, width = number * window.strides[0], window.strides[1]
    start = -(-(begin + low * width) // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (begin + high * width) // mmap.PAGESIZE * mmap.PAGESIZE
    if start < end:
        _advise(_mapping_of(window), "MADV_DONTNEED", start, end - start)


def _advise(memory: mmap.mmap, name: str, start: int, length: int) -> None:
    """Give the system an advice on memory, where it takes it: without, all is slower but right."""
    advice = getattr(mmap, name, None)
    if advice is not None:
        with suppress(OSError):  # a kernel without huge pages
            memory.madvise(advice, start, length)


def _reserve(file: IO[bytes], size: int) -> None:
    """Make a file of zeros, with its blocks where the system can.

    A disk that fills up later would end the process without a word.
    """
    file.truncate(size)
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                raise


class _MappedFile(mmap.mmap):
    """A mapped file, and the file itself: written to, it need not be read before."""

    file: IO[bytes]


def is_mapped(array: Array) -> bool:
    """Return whether an array is a table of `DiskTables`."""
    return isinstance(_mapping_of(array), _MappedFile)


def _mapping_of(array: Array) -> Any:
    """Return the mapping whose memory an array is; None if there is none."""
    base: Any = array
    while base is not None and not isinstance(base, mmap.mmap):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return base


def chunks(table: Array) -> Iterator[Array]:
    """Yield the rows of a table some at a time."""
    for low in range(0, len(table), CHUNK):
        yield table[low : low + CHUNK]


def all_finite(table: Array) -> bool:
    """Return whether no number is NaN or infinite, without a table of answers."""
    return all(bool(np.isfinite(some).all()) for some in chunks(table))

"""Vectors cut into parts of some columns each: threads share the work part by part."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from embedprop.kernels.machine.arrays import BLOCK

Array = NDArray[Any]

# Rows that are cut or joined at a time.
_CHUNK = 2**15
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
    for first in range(0, len(rows), _CHUNK):
        some = slice(first, first + _CHUNK)
        for part, low in zip(parts, range(0, rows.shape[1], width), strict=True):
            columns = rows[some, low : low + width]
            yield columns, part[some, : columns.shape[1]]

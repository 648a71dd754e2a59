"""Names and rows of numbers, as all formats write them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError

Vectors = NDArray[np.float32]
Names = Sequence[Hashable]
# Rows that are in memory as text or columns at a time; the vectors themselves may be on disk.
N_ROWS = 2**14


def plain_names(names: Names) -> list[int] | list[str]:
    """Return all names as they are if they are all integers, else as texts that stay different.

    >>> plain_names([3, 1]), plain_names(["a", 1])
    ([3, 1], ['a', '1'])
    """
    integers = [name for name in names if type(name) is int and -(2**63) <= name < 2**63]
    if len(integers) == len(names):
        return integers
    texts = [name if isinstance(name, str) else str(name) for name in names]
    if not all(isinstance(name, str) for name in names) and len(set(texts)) < len(texts):
        raise InvalidParameterError(
            "Two names are the same as text (such as 1 and '1'), so a file cannot tell them "
            "apart. Rename them."
        )
    return texts


def texts_of_rows(vectors: Vectors, separator: str) -> Iterator[str]:
    """Yield the numbers of each row as text."""
    # Nine digits give back the same float32.
    pattern = separator.join(["%.9g"] * vectors.shape[1])
    for low in range(0, len(vectors), N_ROWS):
        for row in vectors[low : low + N_ROWS].tolist():
            yield pattern % tuple(row)

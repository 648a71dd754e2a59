"""Which rows of a table of vectors are nearest to one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from embedprop.graph.arrays import Vectors


def lengths(vectors: Vectors) -> NDArray[np.float32]:
    """Return the Euclidean length of each row."""
    squares: NDArray[np.float32] = np.einsum("ij,ij->i", vectors, vectors)
    return np.sqrt(squares)


def most_similar(
    vectors: Vectors, norms: NDArray[np.float32], query: int, k: int
) -> list[tuple[int, float]]:
    """Return the k rows nearest to row `query` by cosine, itself left out: (row, score)."""
    scale = norms * norms[query]
    scores = vectors @ vectors[query]
    scores = np.divide(scores, scale, out=np.zeros_like(scores), where=scale > 0)
    scores[query] = -np.inf
    return best_rows(scores, k)


def best_rows(scores: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    """Return the k rows of the highest finite scores, best first; equal ones by row.

    >>> best_rows(np.array([0.5, -np.inf, 0.9], np.float32), 5)
    [(2, 0.8999...), (0, 0.5)]
    """
    possible = np.flatnonzero(scores > -np.inf)
    if k < len(possible):
        possible = possible[np.argpartition(-scores[possible], k - 1)[:k]]
    best = possible[np.lexsort((possible, -scores[possible]))]
    return [(int(row), float(scores[row])) for row in best]

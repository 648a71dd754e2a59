"""r of the closed form: a personalized-PageRank average of h over the graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Vectors = NDArray[np.float32]

N_STEPS = 10


def unit_rows(vectors: Vectors) -> Vectors:
    """Return the vectors with length 1; zeros stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)).round(3).tolist()
    [[0.6..., 0.8...], [0.0, 0.0]]
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def shares(degrees: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (degree + 1)^-1/2: S has the product of the two ends' shares; 1 is the node itself."""
    return np.asarray((degrees + 1) ** -0.5, np.float32)


def pagerank_average(adjacency: csr_array[np.float32], h: Vectors, restart: float) -> Vectors:
    """Return r = restart h + (1 - restart) S r after 10 steps, rows of length 1.

    S averages over the neighbors and the node itself, symmetrically normalized.
    """
    share = shares(np.asarray(adjacency.sum(axis=1), np.float32).ravel())[:, None]
    r = h
    for _ in range(N_STEPS):
        spoken = share * r
        r = adjacency @ spoken
        r += spoken
        r *= np.float32(1 - restart) * share
        r += np.float32(restart) * h
    return unit_rows(r)

"""Uniform random walks in Numba: the same for gensim, which has none, and for PyG's operator."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit
def uniform_walks(
    ptr: NDArray[np.int64],
    ids: NDArray[np.int64],
    starts: NDArray[np.int64],
    n_steps: int,
    seed: int,
) -> NDArray[np.int64]:
    """Return (starts, n_steps + 1) nodes; a walk that cannot go on stays where it is."""
    np.random.seed(seed)  # noqa: NPY002 - Numba's own generator
    walks = np.empty((len(starts), n_steps + 1), np.int64)
    for row in range(len(starts)):
        node = starts[row]
        walks[row, 0] = node
        for step in range(1, n_steps + 1):
            degree = ptr[node + 1] - ptr[node]
            if degree > 0:
                node = ids[ptr[node] + np.random.randint(0, degree)]  # noqa: NPY002
            walks[row, step] = node
    return walks

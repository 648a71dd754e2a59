"""r of the closed form: a personalized-PageRank average of h over the graph."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from embedprop.graph.arrays import Vectors
from embedprop.model.readout.eigen import N_STEPS, shares, unit_rows


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

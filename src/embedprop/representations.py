"""From label vectors to node vectors: the means h_i(v) and h~_i(v), and r, the concatenation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from embedprop.graph.multisets import Multisets
from embedprop.kernels.segments import weighted_means

Vectors = NDArray[np.float32]
_ONES = np.empty(0, np.float32)


def embeddings(sets: Multisets, label_vectors: Vectors) -> tuple[Vectors, NDArray[np.float32]]:
    """Return h_i(v), the weighted mean over the labels of each node, and its total label weight.

    A node without labels has zeros and the weight 0.
    """
    h = np.zeros((sets.n_sets, label_vectors.shape[1]), np.float32)
    return h, write_means(sets, label_vectors, _ONES, h)


def write_means(
    sets: Multisets,
    vectors: Vectors,
    masses: NDArray[np.float32],
    out: Vectors,
    columns: tuple[int, int] | None = None,
    first_column: int = 0,
) -> NDArray[np.float32]:
    """Write the mean of each set over `columns` of `vectors` into `out`; return the total weights.

    A member counts its weight times its mass (no masses: 1 each). With the label weights of the
    neighbors as masses this is h~: a mean over all their labels, not over their means.
    """
    low, high = columns or (0, vectors.shape[1])
    weights = _ONES if sets.weights is None else sets.weights
    totals: NDArray[np.float32] = weighted_means(
        vectors, low, high, masses, sets.ptr, sets.ids, weights, out, first_column
    )
    return totals


def concatenate(parts: Sequence[Vectors]) -> Vectors:
    """Return r of EP-B: the h_i(v) of all label types side by side; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

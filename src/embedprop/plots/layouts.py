"""Places in the plane for vectors of many dimensions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.float64]  # (points, 2)


def tsne(vectors: NDArray[np.float32]) -> Positions:
    """Return a place in the plane for each vector, by t-SNE."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, (len(vectors) - 1) / 4)
    # Half of the usual iterations, because the clusters are there by then; one thread, because
    # several mostly wait for each other here.
    layout = TSNE(perplexity=perplexity, init="pca", max_iter=500, random_state=0)
    with threadpool_limits(1):
        return np.asarray(layout.fit_transform(vectors), np.float64)


def stretched(positions: Positions, width: float) -> Positions:
    """Return the positions in a box that is `width` wide and 1 high.

    Distances on a map by t-SNE have no unit, so a map may have the shape of its picture.

    >>> stretched(np.array([[-5.0, 0.0], [5.0, 2.0], [0.0, 4.0]]), width=2).tolist()
    [[0.0, 0.0], [2.0, 0.5], [1.0, 1.0]]
    """
    low, high = positions.min(axis=0), positions.max(axis=0)
    return np.asarray((positions - low) / (high - low) * (width, 1.0), np.float64)

"""Spectral and SVD of scikit-network."""

from __future__ import annotations

from typing import Any

import numpy as np
from job import EdgeList, Settings, run
from numpy.typing import NDArray
from sknetwork import embedding


def load(edges: EdgeList) -> Any:
    return edges.adjacency()


def embed(adjacency: Any, settings: Settings) -> NDArray[Any]:
    method = getattr(embedding, settings["algorithm"])
    return np.asarray(method(settings["dim"]).fit_transform(adjacency))


if __name__ == "__main__":
    run(load, embed, ("scikit-network",), {})

"""LINE, by this library's own implementation in Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from job import EdgeList, Settings, run
from numpy.typing import NDArray

from embedprop import Graph
from embedprop.baselines import LINE


def load(edges: EdgeList) -> Graph:
    return Graph.from_edges(edges.pairs, nodes=range(edges.n_nodes))


def embed(graph: Graph, settings: Settings) -> NDArray[Any]:
    method = LINE(
        dim=settings["dim"],
        n_samples=settings["n_samples"],
        n_negatives=settings["n_negatives"],
        learning_rate=settings["learning_rate"],
        random_state=settings["seed"],
        n_threads=1,
    )
    return np.asarray(method.fit_transform(graph))


if __name__ == "__main__":
    run(load, embed, ("embedprop",), {"n_samples": 1000})

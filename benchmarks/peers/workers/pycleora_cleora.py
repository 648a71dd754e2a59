"""Cleora: propagation of random vectors, normalized and whitened after every step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pycleora
from job import EdgeList, Settings, run
from numpy.typing import NDArray


def load(edges: EdgeList) -> Any:
    lines = (f"{source} {target}" for source, target in edges.pairs.tolist())
    return pycleora.SparseMatrix.from_iterator(lines, "complex::reflexive::node", num_workers=1), (
        edges.n_nodes
    )


def embed(graph: Any, settings: Settings) -> NDArray[Any]:
    matrix, n_nodes = graph
    found = pycleora.embed(
        matrix,
        feature_dim=settings["dim"],
        num_iterations=settings["n_iterations"],
        seed=settings["seed"],
        num_workers=1,
    )
    # Nodes come in an order of its own; one without edges is not there and has zeros.
    vectors = np.zeros((n_nodes, settings["dim"]), np.float32)
    vectors[np.array(matrix.entity_ids, dtype=np.int64)] = found
    return vectors


if __name__ == "__main__":
    run(load, embed, ("pycleora",), {})

"""PecanPy: node2vec; with p = q = 1 its own walker of first order, faster than its other modes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from job import EdgeList, Settings, run
from numpy.typing import NDArray
from pecanpy import pecanpy


def load(edges: EdgeList) -> Any:
    adjacency = edges.adjacency()
    graph = pecanpy.FirstOrderUnweighted(p=1, q=1, workers=1, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "graph.npz")
        arrays = {name: getattr(adjacency, name) for name in ("data", "indptr", "indices")}
        np.savez(path, IDs=np.arange(edges.n_nodes).astype(str), **arrays)
        graph.read_npz(path, weighted=False)
    return graph


def embed(graph: Any, settings: Settings) -> NDArray[Any]:
    graph.random_state = settings["seed"]
    return np.asarray(
        graph.embed(
            dim=settings["dim"],
            num_walks=settings["n_walks"],
            walk_length=settings["walk_length"],
            window_size=settings["window"],
            epochs=settings["epochs"],
        )
    )


if __name__ == "__main__":
    run(load, embed, ("pecanpy", "gensim"), {"n_walks": 1})

"""Embedding propagation: EP-B by training, or the closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from job import EdgeList, Settings, run
from numpy.typing import NDArray

from embedprop import EmbeddingPropagation, Graph

INSTANCES = {"epb": "epb", "closed-form": "eps"}


def load(edges: EdgeList) -> Graph:
    return Graph.from_edges(edges.pairs, nodes=range(edges.n_nodes))


def embed(graph: Graph, settings: Settings) -> NDArray[Any]:
    given = dict(settings)
    instance, seed = INSTANCES[given.pop("method", "epb")], given.pop("seed")
    model = EmbeddingPropagation(
        instance=instance, **given, random_state=seed, n_threads=1, verbose=False
    )
    return np.asarray(model.fit(graph).node_embeddings_)


if __name__ == "__main__":
    run(load, embed, ("embedprop",), {})

"""Embedding propagation: EP-B by training, or the closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from job import EdgeList, Settings, run
from numpy.typing import NDArray

from embedprop import ClosedForm, EmbeddingPropagation, Graph


def load(edges: EdgeList) -> Graph:
    return Graph.from_edges(edges.pairs, nodes=range(edges.n_nodes))


def embed(graph: Graph, settings: Settings) -> NDArray[Any]:
    given = dict(settings)
    method, seed = given.pop("method", "epb"), given.pop("seed")
    model: ClosedForm | EmbeddingPropagation
    if method == "closed-form":
        model = ClosedForm(**given, random_state=seed, verbose=False)
    else:
        make = EmbeddingPropagation.fast if given.pop("fast", False) else EmbeddingPropagation
        model = make(**given, random_state=seed, n_threads=1, verbose=False)
    return np.asarray(model.fit(graph).node_embeddings_)


if __name__ == "__main__":
    run(load, embed, ("embedprop",), {})

"""DeepWalk: uniform walks by Numba, skip-gram by gensim. Walks and sentences are on the clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from gensim.models import Word2Vec
from job import EdgeList, Settings, run
from numpy.typing import NDArray
from walker import uniform_walks


def load(edges: EdgeList) -> Any:
    return edges.adjacency()


def embed(adjacency: Any, settings: Settings) -> NDArray[Any]:
    rng = np.random.default_rng(settings["seed"])
    n_nodes = adjacency.shape[0]
    starts = np.concatenate([rng.permutation(n_nodes) for _ in range(settings["n_walks"])])
    ptr, ids = adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64)
    walks = uniform_walks(ptr, ids, starts, settings["walk_length"] - 1, settings["seed"])
    names = np.array([str(node) for node in range(n_nodes)], dtype=object)
    # A node without neighbors is a sentence of one word.
    lengths = np.where(np.diff(ptr)[starts] > 0, settings["walk_length"], 1)
    sentences = [names[row[:n]].tolist() for row, n in zip(walks, lengths, strict=True)]
    model = Word2Vec(
        sentences,
        vector_size=settings["dim"],
        window=settings["window"],
        epochs=settings["epochs"],
        negative=settings["n_negatives"],
        alpha=settings["learning_rate"],
        sg=1,
        min_count=0,
        workers=1,
        seed=settings["seed"] + 1,
    )
    return np.asarray(model.wv[names.tolist()])


if __name__ == "__main__":
    run(load, embed, ("gensim",), {"n_walks": 1})

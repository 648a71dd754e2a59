"""DW+BoW: DeepWalk's vectors beside the bag of words."""

from __future__ import annotations

from typing import Any

import numpy as np

from embedprop.baselines.deepwalk import DeepWalk
from embedprop.baselines.extras import require
from embedprop.baselines.registry import Embedder, Vectors, baseline
from embedprop.baselines.words import WordReader
from embedprop.graph.graph import Graph


@baseline("dw-bow")
class DeepWalkBagOfWords(WordReader, Embedder):
    """The concatenation of a node's `DeepWalk` vector and its `BagOfWords`, as in the paper.

    Parameters
    ----------
    deepwalk
        Parameters of `DeepWalk` that differ from its defaults.
    label_types, words
        As in `BagOfWords`.
    random_state, n_threads
        As in `DeepWalk`.
    """

    deepwalk: dict[str, Any] | None = None

    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, dim + n_words)."""
        return self.fit_transform_inductive(graph, graph)

    def fit_transform_inductive(self, known: Graph, full: Graph) -> Vectors:
        """DW-I+BoW: a new node has the mean of its neighbors' walk vectors, and its own words."""
        require(self.name, "gensim")
        words = self.word_matrix(full)  # a mistake shows before walking
        settings = self.deepwalk or {}
        walking = DeepWalk(random_state=self.random_state, n_threads=self.n_threads, **settings)
        walked = walking.fit_transform_inductive(known, full)
        return np.concatenate([walked, words.toarray()], axis=1)

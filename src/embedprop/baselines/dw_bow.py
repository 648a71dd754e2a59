"""DW+BoW: DeepWalk's vectors beside the bag of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from embedprop.baselines.bow import BagOfWords
from embedprop.baselines.deepwalk import DeepWalk
from embedprop.baselines.extras import require
from embedprop.baselines.inductive import mean_of_neighbors
from embedprop.baselines.registry import BASELINES, Vectors
from embedprop.baselines.words import Words, word_matrix

if TYPE_CHECKING:
    from embedprop.graph.graph import Graph


@BASELINES.register("dw-bow")
class DeepWalkBagOfWords:
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

    name: ClassVar[str] = "dw-bow"

    def __init__(
        self,
        *,
        deepwalk: dict[str, Any] | None = None,
        label_types: Sequence[str] | None = None,
        words: Words = "binary",
        random_state: int | None = 0,
        n_threads: int | None = None,
    ) -> None:
        self.deepwalk = deepwalk
        self.label_types = label_types
        self.words = words
        self.random_state = random_state
        self.n_threads = n_threads

    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, dim + n_words)."""
        return self.fit_transform_inductive(graph, graph)

    def fit_transform_inductive(self, known: Graph, full: Graph) -> Vectors:
        """DW-I+BoW: a new node has the mean of its neighbors' walk vectors, and its own words."""
        require(self.name, "gensim")
        word_matrix(self.name, full, self.label_types, self.words)  # a mistake shows before walking
        settings = self.deepwalk or {}
        walking = DeepWalk(random_state=self.random_state, n_threads=self.n_threads, **settings)
        walked = walking.fit_transform(known)
        words = BagOfWords(label_types=self.label_types, words=self.words).fit_transform(full)
        return np.concatenate([mean_of_neighbors(walked, known, full), words], axis=1)

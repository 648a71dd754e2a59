"""The head that was learned with targets: scores of the classes of a node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from embedprop.graph import Vocabulary
from embedprop.graph.arrays import Vectors, Weights


@dataclass(frozen=True, eq=False)
class LearnedHead:
    """Linear scores of the classes of a node from its h and its h~.

    weights (classes, width), bias (classes,); scores (nodes, classes): of the nodes learned from.
    """

    names: Vocabulary
    weights: Vectors
    bias: Weights
    scores: Vectors

    def scores_of(self, vectors: Vectors) -> Vectors:
        """Return the logarithms of the chances of all classes: (nodes, classes)."""
        return log_softmax(vectors @ self.weights.T + self.bias)


def log_softmax(scores: Vectors) -> Vectors:
    """Return the logarithm of the softmax of each row."""
    scores = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)), np.float32)

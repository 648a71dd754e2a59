"""Majority: always the most frequent classes of the training nodes."""

from __future__ import annotations

import numpy as np

from embedprop.baselines.classifier import Classifier, Examples
from embedprop.baselines.registry import Scores, baseline
from embedprop.graph.graph import Graph


@baseline("majority")
class Majority(Classifier):
    """Scores each class by the share of training nodes that have it, the same for every node.

    Parameters
    ----------
    random_state, n_threads
        Not used: nothing is drawn. They are there because every baseline has them.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from embedprop import Graph
    >>> graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    >>> targets = csr_array(np.array([[1, 0], [1, 0], [0, 1], [0, 0]], bool))
    >>> Majority().fit_predict(graph, targets, np.array([0, 1, 2, 3]))[3].round(2)
    array([0.67, 0.33])
    """

    def learn(self, graph: Graph, examples: Examples) -> Scores:
        """Return the same scores for every node, hidden or not."""
        return np.tile(examples.classes.mean(axis=0), (graph.n_nodes, 1))

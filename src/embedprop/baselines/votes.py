"""Majority, and wvRN: the weighted-vote relational neighbor classifier."""

import numpy as np

from embedprop.baselines.registry import Classifier, Examples, Scores, baseline, neighbor_means
from embedprop.errors import InvalidParameterError
from embedprop.graph import Graph


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


@baseline("wvrn")
class WeightedVote(Classifier):
    """A node's classes are the weighted mean of its neighbors' (Macskassy & Provost, 2003).

    First by direct vote: only neighbors of known class count, each by its weight; a node without
    any has the shares of the classes among the training nodes. Then, if asked for, by relaxation
    labeling (Macskassy & Provost, JMLR 2007): in each round all nodes of unknown class move at
    once toward the mean of all their neighbors' estimates, starting from these shares, by a step
    that shrinks from round to round. In a directed graph the neighbors are the sources of the
    edges that lead to a node.

    Parameters
    ----------
    n_rounds
        Rounds of relaxation labeling. 0: the direct vote alone, as the paper describes it ("assigns
        the class label that appears most frequently in v's neighborhood"); 99 in JMLR 2007.
    decay
        How the step shrinks: 0.99 from round to round, as in JMLR 2007.
    random_state, n_threads
        Not used: nothing is drawn.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from embedprop import Graph
    >>> graph = Graph.from_edges([("a", "x"), ("b", "x"), ("c", "x")], nodes=list("abcx"))
    >>> targets = csr_array(np.array([[1, 0], [1, 0], [0, 1], [0, 0]], bool))
    >>> WeightedVote().fit_predict(graph, targets, np.array([0, 1, 2]))[3].round(2)
    array([0.67, 0.33])
    """

    n_rounds: int = 0
    decay: float = 0.99

    def learn(self, graph: Graph, examples: Examples) -> Scores:
        """Return the estimates; training nodes keep their own classes.

        A hidden node votes no more than any other node of unknown class does.
        """
        if self.n_rounds < 0 or not 0 < self.decay <= 1:
            raise InvalidParameterError(
                f"n_rounds must not be negative and decay must be in (0, 1], got "
                f"n_rounds={self.n_rounds}, decay={self.decay}."
            )
        is_known = np.zeros(graph.n_nodes, np.bool_)
        is_known[examples.train] = True
        estimates = np.tile(examples.classes.mean(axis=0), (graph.n_nodes, 1))
        estimates[examples.train] = examples.classes
        # The direct vote is one round of relaxation in which only known nodes vote.
        votes = is_known if self.n_rounds == 0 else np.ones(graph.n_nodes, np.bool_)
        step = 1.0
        for _ in range(max(1, self.n_rounds)):
            means, has_any = neighbor_means(graph, estimates, votes)
            moved = np.where((has_any & ~is_known)[:, None], means, estimates)
            estimates = step * moved + (1 - step) * estimates
            step *= self.decay
        return estimates

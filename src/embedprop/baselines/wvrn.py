"""wvRN: the weighted-vote relational neighbor classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.registry import BASELINES, NO_NODES, Nodes, Scores
from embedprop.baselines.supervision import known_targets
from embedprop.errors import InvalidParameterError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from embedprop.graph.graph import Graph


@BASELINES.register("wvrn")
class WeightedVote:
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

    name: ClassVar[str] = "wvrn"

    def __init__(
        self,
        *,
        n_rounds: int = 0,
        decay: float = 0.99,
        random_state: int | None = 0,
        n_threads: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.decay = decay
        self.random_state = random_state
        self.n_threads = n_threads

    def fit_predict(
        self,
        graph: Graph,
        targets: csr_array[np.bool_],
        train: Nodes,
        validation: Nodes = NO_NODES,  # noqa: ARG002
        hidden: Nodes = NO_NODES,  # noqa: ARG002
    ) -> Scores:
        """Return the estimates; training nodes keep their own classes.

        A hidden node votes no more than any other node of unknown class does.
        """
        if self.n_rounds < 0 or not 0 < self.decay <= 1:
            raise InvalidParameterError(
                f"n_rounds must not be negative and decay must be in (0, 1], but came "
                f"n_rounds={self.n_rounds}, decay={self.decay}."
            )
        known, classes = known_targets(graph, targets, train)
        is_known = np.zeros(graph.n_nodes, np.bool_)
        is_known[known] = True
        prior = classes.mean(axis=0)
        estimates = np.tile(prior, (graph.n_nodes, 1))
        estimates[known] = classes
        if self.n_rounds == 0:
            vote = _weights(graph, is_known.astype(np.float64))
            return _mean(vote, estimates, is_known)
        everyone = _weights(graph, np.ones(graph.n_nodes))
        step = 1.0
        for _ in range(self.n_rounds):
            moved = _mean(everyone, estimates, is_known)
            estimates = step * moved + (1 - step) * estimates
            step *= self.decay
        return estimates


def _weights(graph: Graph, masses: NDArray[np.float64]) -> csr_array[np.float64]:
    """Return how much each neighbor counts: its edge's weight times its mass."""
    from scipy.sparse import csr_array

    near = graph.neighbors
    edges = 1.0 if near.weights is None else near.weights.astype(np.float64)
    data = edges * masses[near.ids]
    return csr_array((data, near.ids, near.ptr), shape=(graph.n_nodes, graph.n_nodes))


def _mean(weights: csr_array[np.float64], estimates: Scores, is_known: NDArray[np.bool_]) -> Scores:
    """Return the weighted mean over neighbors; a known node, or one without any, stays."""
    totals: NDArray[np.float64] = np.asarray(weights.sum(axis=1)).ravel()
    stays = is_known | (totals == 0)
    means = (weights @ estimates) / np.where(stays, 1, totals)[:, None]
    return np.where(stays[:, None], estimates, means)

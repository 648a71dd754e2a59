"""Methods that learn from targets: what they may see of them is checked once, for all of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.baselines.registry import BASELINES, Baseline, Nodes, Scores
from embedprop.errors import InvalidParameterError
from embedprop.graph.graph import Graph

NO_NODES: Nodes = np.empty(0, np.int64)
# Read-only, because it is the default of arguments.
NO_NODES.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Examples:
    """Nodes that have a class, to learn from and to decide when to stop; and the hidden nodes.

    The classes of a node are a row of ones and zeros.
    """

    train: Nodes
    classes: NDArray[np.float64]
    validation: Nodes
    validation_classes: NDArray[np.float64]
    hidden: Nodes


class Classifier(Baseline):
    """Learns from the targets of some nodes and scores every class for every node.

    A method that needs all nodes in training names in `for_hidden` the one that does not.
    """

    for_hidden: ClassVar[str | None] = None

    def fit_predict(
        self,
        graph: Graph,
        targets: csr_array[np.bool_],
        train: Nodes,
        validation: Nodes = NO_NODES,
        hidden: Nodes = NO_NODES,
    ) -> Scores:
        """Return (n_nodes, n_classes): the higher, the likelier.

        Parameters
        ----------
        graph
            The whole graph, hidden nodes included.
        targets
            (n_nodes, n_classes): the classes of each node; only rows in `train` and `validation`
            are read.
        train, validation
            Rows of nodes to learn from, and to decide when to stop.
        hidden
            Rows of nodes that were absent in training and are classified afterwards.
        """
        if len(hidden) and self.for_hidden is not None:
            raise InvalidParameterError(
                f"baseline {self.name!r} learns a vector of each node in training, but "
                f"some nodes ({len(hidden)}) are hidden. Use {self.for_hidden!r}."
            )
        if targets.shape[0] != graph.n_nodes:
            raise InvalidParameterError(
                f"targets has {targets.shape[0]} rows, but the graph has {graph.n_nodes} nodes. "
                f"Expected one row per node, in the order of graph.nodes."
            )
        known = _with_class(targets, train, "train")
        if not len(known[0]):
            raise InvalidParameterError(
                f"None of the training nodes ({len(train)}) has a class: there is nothing to learn "
                f"from."
            )
        choosing = _with_class(targets, validation, "validation")
        hidden = _checked_nodes(hidden, graph.n_nodes, "hidden")
        return self.learn(graph, Examples(*known, *choosing, hidden))

    @abstractmethod
    def learn(self, graph: Graph, examples: Examples) -> Scores:
        """Return the scores that `fit_predict` promises."""


def is_classifier(name: str) -> bool:
    """Whether the baseline of this name is a `Classifier`; else it is an `Embedder`.

    >>> is_classifier("wvrn"), is_classifier("deepwalk")
    (True, False)
    """
    return issubclass(BASELINES[name], Classifier)


def shares(classes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a distribution over the classes of each node: 1 / k for each of its k classes."""
    return np.asarray(classes / classes.sum(axis=1, keepdims=True))


def _with_class(
    targets: csr_array[np.bool_], nodes: Nodes, what: str
) -> tuple[Nodes, NDArray[np.float64]]:
    """Return those of the nodes that have a class, and 1 where they have it: (nodes, classes)."""
    nodes = _checked_nodes(nodes, targets.shape[0], what)
    classes = np.asarray(targets[nodes].toarray(), np.float64)
    has_class = classes.any(axis=1)
    return nodes[has_class], classes[has_class]


def _checked_nodes(nodes: Nodes, n_nodes: int, what: str) -> Nodes:
    """Return rows of nodes as int64; an error if one is out of range."""
    nodes = np.asarray(nodes).astype(np.int64, casting="same_kind")
    if len(nodes) and not (nodes.min() >= 0 and nodes.max() < n_nodes):
        wrong = nodes[(nodes < 0) | (nodes >= n_nodes)][0]
        raise InvalidParameterError(
            f"{what} holds {wrong}, but rows of nodes run from 0 to {n_nodes - 1}."
        )
    return nodes

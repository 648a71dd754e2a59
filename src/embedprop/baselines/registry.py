"""The methods to compare with, by name: embedders learn vectors, classifiers learn from targets.

What a method may see of the targets is checked once, for all of them. Libraries that only
baselines need are named if one is missing, and torch is kept in bounds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.errors import InvalidParameterError
from embedprop.graph import Graph
from embedprop.graph.matrix import adjacency_matrix
from embedprop.instance.registry import Registry

Vectors = NDArray[np.float32]
Scores = NDArray[np.float64]
Nodes = NDArray[np.int64]

NO_NODES: Nodes = np.empty(0, np.int64)
# Read-only, because it is the default of arguments.
NO_NODES.flags.writeable = False

BASELINES = Registry[type[Any]]("baseline")

Method = TypeVar("Method", bound="type[Baseline]")


@dataclass(frozen=True, kw_only=True)
class Baseline(ABC):
    """What every method can be made with, whether it draws random numbers or not."""

    name: ClassVar[str]

    random_state: int | None = 0
    n_threads: int | None = None

    def require(self, *packages: str) -> None:
        """Raise `InvalidParameterError` naming the first of `packages` that is not installed."""
        for package in packages:
            if find_spec(package.replace("-", "_")) is None:
                raise InvalidParameterError(
                    f"baseline {self.name!r} needs {package}: pip install 'embedprop[baselines]'"
                )

    @contextmanager
    def torch_run(self, seed: int) -> Iterator[None]:
        """Seed torch and set its threads for one run; afterwards both are as they were."""
        import torch

        before = torch.get_num_threads()
        # No devices: only the CPU draws here, and asking for a GPU would wake it.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            if self.n_threads is not None:
                torch.set_num_threads(self.n_threads)
            try:
                yield
            finally:
                torch.set_num_threads(before)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def baseline(name: str) -> Callable[[Method], Method]:
    """Return a decorator: a frozen dataclass, made with keywords alone, that has this name."""

    def add(method: Method) -> Method:
        method.name = name
        BASELINES.register(name)(dataclass(frozen=True, kw_only=True)(method))
        return method

    return add


class Embedder(Baseline):
    """Learns a vector per node without targets."""

    @abstractmethod
    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, dim), rows in the order of ``graph.nodes``."""

    def fit_transform_inductive(self, known: Graph, full: Graph) -> Vectors:
        """Learn from `known` alone and return a vector for every node of `full`.

        A new node has the mean of its known neighbors' vectors, if a method has nothing better.
        """
        return mean_of_neighbors(self.fit_transform(known), known, full)


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
                f"baseline {self.name!r} needs all nodes in training, but some nodes "
                f"({len(hidden)}) are hidden. Use {self.for_hidden!r}."
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


def mean_of_neighbors(vectors: Vectors, known: Graph, full: Graph) -> Vectors:
    """Return a vector for every node of `full`: known nodes keep theirs.

    A new node gets the mean, weighted by the edges, of the vectors of its neighbors in `full` that
    are known; zeros without any.

    Parameters
    ----------
    vectors
        (known.n_nodes, dim), rows in the order of ``known.nodes``.
    known
        The graph in training.
    full
        A graph with all nodes of `known` and further ones.

    Examples
    --------
    >>> from embedprop import Graph
    >>> known = Graph.from_edges([("a", "b")])
    >>> full = Graph.from_edges([("a", "b"), ("a", "new"), ("b", "new"), ("new", "newer")])
    >>> mean_of_neighbors(np.array([[2.0], [4.0]], np.float32), known, full).ravel()
    array([2., 4., 3., 0.], dtype=float32)
    """
    if len(vectors) != known.n_nodes:
        raise InvalidParameterError(
            f"vectors has {len(vectors)} rows, but the known graph has {known.n_nodes} nodes."
        )
    rows = full.nodes.ids(known.nodes)
    placed = np.zeros((full.n_nodes, vectors.shape[1]), np.float32)
    placed[rows] = vectors
    is_known = np.zeros(full.n_nodes, np.bool_)
    is_known[rows] = True
    means, _ = neighbor_means(full, placed, is_known)
    placed[~is_known] = means[~is_known]
    return placed


def neighbor_means(
    graph: Graph, values: NDArray[Any], counts: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the mean over those neighbors that count, by edge weight, and which nodes have any."""
    weights = adjacency_matrix(graph, np.float64)
    weights.data *= counts[weights.indices]
    totals: NDArray[np.float64] = np.asarray(weights.sum(axis=1)).ravel()
    has_any = totals > 0
    return (weights @ values) / np.where(has_any, totals, 1)[:, None], has_any

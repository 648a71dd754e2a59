"""The methods to compare with, by name, and the two faces that they have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.baselines.inductive import mean_of_neighbors
from embedprop.graph.graph import Graph
from embedprop.instance.registry import Registry

Vectors = NDArray[np.float32]
Scores = NDArray[np.float64]
Nodes = NDArray[np.int64]

NO_NODES: Nodes = np.empty(0, np.int64)
NO_NODES.flags.writeable = False

BASELINES = Registry[type[Any]]("baseline")

Method = TypeVar("Method", bound="type[Baseline]")


@dataclass(frozen=True, kw_only=True)
class Baseline(ABC):
    """What every method can be made with, whether it draws random numbers or not."""

    name: ClassVar[str]

    random_state: int | None = 0
    n_threads: int | None = None


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

        A new node has the mean of its known neighbors' vectors, unless a method knows better.
        """
        return mean_of_neighbors(self.fit_transform(known), known, full)


class Classifier(Baseline):
    """Learns from the targets of some nodes and scores every class for every node.

    A method that needs all nodes in training names in `for_hidden` the one that does not.
    """

    for_hidden: ClassVar[str | None] = None

    @abstractmethod
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


def is_classifier(name: str) -> bool:
    """Whether the baseline of this name is a `Classifier`; else it is an `Embedder`.

    >>> is_classifier("wvrn"), is_classifier("deepwalk")
    (True, False)
    """
    return issubclass(BASELINES[name], Classifier)

"""The methods to compare with, by name; those that learn vectors are embedders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.inductive import mean_of_neighbors
from embedprop.graph.graph import Graph
from embedprop.instance.registry import Registry

Vectors = NDArray[np.float32]
Scores = NDArray[np.float64]
Nodes = NDArray[np.int64]

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

        A new node has the mean of its known neighbors' vectors, if a method has nothing better.
        """
        return mean_of_neighbors(self.fit_transform(known), known, full)

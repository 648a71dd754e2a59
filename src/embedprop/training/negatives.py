"""Which nodes u are compared with v."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from embedprop.graph import Graph
from embedprop.kernels.counters import draw_uniform, draw_weighted
from embedprop.registry import Registry

# The exponent with which word2vec draws its negatives.
DEGREE_EXPONENT = 0.75


class Negatives(Protocol):
    """Draws negatives by counters: the same key and node give the same u."""

    def __init__(self, graph: Graph) -> None: ...

    def draw(self, nodes: NDArray[np.int32], n_negatives: int, key: np.uint64) -> NDArray[np.int32]:
        """Return (nodes, n_negatives) ids, none equal to its node."""
        ...


NEGATIVES: Registry[type[Negatives]] = Registry("negatives")


@NEGATIVES.register("uniform")
class UniformNegatives:
    """Every other node with the same chance, as in the paper."""

    def __init__(self, graph: Graph) -> None:
        self._n_nodes = graph.n_nodes

    def draw(self, nodes: NDArray[np.int32], n_negatives: int, key: np.uint64) -> NDArray[np.int32]:
        """Return (nodes, n_negatives) ids, none equal to its node."""
        drawn: NDArray[np.int32] = draw_uniform(nodes, self._n_nodes, n_negatives, key)
        return drawn


@NEGATIVES.register("degree")
class DegreeNegatives:
    """Every other node with a chance proportional to degree^0.75; degree is in + out."""

    def __init__(self, graph: Graph) -> None:
        self._cumulative = np.cumsum(graph.degrees.astype(np.float64) ** DEGREE_EXPONENT)

    def draw(self, nodes: NDArray[np.int32], n_negatives: int, key: np.uint64) -> NDArray[np.int32]:
        """Return (nodes, n_negatives) ids, none equal to its node."""
        drawn: NDArray[np.int32] = draw_weighted(nodes, self._cumulative, n_negatives, key)
        return drawn

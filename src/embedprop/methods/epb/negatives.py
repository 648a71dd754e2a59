"""Which nodes u are compared with v."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from embedprop.kernels.draws.counters import draw_in_batch, draw_shared, draw_uniform, draw_weighted
from embedprop.methods.epb.neighborhoods import Connected

# The exponent with which word2vec draws its negatives.
DEGREE_EXPONENT = 0.75

Nodes = NDArray[np.int32]
Visits = NDArray[np.int64]


class Negatives(Protocol):
    """Draws negatives by counters: the same key and batch give the same u, whoever asks."""

    def __init__(self, graph: Connected) -> None: ...

    def draw(
        self,
        nodes: Nodes,
        n_negatives: int,
        key: np.uint64,
        batch_size: int,
        visits: Visits | None = None,
    ) -> Nodes:
        """Return (nodes, n_negatives) ids, none equal to its node.

        `nodes` begin with a batch. visits: the counter of each position, so that a node that is
        visited several times in an epoch draws afresh; default: the nodes themselves.
        """
        ...


def _counters(nodes: Nodes, visits: Visits | None) -> Visits:
    return nodes.astype(np.int64) if visits is None else visits


class UniformNegatives:
    """Every other node with the same chance, as in the paper."""

    def __init__(self, graph: Connected) -> None:
        self._n_nodes = graph.n_nodes

    def draw(
        self,
        nodes: Nodes,
        n_negatives: int,
        key: np.uint64,
        batch_size: int,  # noqa: ARG002
        visits: Visits | None = None,
    ) -> Nodes:
        """Return (nodes, n_negatives) ids, none equal to its node."""
        counters = _counters(nodes, visits)
        drawn: Nodes = draw_uniform(nodes, counters, self._n_nodes, n_negatives, key)
        return drawn


class DegreeNegatives:
    """Every other node with a chance proportional to degree^0.75; degree is in + out."""

    def __init__(self, graph: Connected) -> None:
        self._cumulative = np.cumsum(graph.degrees.astype(np.float64) ** DEGREE_EXPONENT)

    def draw(
        self,
        nodes: Nodes,
        n_negatives: int,
        key: np.uint64,
        batch_size: int,  # noqa: ARG002
        visits: Visits | None = None,
    ) -> Nodes:
        """Return (nodes, n_negatives) ids, none equal to its node."""
        counters = _counters(nodes, visits)
        drawn: Nodes = draw_weighted(nodes, counters, self._cumulative, n_negatives, key)
        return drawn


class InBatchNegatives:
    """The nodes that come next in the same mini-batch: no further rows are read."""

    def __init__(self, graph: Connected) -> None:
        self._n_nodes = graph.n_nodes

    def draw(
        self,
        nodes: Nodes,
        n_negatives: int,
        key: np.uint64,
        batch_size: int,
        visits: Visits | None = None,
    ) -> Nodes:
        """Return (nodes, n_negatives) ids, none equal to its node; uniform where a batch ends."""
        counters = _counters(nodes, visits)
        drawn: Nodes = draw_in_batch(nodes, counters, batch_size, self._n_nodes, n_negatives, key)
        return drawn


class SharedNegatives:
    """The same uniform nodes for all v of a mini-batch: few rows are read, however many."""

    def __init__(self, graph: Connected) -> None:
        self._n_nodes = graph.n_nodes

    def draw(
        self,
        nodes: Nodes,
        n_negatives: int,
        key: np.uint64,
        batch_size: int,
        visits: Visits | None = None,
    ) -> Nodes:
        """Return (nodes, n_negatives) ids, none equal to its node."""
        counters = _counters(nodes, visits)
        drawn: Nodes = draw_shared(nodes, counters, batch_size, self._n_nodes, n_negatives, key)
        return drawn

"""Which nodes u are compared with v."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from embedprop.kernels.draws.counters import draw_in_batch, draw_shared, draw_uniform, draw_weighted
from embedprop.methods.epb.neighborhoods import Connected

# The exponent with which word2vec draws its negatives.
DEGREE_EXPONENT = 0.75

Nodes = NDArray[np.int32]
Visits = NDArray[np.int64]


class Negatives:
    """Draws negatives by counters: the same key and batch give the same u, whoever asks."""

    kernel: ClassVar[Callable[..., Any]]

    def __init__(self, graph: Connected) -> None:
        self._chances: Any = graph.n_nodes  # of equal ones their number is enough

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
        counters = nodes.astype(np.int64) if visits is None else visits
        drawn: Nodes = self.kernel(nodes, counters, batch_size, self._chances, n_negatives, key)
        return drawn


class UniformNegatives(Negatives):
    """Every other node with the same chance, as in the paper."""

    kernel = staticmethod(draw_uniform)


class DegreeNegatives(Negatives):
    """Every other node with a chance proportional to degree^0.75; degree is in + out."""

    kernel = staticmethod(draw_weighted)

    def __init__(self, graph: Connected) -> None:
        super().__init__(graph)
        self._chances = np.cumsum(graph.degrees.astype(np.float64) ** DEGREE_EXPONENT)


class InBatchNegatives(Negatives):
    """The nodes that come next in the same mini-batch: no further rows are read.

    Where a batch has too few others, uniform ones.
    """

    kernel = staticmethod(draw_in_batch)


class SharedNegatives(Negatives):
    """The same uniform nodes for all v of a mini-batch: few rows are read, however many."""

    kernel = staticmethod(draw_shared)

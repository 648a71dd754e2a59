"""Graph → what chance decides for a run of positions; the same for every engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from embedprop.graph import Graph
from embedprop.instance import Instance
from embedprop.kernels.batch import Draws
from embedprop.training.negatives import NEGATIVES
from embedprop.training.neighborhoods import NEIGHBORHOODS
from embedprop.training.random_streams import RandomStreams


class Drawer:
    """Decides order, neighbors and negatives of every epoch from (seed, epoch, node) alone.

    A node without neighbors has no reconstruction: it is never visited, but can be a negative.
    """

    def __init__(
        self, graph: Graph, instance: Instance, streams: RandomStreams, dtype: DTypeLike
    ) -> None:
        self._streams = streams
        self._dtype = dtype
        self._n_negatives = instance.n_negatives
        self._negatives = NEGATIVES[instance.negatives](graph)
        self._neighborhood = NEIGHBORHOODS[instance.neighborhood](graph, instance.max_neighbors)
        self.sizes = self._neighborhood.sizes()
        self.visited = np.flatnonzero(self.sizes).astype(np.int32)

    def order(self, epoch: int) -> NDArray[np.int32]:
        """Return the nodes in the order in which an epoch visits them."""
        return self._streams.generator("order", epoch).permutation(self.visited)

    def draw(self, epoch: int, nodes: NDArray[np.int32]) -> Draws:
        """Return neighbors and negatives of `nodes` in this epoch."""
        speakers = self._neighborhood.draw(nodes, self._streams.key("neighbors", epoch))
        negatives = self._negatives.draw(
            nodes, self._n_negatives, self._streams.key("negatives", epoch)
        )
        weights = speakers.weights if speakers.weights is not None else np.empty(0)
        ids, weights = speakers.ids.view(), weights.astype(self._dtype, copy=False).view()
        # Kernels compile once for read-only lists, whether they are the graph's own or drawn.
        ids.flags.writeable = weights.flags.writeable = False
        return Draws(nodes, speakers.starts, speakers.ends, ids, weights, negatives)

"""Which nodes speak to v: all its neighbors, or at most kappa of them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from embedprop.graph import Graph
from embedprop.kernels.counters import draw_neighbors
from embedprop.registry import Registry


class Speakers(NamedTuple):
    """Position i hears ids[starts[i]:ends[i]], with weights (None: all 1)."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    ids: NDArray[np.int32]
    weights: NDArray[np.float32] | None


class Neighborhood(Protocol):
    """Draws the speakers of each visited node afresh, by counters."""

    def __init__(self, graph: Graph, max_neighbors: int | None) -> None: ...

    def draw(self, nodes: NDArray[np.int32], key: np.uint64) -> Speakers:
        """Return who speaks to each of `nodes`."""
        ...

    def sizes(self) -> NDArray[np.int64]:
        """Return how many speakers each node of the graph has."""
        ...


NEIGHBORHOODS: Registry[type[Neighborhood]] = Registry("neighborhood")


@NEIGHBORHOODS.register("neighbors")
class Neighbors:
    """N(v), or at most `max_neighbors` of it without replacement (the paper's kappa)."""

    def __init__(self, graph: Graph, max_neighbors: int | None) -> None:
        self._neighbors = graph.neighbors
        sizes = graph.neighbors.sizes
        self._largest = int(sizes.max())
        self._most = (
            None if max_neighbors is None or max_neighbors >= self._largest else max_neighbors
        )

    def sizes(self) -> NDArray[np.int64]:
        """Return min(degree, kappa) of each node."""
        sizes = self._neighbors.sizes
        return sizes if self._most is None else np.minimum(sizes, self._most)

    def draw(self, nodes: NDArray[np.int32], key: np.uint64) -> Speakers:
        """Return who speaks to each of `nodes`."""
        neighbors, ptr = self._neighbors, self._neighbors.ptr
        if self._most is None:
            return Speakers(ptr[nodes], ptr[nodes + 1], neighbors.ids, neighbors.weights)
        offsets = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(np.minimum(neighbors.sizes[nodes], self._most), out=offsets[1:])
        places = draw_neighbors(nodes, ptr, self._most, offsets, key, self._largest)
        weights = None if neighbors.weights is None else neighbors.weights[places]
        return Speakers(offsets[:-1], offsets[1:], neighbors.ids[places], weights)

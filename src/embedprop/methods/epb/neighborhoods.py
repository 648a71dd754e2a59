"""Which nodes speak to v: its neighbors, at most kappa of them, one at a time, ends of walks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph import Graph
from embedprop.kernels.draws.counters import draw_neighbors
from embedprop.kernels.draws.walks import row_sums, walk_ends
from embedprop.methods.epb.partitions import InnerGraph

# In a prototype on BlogCatalog (65 neighbors on average) as good as all of them, and cheaper.
N_WALKS = 20

Visits = NDArray[np.int64]
# The whole graph, or what lies within a pair of partitions.
Connected = Graph | InnerGraph


class Speakers(NamedTuple):
    """Position i visits nodes[i], which hears ids[starts[i]:ends[i]], with weights (None: all 1).

    places: of each of `ids` in the graph's own lists of neighbors; None where `ids` are these lists
    themselves, or where an end of a walk has no edge of its own.
    """

    nodes: NDArray[np.int32]
    starts: Visits
    ends: Visits
    ids: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    places: Visits | None


class Neighborhood(ABC):
    """Draws the speakers of each visit afresh, by counters.

    Each is made of (graph, max_neighbors). has_edges: whether a speaker speaks over one edge of the
    graph, which may have a relation.
    """

    has_edges = True

    def __init__(self, graph: Connected) -> None:
        self._neighbors = graph.neighbors

    def visits(self) -> Visits:
        """Return the ids of all visits of an epoch: the nodes that have neighbors."""
        return np.flatnonzero(self._neighbors.sizes)

    @abstractmethod
    def sizes(self) -> Visits:
        """Return how many speakers each of `visits` has."""

    @abstractmethod
    def draw(self, visits: Visits, key: np.uint64) -> Speakers:
        """Return who is visited, and who speaks to it."""


class Neighbors(Neighborhood):
    """N(v), or at most `max_neighbors` of it without replacement (the paper's kappa)."""

    def __init__(self, graph: Connected, max_neighbors: int | None) -> None:
        super().__init__(graph)
        self._largest = int(graph.neighbors.sizes.max())
        self._most = min(max_neighbors or self._largest, self._largest)

    def sizes(self) -> Visits:
        """Return min(degree, kappa) of each visited node."""
        return np.minimum(self._neighbors.sizes[self.visits()], self._most)

    def draw(self, visits: Visits, key: np.uint64) -> Speakers:
        """Return who speaks to each of the nodes `visits`."""
        neighbors, ptr = self._neighbors, self._neighbors.ptr
        nodes = visits.astype(np.int32)
        if self._most == self._largest:
            starts, ends = ptr[nodes], ptr[nodes + 1]
            return Speakers(nodes, starts, ends, neighbors.ids, neighbors.weights, None)
        offsets = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(np.minimum(neighbors.sizes[nodes], self._most), out=offsets[1:])
        places = draw_neighbors(nodes, ptr, self._most, offsets, key, self._largest)
        weights = None if neighbors.weights is None else neighbors.weights[places]
        return Speakers(nodes, offsets[:-1], offsets[1:], neighbors.ids[places], weights, places)


class Edges(Neighborhood):
    """Each edge is a visit of its own: v hears one neighbor, every edge once per epoch (TransE)."""

    def __init__(self, graph: Connected, max_neighbors: int | None) -> None:
        super().__init__(graph)
        if max_neighbors not in (None, 1):
            raise InvalidParameterError(
                f"max_neighbors={max_neighbors} is not possible with neighborhood='edges', where v "
                f"hears one neighbor at a time. Leave it out, or choose neighborhood='neighbors'."
            )
        nodes = np.arange(graph.n_nodes, dtype=np.int32)
        self._owners = np.repeat(nodes, graph.neighbors.sizes)

    def visits(self) -> Visits:
        """Return the places of all edges in the lists of neighbors."""
        return np.arange(len(self._owners), dtype=np.int64)

    def sizes(self) -> Visits:
        """Return one for each edge."""
        return np.ones(len(self._owners), np.int64)

    def draw(self, visits: Visits, key: np.uint64) -> Speakers:  # noqa: ARG002
        """Return the two nodes of each edge; in a mean of one its weight counts nothing."""
        starts, neighbors = visits.astype(np.int64), self._neighbors
        return Speakers(
            self._owners[visits], starts, starts + 1, neighbors.ids, neighbors.weights, None
        )


class Walks(Neighborhood):
    """`max_neighbors` (20) ends of walks against the edges, half of 1, half of 2 steps, by weight.

    The walks are drawn afresh each epoch. Each end counts the same, also where a walk of two steps
    has come back to v; a walk that cannot go on ends where it is.
    """

    has_edges = False

    def __init__(self, graph: Connected, max_neighbors: int | None) -> None:
        super().__init__(graph)
        neighbors = graph.neighbors
        weights = np.empty(0, np.float32) if neighbors.weights is None else neighbors.weights
        self._sums: NDArray[np.float64] = row_sums(neighbors.ptr, weights)
        self._n_walks = max_neighbors or N_WALKS

    def sizes(self) -> Visits:
        """Return the number of walks for each visited node."""
        return np.full(len(self.visits()), self._n_walks)

    def draw(self, visits: Visits, key: np.uint64) -> Speakers:
        """Return where walks from each of the nodes `visits` end."""
        nodes, neighbors = visits.astype(np.int32), self._neighbors
        ends = walk_ends(nodes, self._n_walks, neighbors.ptr, neighbors.ids, self._sums, key)
        offsets = np.arange(len(nodes) + 1, dtype=np.int64) * self._n_walks
        return Speakers(nodes, offsets[:-1], offsets[1:], ends.ravel(), None, None)

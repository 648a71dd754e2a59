"""Which nodes speak to v: its neighbors, at most kappa of them, one at a time, ends of walks.

Tables that do not fit into memory are learned a pair of partitions of the nodes at a time, on the
graph within the pair. In every epoch the partitions are paired anew, like teams in a tournament:
after P - 1 epochs each pair has met.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph import Graph, Multisets
from embedprop.kernels.draws.counters import draw_neighbors
from embedprop.kernels.draws.induced import inner_lists
from embedprop.kernels.draws.walks import row_sums, walk_ends
from embedprop.methods.random_streams import RandomStreams

# In a prototype on BlogCatalog (65 neighbors on average) as good as all of them, and cheaper.
N_WALKS = 20

Visits = NDArray[np.int64]
Ranges = list[tuple[int, int]]


def tournament(n_teams: int, number: int) -> list[tuple[int, int]]:
    """Return which teams meet in a round, by the circle method; `n_teams` is even.

    >>> [tournament(4, number) for number in range(3)]
    [[(3, 0), (1, 2)], [(3, 1), (2, 0)], [(3, 2), (0, 1)]]
    """
    last = n_teams - 1
    others = [((number + i) % last, (number - i) % last) for i in range(1, n_teams // 2)]
    return [(last, number), *others]


@dataclass(frozen=True)
class Partitions:
    """The nodes in an even number of ranges of ids, of nearly equal size."""

    n_nodes: int
    n_partitions: int

    def __post_init__(self) -> None:
        even = self.n_partitions >= 2 and self.n_partitions % 2 == 0
        if not even or 2 < self.n_partitions > self.n_nodes:
            raise InvalidParameterError(
                f"partitions={self.n_partitions}: expected an even number from 2 to the number of "
                f"nodes ({self.n_nodes}), got {self.n_partitions}."
            )

    def pairs(self, epoch: int, streams: RandomStreams) -> list[tuple[int, int]]:
        """Return the pairs of an epoch in the order in which they are learned."""
        if self.n_partitions == 2:
            return [(0, 1)]
        cycle, place = divmod(epoch, self.n_partitions - 1)
        rounds = streams.generator("rounds", cycle).permutation(self.n_partitions - 1)
        pairs = tournament(self.n_partitions, int(rounds[place]))
        return [pairs[i] for i in streams.generator("pairs", epoch).permutation(len(pairs))]

    def ranges(self, pair: tuple[int, int]) -> Ranges:
        """Return the ranges of node ids of a pair, the lower one first."""
        n, parts = self.n_nodes, self.n_partitions
        return [(part * n // parts, (part + 1) * n // parts) for part in sorted(pair)]


@dataclass(frozen=True, eq=False)
class InnerGraph:
    """Some nodes and the edges between them: what neighborhoods and negatives read of a graph.

    Its own ids are positions in `nodes`, which holds those of the whole graph. places: of each
    edge in the whole graph's lists. degrees: those of the whole graph.
    """

    nodes: NDArray[np.int32]
    neighbors: Multisets
    neighbor_relations: NDArray[np.int32] | None
    places: NDArray[np.int64]
    degrees: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph, ranges: Ranges) -> InnerGraph:
        """Return what lies within ranges of node ids."""
        nodes = np.concatenate([np.arange(low, high, dtype=np.int32) for low, high in ranges])
        place = np.full(graph.n_nodes, -1, np.int32)
        place[nodes] = np.arange(len(nodes), dtype=np.int32)
        neighbors, relations = graph.neighbors, graph.neighbor_relations
        ptr, ids, places = inner_lists(nodes, neighbors.ptr, neighbors.ids, place)
        weights = None if neighbors.weights is None else neighbors.weights[places]
        return cls(
            nodes,
            Multisets(ptr, ids, weights),
            None if relations is None else relations[places],
            places,
            graph.degrees[nodes],
        )

    @property
    def n_nodes(self) -> int:
        """The number of nodes inside."""
        return len(self.nodes)

    @cached_property
    def neighbor_ids(self) -> NDArray[np.int32]:
        """The neighbors by their ids in the whole graph."""
        return self.nodes[self.neighbors.ids]


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
        """Return which nodes are visited, and which nodes speak to each."""


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
        """Return which nodes speak to each of the nodes `visits`."""
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
    """Each edge is its own visit, once per epoch: v is reconstructed from one neighbor (TransE)."""

    def __init__(self, graph: Connected, max_neighbors: int | None) -> None:
        super().__init__(graph)
        if max_neighbors not in (None, 1):
            raise InvalidParameterError(
                f"max_neighbors={max_neighbors} cannot be combined with neighborhood='edges', "
                f"which uses one neighbor at a time. Leave it out, or choose "
                f"neighborhood='neighbors'."
            )
        self._owners = graph.neighbors.owners

    def visits(self) -> Visits:
        """Return the places of all edges in the lists of neighbors."""
        return np.arange(len(self._owners), dtype=np.int64)

    def sizes(self) -> Visits:
        """Return one for each edge."""
        return np.ones(len(self._owners), np.int64)

    def draw(self, visits: Visits, key: np.uint64) -> Speakers:  # noqa: ARG002
        """Return the two nodes of each edge; in a mean of one, its weight has no effect."""
        starts, neighbors = visits.astype(np.int64), self._neighbors
        return Speakers(
            self._owners[visits], starts, starts + 1, neighbors.ids, neighbors.weights, None
        )


class Walks(Neighborhood):
    """Ends of `max_neighbors` (20) walks against the edges, half with 1 step, half 2, by weight.

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

"""Partitions of the nodes: an epoch in rounds, each on the graph within a pair of partitions.

Tables that do not fit into memory are learned a pair of partitions at a time. In every epoch the
partitions are paired anew, as teams in a tournament: after P - 1 epochs each has met each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph import Graph
from embedprop.graph.multisets import Multisets
from embedprop.kernels.draws.induced import inner_lists, inner_ptr
from embedprop.methods.random_streams import RandomStreams

Ranges = list[tuple[int, int]]


def tournament(n_teams: int, number: int) -> list[tuple[int, int]]:
    """Return who meets whom in a round, by the circle method; `n_teams` is even.

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
                f"partitions={self.n_partitions} is not possible: it is an even number from 2 to "
                f"the number of nodes, {self.n_nodes}."
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
        ptr = inner_ptr(nodes, neighbors.ptr, neighbors.ids, place)
        ids, places = inner_lists(nodes, neighbors.ptr, neighbors.ids, place, ptr)
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

"""Which nodes speak to v: its neighbors, at most kappa of them, one at a time, ends of walks."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph.multisets import Multisets
from embedprop.kernels.draws.counters import draw_neighbors
from embedprop.kernels.draws.walks import row_sums, walk_ends

# In a prototype on BlogCatalog (65 neighbors on average) as good as all of them, and cheaper.
N_WALKS = 20


class Connected(Protocol):
    """What is read of a graph: the whole one, or the inner one of a pair of partitions."""

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        ...

    @property
    def neighbors(self) -> Multisets:
        """N(v) of each node."""
        ...

    @property
    def degrees(self) -> NDArray[np.int64]:
        """In + out, in the whole graph."""
        ...


class Speakers(NamedTuple):
    """Position i visits nodes[i], which hears ids[starts[i]:ends[i]], with weights (None: all 1).

    places: of each of `ids` in the graph's own lists of neighbors; None where `ids` are these lists
    themselves, or where an end of a walk has no edge of its own.
    """

    nodes: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    ids: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    places: NDArray[np.int64] | None


class Neighborhood(Protocol):
    """Draws the speakers of each visit afresh, by counters.

    An epoch goes over `visits`. has_edges: whether each speaker speaks over one edge of the graph,
    which may have a relation.
    """

    has_edges: bool

    def __init__(self, graph: Connected, max_neighbors: int | None) -> None: ...

    def visits(self) -> NDArray[np.int64]:
        """Return the ids of all visits of an epoch; never of a node without neighbors."""
        ...

    def sizes(self) -> NDArray[np.int64]:
        """Return how many speakers each of `visits` has."""
        ...

    def draw(self, visits: NDArray[np.int64], key: np.uint64) -> Speakers:
        """Return who is visited, and who speaks to it."""
        ...


class Neighbors:
    """N(v), or at most `max_neighbors` of it without replacement (the paper's kappa)."""

    has_edges = True

    def __init__(self, graph: Connected, max_neighbors: int | None) -> None:
        self._neighbors = graph.neighbors
        sizes = graph.neighbors.sizes
        self._largest = int(sizes.max())
        self._most = (
            None if max_neighbors is None or max_neighbors >= self._largest else max_neighbors
        )

    def visits(self) -> NDArray[np.int64]:
        """Return the nodes that have neighbors."""
        return np.flatnonzero(self._neighbors.sizes)

    def sizes(self) -> NDArray[np.int64]:
        """Return min(degree, kappa) of each visited node."""
        return np.minimum(self._neighbors.sizes[self.visits()], self._most or self._largest)

    def draw(self, visits: NDArray[np.int64], key: np.uint64) -> Speakers:
        """Return who speaks to each of the nodes `visits`."""
        neighbors, ptr = self._neighbors, self._neighbors.ptr
        nodes = visits.astype(np.int32)
        if self._most is None:
            starts, ends = ptr[nodes], ptr[nodes + 1]
            return Speakers(nodes, starts, ends, neighbors.ids, neighbors.weights, None)
        offsets = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(np.minimum(neighbors.sizes[nodes], self._most), out=offsets[1:])
        places = draw_neighbors(nodes, ptr, self._most, offsets, key, self._largest)
        weights = None if neighbors.weights is None else neighbors.weights[places]
        return Speakers(nodes, offsets[:-1], offsets[1:], neighbors.ids[places], weights, places)


class Edges:
    """Each edge is a visit of its own: v hears one neighbor, every edge once per epoch (TransE)."""

    has_edges = True

    def __init__(self, graph: Connected, max_neighbors: int | None) -> None:
        if max_neighbors not in (None, 1):
            raise InvalidParameterError(
                f"max_neighbors={max_neighbors} is not possible with neighborhood='edges', where v "
                f"hears one neighbor at a time. Leave it out, or choose neighborhood='neighbors'."
            )
        self._neighbors = graph.neighbors
        nodes = np.arange(graph.n_nodes, dtype=np.int32)
        self._owners = np.repeat(nodes, graph.neighbors.sizes)

    def visits(self) -> NDArray[np.int64]:
        """Return the places of all edges in the lists of neighbors."""
        return np.arange(len(self._owners), dtype=np.int64)

    def sizes(self) -> NDArray[np.int64]:
        """Return one for each edge."""
        return np.ones(len(self._owners), np.int64)

    def draw(self, visits: NDArray[np.int64], key: np.uint64) -> Speakers:  # noqa: ARG002
        """Return the two nodes of each edge; in a mean of one its weight counts nothing."""
        starts, neighbors = visits.astype(np.int64), self._neighbors
        return Speakers(
            self._owners[visits], starts, starts + 1, neighbors.ids, neighbors.weights, None
        )


class Walks:
    """`max_neighbors` (20) ends of walks against the edges, half of 1, half of 2 steps, by weight.

    The walks are drawn afresh each epoch. Each end counts the same, also where a walk of two steps
    has come back to v; a walk that cannot go on ends where it is.
    """

    has_edges = False

    def __init__(self, graph: Connected, max_neighbors: int | None) -> None:
        neighbors = graph.neighbors
        self._neighbors = neighbors
        weights = np.empty(0, np.float32) if neighbors.weights is None else neighbors.weights
        self._sums: NDArray[np.float64] = row_sums(neighbors.ptr, weights)
        self._n_walks = max_neighbors or N_WALKS

    def visits(self) -> NDArray[np.int64]:
        """Return the nodes that have neighbors."""
        return np.flatnonzero(self._neighbors.sizes)

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of walks for each visited node."""
        return np.full(len(self.visits()), self._n_walks)

    def draw(self, visits: NDArray[np.int64], key: np.uint64) -> Speakers:
        """Return where walks from each of the nodes `visits` end."""
        nodes, neighbors = visits.astype(np.int32), self._neighbors
        ends = walk_ends(nodes, self._n_walks, neighbors.ptr, neighbors.ids, self._sums, key)
        offsets = np.arange(len(nodes) + 1, dtype=np.int64) * self._n_walks
        return Speakers(nodes, offsets[:-1], offsets[1:], ends.ravel(), None, None)

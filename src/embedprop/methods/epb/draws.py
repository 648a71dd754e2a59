"""Graph → what chance decides for a run of positions; the same for every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from embedprop.graph import Graph
from embedprop.instance.catalog import NEGATIVES, NEIGHBORHOODS
from embedprop.instance.epb import EPBInstance
from embedprop.kernels.epb.batch import Draws
from embedprop.methods.epb.neighborhoods import (
    Connected,
    InnerGraph,
    Partitions,
    Ranges,
    Speakers,
    Visits,
)
from embedprop.methods.epb.task import TrainingPlan
from embedprop.methods.random_streams import RandomStreams


@dataclass(frozen=True, eq=False)
class Round:
    """A part of an epoch: its visits in order, and the random decisions for a run of them.

    number, n_rounds: which part it is, of how many. ranges: the ids of the nodes that it can meet.
    """

    order: Visits
    draw: Callable[[Visits], Draws]
    ranges: Ranges
    number: int = 0
    n_rounds: int = 1

    def share(self, n_done: int) -> float:
        """Return how much of the epoch is done after `n_done` visits of this round."""
        return (self.number + n_done / len(self.order)) / self.n_rounds


class Drawer:
    """Decides order, neighbors and negatives of every epoch from (seed, epoch, visit) alone.

    An epoch goes in `rounds`. With two partitions that is one, of the whole graph; with more, each
    round sees a pair of them and the edges between their nodes as if there were no others.

    visits: what an epoch goes over, each once; with more than two partitions those of them that
    have somebody to speak to them within their pair. A visit is a node v and those who speak to it;
    its id is the node, or with neighborhood="edges" the place of the edge in `graph.neighbors`. A
    node without neighbors has no reconstruction: it is never visited, but can be a negative.
    sizes: how many speak at each of `visits`, or at most. weighted: whether they have weights.
    """

    def __init__(
        self, graph: Graph, instance: EPBInstance, plan: TrainingPlan, dtype: DTypeLike = np.float32
    ) -> None:
        self._graph, self._instance = graph, instance
        self._streams, self._dtype = RandomStreams(plan.seed), dtype
        self._batch_size, self.n_negatives = plan.batch_size, instance.n_negatives
        self._partitions = Partitions(graph.n_nodes, plan.n_partitions)
        self._whole = _Chances(graph, instance)
        self.visits = self._whole.neighborhood.visits()
        self.sizes = self._whole.neighborhood.sizes()
        nobody = self._whole.neighborhood.draw(self.visits[:0], self._streams.key("neighbors", 0))
        self.weighted = nobody.weights is not None

    def rounds(self, epoch: int) -> Iterator[Round]:
        """Yield the parts of an epoch that have visits."""
        pairs = self._partitions.pairs(epoch, self._streams)
        for number, pair in enumerate(pairs):
            ranges = self._partitions.ranges(pair)
            chances, counters, visits = self._whole, [epoch], self.visits
            # Two partitions are the whole graph: no list has to be made anew.
            if len(pairs) > 1:
                inner = InnerGraph.of(self._graph, ranges)
                chances, counters = _Chances(inner, self._instance), [epoch, number]
                visits = chances.neighborhood.visits()
            # A pair may have no edge within.
            if len(visits):
                order = self._streams.generator("order", *counters).permutation(visits)
                draw = partial(self._draw, chances, counters)
                yield Round(order, draw, ranges, number, len(pairs))

    def order(self, epoch: int) -> Visits:
        """Return the visits in the order in which an epoch on the whole graph makes them."""
        return self._streams.generator("order", epoch).permutation(self.visits)

    def draw(self, epoch: int, visits: Visits) -> Draws:
        """Return nodes, neighbors and negatives of `visits`, which begin with a batch."""
        return self._draw(self._whole, [epoch], visits)

    def _draw(self, chances: _Chances, counters: list[int], visits: Visits) -> Draws:
        keys = [self._streams.key(purpose, *counters) for purpose in ("neighbors", "negatives")]
        speakers = chances.neighborhood.draw(visits, keys[0])
        nodes, n_negatives = speakers.nodes, self.n_negatives
        negatives = chances.negatives.draw(nodes, n_negatives, keys[1], self._batch_size, visits)
        ids, places = chances.ids_and_places(speakers)
        return Draws(
            chances.in_whole(nodes),
            speakers.starts,
            speakers.ends,
            read_only(ids, np.int32),
            read_only(speakers.weights, self._dtype),
            chances.in_whole(negatives),
            read_only(chances.relations(speakers), np.int32),
            read_only(places, np.int64),
        )


class _Chances:
    """Neighborhood and negatives of a graph, whole or inner; ids go back to those of the whole."""

    def __init__(self, graph: Connected, instance: EPBInstance) -> None:
        self._inner = graph if isinstance(graph, InnerGraph) else None
        self._relations = graph.neighbor_relations if instance.n_relations else None
        self.negatives = NEGATIVES[instance.negatives](graph)
        self.neighborhood = NEIGHBORHOODS[instance.neighborhood](graph, instance.max_neighbors)

    def in_whole(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the ids of nodes in the whole graph."""
        return nodes if self._inner is None else self._inner.nodes[nodes]

    def ids_and_places(self, speakers: Speakers) -> tuple[NDArray[np.int32], Visits | None]:
        """Return which nodes speak, and over which edge of the whole graph (None: see `Draws`)."""
        inner, places = self._inner, speakers.places
        if inner is None:
            return speakers.ids, places
        if places is None and self.neighborhood.has_edges:
            return inner.neighbor_ids, inner.places
        return inner.nodes[speakers.ids], None if places is None else inner.places[places]

    def relations(self, speakers: Speakers) -> NDArray[np.int32] | None:
        """Return the relation of each of `speakers.ids`."""
        if self._relations is None or speakers.places is None:
            return self._relations
        return self._relations[speakers.places]


def read_only(values: NDArray[Any] | None, dtype: DTypeLike) -> NDArray[Any]:
    """Return a view: kernels compile once, whether lists are the graph's own, drawn or none."""
    values = np.empty(0, dtype) if values is None else values.astype(dtype, copy=False)
    view = values.view()
    view.flags.writeable = False
    return view

"""Graph → what chance decides for a run of positions; the same for every engine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph import Graph
from embedprop.instance import Instance
from embedprop.kernels.batch import Draws
from embedprop.training.negatives import NEGATIVES
from embedprop.training.neighborhoods import NEIGHBORHOODS, Speakers
from embedprop.training.random_streams import RandomStreams


class Drawer:
    """Decides order, neighbors and negatives of every epoch from (seed, epoch, visit) alone.

    visits: what an epoch goes over, each once. A visit is a node v and those who speak to it; its
    id is the node, or with neighborhood="edges" the place of the edge in `graph.neighbors`. A node
    without neighbors has no reconstruction: it is never visited, but can be a negative.
    sizes: how many speak at each of `visits`. weighted: whether they have weights.
    """

    def __init__(
        self,
        graph: Graph,
        instance: Instance,
        streams: RandomStreams,
        dtype: DTypeLike,
        batch_size: int,
    ) -> None:
        self._streams, self._dtype, self._batch_size = streams, dtype, batch_size
        self.n_negatives = instance.n_negatives
        self._negatives = NEGATIVES[instance.negatives](graph)
        self._neighborhood = NEIGHBORHOODS[instance.neighborhood](graph, instance.max_neighbors)
        self._relations = graph.neighbor_relations if instance.n_relations else None
        if instance.n_relations and not self._neighborhood.has_edges:
            raise InvalidParameterError(
                f"neighborhood={instance.neighborhood!r} cannot be combined with relations: a walk "
                f"of two steps goes over two edges, and has no relation of its own. Choose "
                f"neighborhood='neighbors' or 'edges', or leave the relations out of the graph."
            )
        self.visits = self._neighborhood.visits()
        self.sizes = self._neighborhood.sizes()
        nobody = self._neighborhood.draw(self.visits[:0], streams.key("neighbors", 0))
        self.weighted = nobody.weights is not None

    def order(self, epoch: int) -> NDArray[np.int64]:
        """Return the visits in the order in which an epoch makes them."""
        return self._streams.generator("order", epoch).permutation(self.visits)

    def draw(self, epoch: int, visits: NDArray[np.int64]) -> Draws:
        """Return nodes, neighbors and negatives of `visits`, which begin with a batch."""
        speakers = self._neighborhood.draw(visits, self._streams.key("neighbors", epoch))
        key = self._streams.key("negatives", epoch)
        negatives = self._negatives.draw(
            speakers.nodes, self.n_negatives, key, self._batch_size, visits
        )
        return Draws(
            speakers.nodes,
            speakers.starts,
            speakers.ends,
            _read_only(speakers.ids, np.int32),
            _read_only(speakers.weights, self._dtype),
            negatives,
            _read_only(self._relations_of(speakers), np.int32),
            _read_only(speakers.places, np.int64),
        )

    def _relations_of(self, speakers: Speakers) -> NDArray[np.int32] | None:
        """Return the relation of each of `speakers.ids`."""
        if self._relations is None or speakers.places is None:
            return self._relations
        return self._relations[speakers.places]


def _read_only(values: NDArray[Any] | None, dtype: DTypeLike) -> NDArray[Any]:
    """Return a view: kernels compile once, whether lists are the graph's own, drawn or none."""
    values = np.empty(0, dtype) if values is None else values.astype(dtype, copy=False)
    view = values.view()
    view.flags.writeable = False
    return view

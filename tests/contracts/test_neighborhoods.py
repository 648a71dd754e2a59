"""What every neighborhood must do; a new one is tested by being registered."""

from __future__ import annotations

import numpy as np
import pytest
from tests import toy_graphs

from embedprop import Graph
from embedprop.instance.catalog import NEIGHBORHOODS
from embedprop.methods.epb.neighborhoods import Neighborhood

GRAPHS = {
    "plain": lambda: toy_graphs.messy(),
    "weighted": lambda: toy_graphs.messy(weighted_edges=True),
    "directed": lambda: toy_graphs.messy(directed=True, isolated=True),
    "self-loops": lambda: toy_graphs.messy(self_loops="keep"),
    "relations": lambda: toy_graphs.messy(n_relations=3),
}
# One edge at a time is one neighbor at a time.
SETTINGS = [
    (name, most)
    for name in NEIGHBORHOODS
    for most in (None, 1, 3)
    if not (name == "edges" and most == 3)
]


@pytest.fixture(params=list(GRAPHS))
def graph(request: pytest.FixtureRequest) -> Graph:
    return GRAPHS[request.param]()


@pytest.fixture(params=SETTINGS, ids=lambda setting: f"{setting[0]}-{setting[1]}")
def neighborhood(request: pytest.FixtureRequest, graph: Graph) -> Neighborhood:
    name, most = request.param
    return NEIGHBORHOODS[name](graph, most)


def test_an_epoch_visits_all_nodes_with_neighbors_and_no_others(
    neighborhood: Neighborhood, graph: Graph
) -> None:
    visits = neighborhood.visits()
    assert visits.dtype == np.int64
    assert len(np.unique(visits)) == len(visits)
    nodes = neighborhood.draw(visits, np.uint64(5)).nodes
    assert nodes.dtype == np.int32
    assert sorted(set(nodes.tolist())) == np.flatnonzero(graph.neighbors.sizes).tolist()


def test_as_many_speak_as_announced(neighborhood: Neighborhood, graph: Graph) -> None:
    speakers = neighborhood.draw(neighborhood.visits(), np.uint64(5))
    np.testing.assert_array_equal(speakers.ends - speakers.starts, neighborhood.sizes())
    assert neighborhood.sizes().min() > 0
    for low, high in zip(speakers.starts, speakers.ends, strict=True):
        ids = speakers.ids[low:high]
        assert ((ids >= 0) & (ids < graph.n_nodes)).all()


def test_weights_are_positive_and_there_only_if_the_graph_has_some(
    neighborhood: Neighborhood, graph: Graph
) -> None:
    speakers = neighborhood.draw(neighborhood.visits(), np.uint64(5))
    if speakers.weights is not None:
        assert graph.neighbors.weights is not None
        assert len(speakers.weights) == len(speakers.ids)
        assert (speakers.weights > 0).all()


def test_whoever_speaks_over_an_edge_has_the_place_and_weight_of_that_edge(
    neighborhood: Neighborhood, graph: Graph
) -> None:
    speakers = neighborhood.draw(neighborhood.visits(), np.uint64(5))
    if not neighborhood.has_edges:
        assert speakers.places is None
        return
    targets = np.repeat(np.arange(graph.n_nodes), graph.neighbors.sizes)
    for node, low, high in zip(speakers.nodes, speakers.starts, speakers.ends, strict=True):
        places = np.arange(low, high) if speakers.places is None else speakers.places[low:high]
        assert (targets[places] == node).all()
        np.testing.assert_array_equal(speakers.ids[low:high], graph.neighbors.ids[places])
        if graph.neighbors.weights is not None:
            assert speakers.weights is not None
            weights = graph.neighbors.weights[places]
            np.testing.assert_array_equal(speakers.weights[low:high], weights)


def test_a_draw_depends_on_key_and_visit_alone(neighborhood: Neighborhood) -> None:
    visits = neighborhood.visits()
    together = neighborhood.draw(visits, np.uint64(9))
    for i in (0, 7, len(visits) - 1):
        alone = neighborhood.draw(visits[i : i + 1], np.uint64(9))
        assert alone.nodes.tolist() == [together.nodes[i]]
        np.testing.assert_array_equal(
            together.ids[together.starts[i] : together.ends[i]],
            alone.ids[alone.starts[0] : alone.ends[0]],
        )


def test_no_visits_have_no_speakers(neighborhood: Neighborhood) -> None:
    speakers = neighborhood.draw(np.empty(0, np.int64), np.uint64(0))
    assert len(speakers.nodes) == len(speakers.starts) == len(speakers.ends) == 0

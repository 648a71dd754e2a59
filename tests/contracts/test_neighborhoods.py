"""What every neighborhood must do; a new one is tested by being registered."""

from __future__ import annotations

import numpy as np
import pytest
from tests import toy_graphs

from embedprop import Graph
from embedprop.training.neighborhoods import NEIGHBORHOODS, Neighborhood

GRAPHS = {
    "plain": lambda: toy_graphs.messy(),
    "weighted": lambda: toy_graphs.messy(weighted_edges=True),
    "directed": lambda: toy_graphs.messy(directed=True, isolated=True),
}


@pytest.fixture(params=list(GRAPHS))
def graph(request: pytest.FixtureRequest) -> Graph:
    return GRAPHS[request.param]()


@pytest.fixture(params=[None, 1, 3])
def most(request: pytest.FixtureRequest) -> int | None:
    return request.param


@pytest.fixture(params=list(NEIGHBORHOODS))
def neighborhood(request: pytest.FixtureRequest, graph: Graph, most: int | None) -> Neighborhood:
    return NEIGHBORHOODS[request.param](graph, most)


def test_as_many_speak_as_announced(neighborhood: Neighborhood, graph: Graph) -> None:
    nodes = np.arange(graph.n_nodes, dtype=np.int32)
    speakers = neighborhood.draw(nodes, np.uint64(5))
    np.testing.assert_array_equal(speakers.ends - speakers.starts, neighborhood.sizes())
    for low, high in zip(speakers.starts, speakers.ends, strict=True):
        ids = speakers.ids[low:high]
        assert ((ids >= 0) & (ids < graph.n_nodes)).all()


def test_weights_are_positive_and_there_only_if_the_graph_has_some(
    neighborhood: Neighborhood, graph: Graph
) -> None:
    speakers = neighborhood.draw(np.arange(graph.n_nodes, dtype=np.int32), np.uint64(5))
    if graph.neighbors.weights is None:
        assert speakers.weights is None
    else:
        assert speakers.weights is not None
        assert len(speakers.weights) == len(speakers.ids)
        assert (speakers.weights > 0).all()


def test_a_draw_depends_on_key_and_node_alone(neighborhood: Neighborhood, graph: Graph) -> None:
    nodes = np.arange(graph.n_nodes, dtype=np.int32)
    together = neighborhood.draw(nodes, np.uint64(9))
    for node in (0, 7, graph.n_nodes - 1):
        alone = neighborhood.draw(nodes[node : node + 1], np.uint64(9))
        np.testing.assert_array_equal(
            together.ids[together.starts[node] : together.ends[node]],
            alone.ids[alone.starts[0] : alone.ends[0]],
        )


def test_no_nodes_have_no_speakers(neighborhood: Neighborhood) -> None:
    speakers = neighborhood.draw(np.empty(0, np.int32), np.uint64(0))
    assert len(speakers.starts) == len(speakers.ends) == 0

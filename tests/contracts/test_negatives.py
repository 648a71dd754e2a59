"""What every way to draw negatives must do; a new one is tested by being registered."""

from __future__ import annotations

import numpy as np
import pytest
from tests import toy_graphs

from embedprop import Graph
from embedprop.training.negatives import NEGATIVES, Negatives

KEYS = [np.uint64(key) for key in range(30)]
GRAPHS = {
    "two nodes": lambda: Graph.from_edges([("a", "b")]),
    "star": lambda: Graph.from_edges([(0, i) for i in range(1, 8)]),
    "isolated nodes": lambda: toy_graphs.messy(isolated=True),
    "directed": lambda: toy_graphs.messy(directed=True),
    "a self-loop holds all the degree": lambda: Graph.from_edges(
        [(0, 0)], nodes=range(4), self_loops="keep"
    ),
}


@pytest.fixture(params=GRAPHS, ids=[name.replace(" ", "_") for name in GRAPHS])
def graph(request: pytest.FixtureRequest) -> Graph:
    return GRAPHS[request.param]()


@pytest.fixture(params=list(NEGATIVES))
def negatives(request: pytest.FixtureRequest, graph: Graph) -> Negatives:
    return NEGATIVES[request.param](graph)


def test_no_negative_is_its_own_node(negatives: Negatives, graph: Graph) -> None:
    nodes = np.arange(graph.n_nodes, dtype=np.int32)
    for key in KEYS:
        drawn = negatives.draw(nodes, 3, key)
        assert drawn.shape == (graph.n_nodes, 3)
        assert drawn.dtype == np.int32
        assert (drawn != nodes[:, None]).all()
        assert ((drawn >= 0) & (drawn < graph.n_nodes)).all()


def test_a_draw_depends_on_key_and_node_alone(negatives: Negatives, graph: Graph) -> None:
    nodes = np.arange(graph.n_nodes, dtype=np.int32)
    together = negatives.draw(nodes, 4, KEYS[1])
    backwards = negatives.draw(nodes[::-1].copy(), 4, KEYS[1])
    np.testing.assert_array_equal(together, backwards[::-1])
    np.testing.assert_array_equal(together[1:2], negatives.draw(nodes[1:2], 4, KEYS[1]))


def test_no_nodes_have_no_negatives(negatives: Negatives) -> None:
    assert negatives.draw(np.empty(0, np.int32), 2, KEYS[0]).shape == (0, 2)


@pytest.mark.parametrize("name", list(NEGATIVES))
def test_other_keys_give_other_negatives(name: str) -> None:
    graph = toy_graphs.messy()
    draws = {NEGATIVES[name](graph).draw(np.array([0], np.int32), 1, key).item() for key in KEYS}
    assert len(draws) > 3

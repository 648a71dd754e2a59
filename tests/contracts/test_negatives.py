"""What every way to draw negatives must do; a new one is tested by being registered."""

from __future__ import annotations

import numpy as np
import pytest
from tests import toy_graphs

from embedprop import Graph
from embedprop.instance.catalog import NEGATIVES
from embedprop.methods.epb.negatives import Negatives

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


@pytest.mark.parametrize("batch_size", [1, 2, 5, 1000])
def test_no_negative_is_its_own_node(negatives: Negatives, graph: Graph, batch_size: int) -> None:
    for key in KEYS:
        # Nodes come several times, as when each edge is a visit of its own.
        nodes = np.random.default_rng(key).integers(graph.n_nodes, size=40, dtype=np.int32)
        drawn = negatives.draw(nodes, 3, key, batch_size, np.arange(100, 140))
        assert drawn.shape == (40, 3)
        assert drawn.dtype == np.int32
        assert (drawn != nodes[:, None]).all()
        assert ((drawn >= 0) & (drawn < graph.n_nodes)).all()


def test_a_draw_depends_on_key_and_batch_alone(negatives: Negatives, graph: Graph) -> None:
    nodes, visits = np.arange(graph.n_nodes, dtype=np.int32), np.arange(graph.n_nodes)
    together = negatives.draw(nodes, 4, KEYS[1], 3, visits)
    cuts = range(3, graph.n_nodes, 3)
    alone = [
        negatives.draw(some, 4, KEYS[1], 3, their_visits)
        for some, their_visits in zip(np.split(nodes, cuts), np.split(visits, cuts), strict=True)
    ]
    np.testing.assert_array_equal(together, np.concatenate(alone))


def test_visits_are_the_nodes_where_none_are_given(negatives: Negatives, graph: Graph) -> None:
    nodes = np.arange(graph.n_nodes, dtype=np.int32)[::-1].copy()
    np.testing.assert_array_equal(
        negatives.draw(nodes, 4, KEYS[1], 3),
        negatives.draw(nodes, 4, KEYS[1], 3, nodes.astype(np.int64)),
    )


def test_no_nodes_have_no_negatives(negatives: Negatives) -> None:
    assert negatives.draw(np.empty(0, np.int32), 2, KEYS[0], 3).shape == (0, 2)


@pytest.mark.parametrize("name", list(NEGATIVES))
def test_over_epochs_every_other_node_with_edges_becomes_a_negative(name: str) -> None:
    graph, met = toy_graphs.messy(isolated=True), set()
    negatives, visited = NEGATIVES[name](graph), np.flatnonzero(graph.degrees).astype(np.int32)
    for epoch in range(300):
        order = np.random.default_rng(epoch).permutation(visited)
        drawn = negatives.draw(order, 1, np.uint64(epoch), 6)
        met.add(drawn[order == 4].item())
    assert set(visited.tolist()) - {4} <= met

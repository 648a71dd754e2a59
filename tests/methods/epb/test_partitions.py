"""Partitions of the nodes: who meets whom, and what a round may see."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests import toy_graphs

from embedprop import Graph
from embedprop.errors import InvalidParameterError
from embedprop.instance.catalog import NEGATIVES, NEIGHBORHOODS
from embedprop.instance.epb import EPBInstance
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.neighborhoods import InnerGraph, Partitions, tournament
from embedprop.methods.epb.task import TrainingPlan
from embedprop.methods.random_streams import RandomStreams

STREAMS = RandomStreams(0)


def drawer_of(
    graph: Graph,
    n_partitions: int,
    *,
    neighborhood: str = "neighbors",
    negatives: str = "uniform",
    max_neighbors: int | None = None,
) -> Drawer:
    n_relations = 0 if graph.relations is None else len(graph.relations)
    instance = EPBInstance({}, 2, negatives, neighborhood, max_neighbors, n_relations=n_relations)
    return Drawer(graph, instance, TrainingPlan(batch_size=6, n_partitions=n_partitions))


@pytest.fixture(scope="module")
def graph() -> Graph:
    return toy_graphs.messy(60, isolated=True, weighted_edges=True)


@pytest.mark.parametrize("n_teams", [2, 4, 6, 10])
def test_in_a_tournament_everyone_meets_everyone_once(n_teams: int) -> None:
    rounds = [tournament(n_teams, number) for number in range(n_teams - 1)]
    for pairs in rounds:
        assert sorted(team for pair in pairs for team in pair) == list(range(n_teams))
    met = sorted(tuple(sorted(pair)) for pairs in rounds for pair in pairs)
    assert met == list(combinations(range(n_teams), 2))


def test_after_all_epochs_of_a_cycle_every_pair_has_met_and_the_order_is_seeded() -> None:
    parts = Partitions(100, 6)
    epochs = [parts.pairs(epoch, STREAMS) for epoch in range(10)]
    for cycle in (epochs[:5], epochs[5:]):
        met = sorted(tuple(sorted(pair)) for pairs in cycle for pair in pairs)
        assert met == list(combinations(range(6), 2))
    assert epochs == [parts.pairs(epoch, STREAMS) for epoch in range(10)]
    assert epochs != [parts.pairs(epoch, RandomStreams(1)) for epoch in range(10)]


@pytest.mark.parametrize(("n_nodes", "n_partitions"), [(8, 8), (63, 4), (100, 6)])
def test_every_node_is_in_one_partition_of_an_epoch(n_nodes: int, n_partitions: int) -> None:
    parts = Partitions(n_nodes, n_partitions)
    found = [
        node
        for pair in parts.pairs(3, STREAMS)
        for low, high in parts.ranges(pair)
        for node in range(low, high)
    ]
    assert sorted(found) == list(range(n_nodes))


@pytest.mark.parametrize("n_partitions", [0, 1, 3, 12, -2])
def test_a_number_of_partitions_that_is_odd_or_too_large_is_refused(n_partitions: int) -> None:
    with pytest.raises(InvalidParameterError, match=r"an even number from 2 to .* nodes \(10\)"):
        Partitions(10, n_partitions)


@pytest.mark.parametrize("max_neighbors", [None, 2])
@pytest.mark.parametrize("negatives", list(NEGATIVES))
@pytest.mark.parametrize("neighborhood", list(NEIGHBORHOODS))
def test_a_round_meets_nobody_outside_its_pair(
    graph: Graph, neighborhood: str, negatives: str, max_neighbors: int | None
) -> None:
    most = None if neighborhood == "edges" else max_neighbors
    drawer = drawer_of(graph, 6, neighborhood=neighborhood, negatives=negatives, max_neighbors=most)
    for epoch in range(3):
        for part in drawer.rounds(epoch):
            inside = {node for low, high in part.ranges for node in range(low, high)}
            draws = part.draw(part.order)
            heard = [draws.neighbor_ids[s:e] for s, e in zip(draws.starts, draws.ends, strict=True)]
            assert inside >= set(draws.nodes.tolist())
            assert inside >= set(draws.negatives.ravel().tolist())
            assert inside >= {int(x) for ids in heard for x in ids}
            assert (draws.negatives != draws.nodes[:, None]).all()
            assert all(len(ids) for ids in heard)


@pytest.mark.parametrize("max_neighbors", [None, 2])
def test_a_node_hears_all_its_neighbors_in_the_pair_or_kappa_of_them(
    graph: Graph, max_neighbors: int | None
) -> None:
    drawer = drawer_of(graph, 4, max_neighbors=max_neighbors)
    visited = []
    for part in drawer.rounds(0):
        inside = [node for low, high in part.ranges for node in range(low, high)]
        draws = part.draw(part.order)
        visited += draws.nodes.tolist()
        expected = {v: np.intersect1d(graph.neighbors.of(v), inside) for v in inside}
        assert set(draws.nodes.tolist()) == {v for v, ids in expected.items() if len(ids)}
        for node, start, end in zip(draws.nodes, draws.starts, draws.ends, strict=True):
            heard = draws.neighbor_ids[start:end]
            assert set(heard) <= set(expected[node])
            assert len(heard) == min(len(expected[node]), max_neighbors or 1000)
    assert len(visited) == len(set(visited))


@pytest.mark.parametrize("neighborhood", ["neighbors", "edges"])
@pytest.mark.parametrize("max_neighbors", [None, 1])
def test_weights_and_relations_are_those_of_the_edges(
    neighborhood: str, max_neighbors: int | None
) -> None:
    graph = toy_graphs.messy(40, directed=True, weighted_edges=True, n_relations=3)
    owners = np.repeat(np.arange(graph.n_nodes), graph.neighbors.sizes)
    drawer = drawer_of(graph, 4, neighborhood=neighborhood, max_neighbors=max_neighbors)
    for part in drawer.rounds(1):
        draws = part.draw(part.order)
        at = np.concatenate(
            [np.arange(s, e) for s, e in zip(draws.starts, draws.ends, strict=True)]
        )
        positions = np.repeat(np.arange(len(draws.nodes)), draws.ends - draws.starts)
        places = draws.places[at]
        np.testing.assert_array_equal(owners[places], draws.nodes[positions])
        np.testing.assert_array_equal(graph.neighbors.ids[places], draws.neighbor_ids[at])
        np.testing.assert_array_equal(graph.neighbors.weights[places], draws.neighbor_weights[at])
        np.testing.assert_array_equal(
            graph.neighbor_relations[places], draws.neighbor_relations[at]
        )


def test_two_partitions_are_the_whole_graph(graph: Graph) -> None:
    drawer = drawer_of(graph, 2, max_neighbors=2)
    (part,) = drawer.rounds(5)
    np.testing.assert_array_equal(part.order, drawer.order(5))
    for one, other in zip(part.draw(part.order), drawer.draw(5, part.order), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_inner_graph_of_all_nodes_is_the_graph(graph: Graph) -> None:
    inner = InnerGraph.of(graph, [(0, 20), (20, graph.n_nodes)])
    np.testing.assert_array_equal(inner.neighbors.ptr, graph.neighbors.ptr)
    np.testing.assert_array_equal(inner.neighbor_ids, graph.neighbors.ids)
    np.testing.assert_array_equal(inner.neighbors.weights, graph.neighbors.weights)


def test_rounds_draw_apart_from_each_other(graph: Graph) -> None:
    drawer = drawer_of(graph, 4)
    first, second = (part.draw(part.order[:5]).negatives.tolist() for part in drawer.rounds(0))
    assert first != second


def test_a_pair_without_an_edge_between_its_nodes_is_left_out() -> None:
    drawer = drawer_of(Graph.from_edges([(0, 1)], nodes=range(8)), 8)
    shares = [[part.share(len(part.order)) for part in drawer.rounds(epoch)] for epoch in range(7)]
    assert sorted(map(len, shares)) == [0, 0, 0, 0, 0, 0, 1]

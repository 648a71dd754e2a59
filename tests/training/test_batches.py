from __future__ import annotations

import numpy as np
import pytest
from tests import toy_graphs

from embedprop import Graph
from embedprop.instance import Instance
from embedprop.training.batches import Drawer
from embedprop.training.random_streams import RandomStreams


def drawer_of(graph: Graph, seed: int = 0, max_neighbors: int | None = 2) -> Drawer:
    instance = Instance("epb", {}, 2, "uniform", "neighbors", max_neighbors)
    return Drawer(graph, instance, RandomStreams(seed), np.float32)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return toy_graphs.messy(isolated=True, weighted_edges=True)


def test_an_epoch_visits_every_node_with_neighbors_once(graph: Graph) -> None:
    drawer = drawer_of(graph)
    visited = np.flatnonzero(graph.neighbors.sizes > 0)
    assert len(visited) < graph.n_nodes
    for epoch in range(3):
        assert sorted(drawer.order(epoch)) == visited.tolist()


def test_every_epoch_has_its_own_order(graph: Graph) -> None:
    drawer = drawer_of(graph)
    assert drawer.order(0).tolist() == drawer.order(0).tolist()
    assert drawer.order(0).tolist() != drawer.order(1).tolist()
    assert drawer.order(0).tolist() != drawer_of(graph, seed=1).order(0).tolist()


def test_draws_do_not_depend_on_how_an_epoch_is_cut(graph: Graph) -> None:
    drawer = drawer_of(graph)
    order = drawer.order(4)
    whole, parts = drawer.draw(4, order), [drawer.draw(4, part) for part in np.split(order, [3, 9])]
    np.testing.assert_array_equal(
        whole.negatives, np.concatenate([part.negatives for part in parts])
    )
    cut = [
        (part.neighbor_ids[low:high].tolist(), part.neighbor_weights[low:high].tolist())
        for part in parts
        for low, high in zip(part.starts, part.ends, strict=True)
    ]
    uncut = [
        (whole.neighbor_ids[low:high].tolist(), whole.neighbor_weights[low:high].tolist())
        for low, high in zip(whole.starts, whole.ends, strict=True)
    ]
    assert cut == uncut


def test_negatives_and_neighbors_are_drawn_afresh_each_epoch(graph: Graph) -> None:
    drawer, nodes = drawer_of(graph), np.flatnonzero(graph.neighbors.sizes > 3).astype(np.int32)
    first, second = drawer.draw(0, nodes), drawer.draw(1, nodes)
    assert (first.negatives != second.negatives).any()
    assert (first.neighbor_ids != second.neighbor_ids).any()


def test_no_negative_is_the_node_itself(graph: Graph) -> None:
    drawer = drawer_of(graph)
    for epoch in range(20):
        draws = drawer.draw(epoch, drawer.visited)
        assert (draws.negatives != draws.nodes[:, None]).all()
        assert draws.negatives.min() >= 0
        assert draws.negatives.max() < graph.n_nodes

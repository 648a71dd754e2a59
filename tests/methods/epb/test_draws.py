from __future__ import annotations

import numpy as np
import pytest
from tests import toy_graphs

from embedprop import Graph
from embedprop.errors import InvalidParameterError
from embedprop.instance.catalog import NEGATIVES, NEIGHBORHOODS
from embedprop.instance.epb import EPBInstance
from embedprop.instance.parameters import EPBParameters
from embedprop.kernels.epb.batch import Draws
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.method import EPBMethod
from embedprop.methods.epb.task import TrainingPlan


def drawer_of(
    graph: Graph,
    seed: int = 0,
    max_neighbors: int | None = 2,
    neighborhood: str = "neighbors",
    negatives: str = "uniform",
) -> Drawer:
    n_relations = 0 if graph.relations is None else len(graph.relations)
    instance = EPBInstance({}, 2, negatives, neighborhood, max_neighbors, n_relations=n_relations)
    return Drawer(graph, instance, TrainingPlan(seed=seed, batch_size=6))


def edges_of(graph: Graph) -> list[tuple[int, int, int]]:
    """All (x, relation, v) of the graph, sorted."""
    assert graph.neighbor_relations is not None
    targets = np.repeat(np.arange(graph.n_nodes), graph.neighbors.sizes)
    relations = graph.neighbor_relations.tolist()
    return sorted(zip(graph.neighbors.ids.tolist(), relations, targets.tolist(), strict=True))


def traveled(draws: Draws) -> list[tuple[int, int, int]]:
    """All (x, relation, v) over which labels travel, sorted."""
    return sorted(
        (int(draws.neighbor_ids[e]), int(draws.neighbor_relations[e]), int(node))
        for node, start, end in zip(draws.nodes, draws.starts, draws.ends, strict=True)
        for e in range(start, end)
    )


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


@pytest.mark.parametrize("negatives", list(NEGATIVES))
@pytest.mark.parametrize("neighborhood", list(NEIGHBORHOODS))
def test_draws_do_not_depend_on_how_an_epoch_is_cut_between_batches(
    graph: Graph, neighborhood: str, negatives: str
) -> None:
    drawer = drawer_of(graph, 0, None, neighborhood, negatives)
    order = drawer.order(4)
    whole, parts = (
        drawer.draw(4, order),
        [drawer.draw(4, part) for part in np.split(order, [6, 18])],
    )
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
    drawer, nodes = drawer_of(graph), np.flatnonzero(graph.neighbors.sizes > 3)
    first, second = drawer.draw(0, nodes), drawer.draw(1, nodes)
    assert (first.negatives != second.negatives).any()
    assert (first.neighbor_ids != second.neighbor_ids).any()


@pytest.mark.parametrize("negatives", list(NEGATIVES))
@pytest.mark.parametrize("neighborhood", list(NEIGHBORHOODS))
def test_no_negative_is_the_node_itself(graph: Graph, neighborhood: str, negatives: str) -> None:
    drawer = drawer_of(graph, 0, None, neighborhood, negatives)
    for epoch in range(20):
        draws = drawer.draw(epoch, drawer.order(epoch))
        assert (draws.negatives != draws.nodes[:, None]).all()
        assert draws.negatives.min() >= 0
        assert draws.negatives.max() < graph.n_nodes


@pytest.fixture(scope="module")
def related() -> Graph:
    """Edges of three types, some between the same two nodes."""
    graph = toy_graphs.messy(directed=True, n_relations=3)
    pairs = [(x, v) for x, _, v in edges_of(graph)]
    assert len(set(pairs)) < len(pairs)
    return graph


@pytest.mark.parametrize(
    ("neighborhood", "most"), [("neighbors", None), ("edges", None), ("edges", 1)]
)
def test_labels_travel_over_every_edge_once_with_its_own_relation(
    related: Graph, neighborhood: str, most: int | None
) -> None:
    drawer = drawer_of(related, 0, most, neighborhood)
    for epoch in range(3):
        assert traveled(drawer.draw(epoch, drawer.order(epoch))) == edges_of(related)


def test_drawn_neighbors_keep_the_relation_and_the_place_of_their_edge(related: Graph) -> None:
    drawer = drawer_of(related, max_neighbors=2)
    draws = drawer.draw(0, drawer.order(0))
    some, all_edges = traveled(draws), edges_of(related)
    assert len(set(some)) == len(some) < len(all_edges)
    assert set(some) <= set(all_edges)
    np.testing.assert_array_equal(related.neighbors.ids[draws.places], draws.neighbor_ids)
    np.testing.assert_array_equal(
        related.neighbor_relations[draws.places], draws.neighbor_relations
    )


def test_a_graph_without_relations_has_none_in_its_draws(graph: Graph) -> None:
    drawer = drawer_of(graph)
    assert len(drawer.draw(0, drawer.visits).neighbor_relations) == 0


def test_each_edge_of_a_node_is_compared_with_negatives_of_its_own() -> None:
    star = Graph.from_edges([(i, 0) for i in range(1, 200)], directed=True, nodes=range(200))
    drawer = drawer_of(star, 0, None, "edges")
    draws = drawer.draw(0, drawer.order(0))
    assert set(draws.nodes.tolist()) == {0}
    assert len({tuple(pair) for pair in draws.negatives.tolist()}) > 190


def test_walks_over_relations_are_refused(related: Graph) -> None:
    with pytest.raises(
        InvalidParameterError,
        match=r"neighborhood='walks' cannot be combined with relations: .* Choose "
        r"neighborhood='neighbors' or 'edges'",
    ):
        EPBMethod.of(EPBParameters(neighborhood="walks"), related.kinds, n_relations=3)

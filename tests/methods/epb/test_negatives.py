from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare
from tests import toy_graphs

from embedprop import Graph
from embedprop.instance.catalog import NEGATIVES
from embedprop.methods.epb.negatives import (
    DegreeNegatives,
    InBatchNegatives,
    SharedNegatives,
    UniformNegatives,
)

UNLIKELY = 1e-4
KEYS = [np.uint64(key) for key in range(3000)]


def counts_of(drawn: np.ndarray, n_nodes: int) -> np.ndarray:
    return np.bincount(drawn.ravel(), minlength=n_nodes)


def test_uniform_negatives_come_equally_often(path: Graph) -> None:
    drawn = UniformNegatives(path).draw(np.array([1], np.int32), 6000, KEYS[0], 1)
    counts = counts_of(drawn, 5)
    assert counts[1] == 0
    assert chisquare(np.delete(counts, 1)).pvalue > UNLIKELY


@pytest.mark.parametrize("name", list(NEGATIVES))
def test_the_first_negative_is_fair_over_epochs(path: Graph, name: str) -> None:
    negatives = NEGATIVES[name](path)
    drawn = np.array([negatives.draw(np.array([2], np.int32), 1, key, 1)[0, 0] for key in KEYS])
    counts = np.delete(counts_of(drawn, 5), 2)
    share = path.degrees[[0, 1, 3, 4]] ** (0.75 if name == "degree" else 0.0)
    assert chisquare(counts, share / share.sum() * len(KEYS)).pvalue > UNLIKELY


def test_degree_negatives_come_as_often_as_degree_to_the_three_quarters() -> None:
    star = Graph.from_edges([(0, i) for i in range(1, 17)], nodes=range(18))  # 17 is isolated
    drawn = DegreeNegatives(star).draw(np.array([5], np.int32), 20_000, KEYS[1], 1)
    counts = counts_of(drawn, 18)
    assert counts[5] == 0
    assert counts[17] == 0
    # 16^0.75 = 8 against fifteen other leaves of weight 1
    expected = np.array([8] + [1] * 15) / 23 * 20_000
    assert chisquare(counts[[0, *range(1, 5), *range(6, 17)]], expected).pvalue > UNLIKELY


def test_degree_counts_edges_in_both_directions_of_a_directed_graph() -> None:
    # 0 has 16 arcs out and none in; 1 has none out and 1 in.
    graph = Graph.from_edges([(0, i) for i in range(1, 17)], directed=True)
    drawn = DegreeNegatives(graph).draw(np.array([1], np.int32), 20_000, KEYS[2], 1)
    counts = counts_of(drawn, 17)
    assert counts[0] == pytest.approx(20_000 * 8 / 23, rel=0.1)


def test_an_isolated_node_can_be_a_uniform_negative() -> None:
    graph = Graph.from_edges([(0, 1)], nodes=range(3))
    assert 2 in UniformNegatives(graph).draw(np.array([0], np.int32), 50, KEYS[0], 1)


@pytest.mark.parametrize("name", ["uniform", "degree"])
def test_these_depend_on_key_and_node_alone(name: str) -> None:
    negatives, nodes = NEGATIVES[name](toy_graphs.messy()), np.arange(22, dtype=np.int32)
    together = negatives.draw(nodes, 4, KEYS[1], 6)
    backwards = negatives.draw(nodes[::-1].copy(), 4, KEYS[1], 6)
    np.testing.assert_array_equal(together, backwards[::-1])
    np.testing.assert_array_equal(together[1:2], negatives.draw(nodes[1:2], 4, KEYS[1], 6))


@pytest.mark.parametrize("name", ["uniform", "degree"])
def test_a_node_that_is_visited_twice_draws_twice(name: str) -> None:
    negatives = NEGATIVES[name](toy_graphs.messy())
    drawn = negatives.draw(np.full(2, 7, np.int32), 10, KEYS[0], 2, np.array([3, 4]))
    assert (drawn[0] != drawn[1]).any()


def test_in_batch_negatives_are_the_next_nodes_of_the_batch_in_a_circle() -> None:
    graph = toy_graphs.path(9)
    nodes = np.array([4, 2, 7, 1, 3, 8, 0], np.int32)
    drawn = InBatchNegatives(graph).draw(nodes, 2, KEYS[0], 4)
    assert drawn.tolist() == [[2, 7], [7, 1], [1, 4], [4, 2], [8, 0], [0, 3], [3, 8]]


def test_in_batch_negatives_leave_out_other_visits_of_the_node() -> None:
    nodes = np.array([5, 5, 2, 5, 1], np.int32)
    visits = np.arange(5)
    drawn = InBatchNegatives(toy_graphs.path(9)).draw(nodes, 2, KEYS[0], 5, visits)
    assert drawn.tolist() == [[2, 1], [2, 1], [5, 1], [1, 2], [5, 5]]


def test_a_batch_with_too_few_others_adds_uniform_negatives() -> None:
    graph, nodes = toy_graphs.path(6), np.array([3, 0], np.int32)
    drawn = InBatchNegatives(graph).draw(nodes, 4000, KEYS[0], 8)
    assert drawn[:, 0].tolist() == [0, 3]
    for node, others in zip(nodes, drawn[:, 1:], strict=True):
        counts = counts_of(others, 6)
        assert counts[node] == 0
        assert chisquare(np.delete(counts, node)).pvalue > UNLIKELY


def test_shared_negatives_are_the_same_for_the_whole_batch_but_for_the_node_itself() -> None:
    graph, nodes = toy_graphs.path(40), np.arange(39, -1, -1, dtype=np.int32)
    drawn = SharedNegatives(graph).draw(nodes, 30, KEYS[3], 10)
    for batch in range(4):
        rows, own = drawn[10 * batch : 10 * batch + 10], nodes[10 * batch : 10 * batch + 10, None]
        # The value that most of the ten rows have: a node of the batch is replaced in one row.
        shared = np.array([np.bincount(column).argmax() for column in rows.T])
        np.testing.assert_array_equal(rows != shared, own == shared)
        assert (own == shared).any()
    assert (drawn[0] != drawn[10]).sum() > 20


def test_shared_negatives_come_equally_often() -> None:
    graph, nodes = toy_graphs.path(6), np.array([2, 5], np.int32)
    drawn = np.array([SharedNegatives(graph).draw(nodes, 2, key, 2) for key in KEYS])
    for i, node in enumerate(nodes):
        for counts in (counts_of(drawn[:, i, j], 6) for j in range(2)):
            assert counts[node] == 0
            assert chisquare(np.delete(counts, node)).pvalue > UNLIKELY

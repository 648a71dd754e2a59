from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from embedprop import Graph
from embedprop.training.negatives import NEGATIVES, DegreeNegatives, UniformNegatives

UNLIKELY = 1e-4
KEYS = [np.uint64(key) for key in range(3000)]


def counts_of(drawn: np.ndarray, n_nodes: int) -> np.ndarray:
    return np.bincount(drawn.ravel(), minlength=n_nodes)


def test_uniform_negatives_come_equally_often(path: Graph) -> None:
    drawn = UniformNegatives(path).draw(np.array([1], np.int32), 6000, KEYS[0])
    counts = counts_of(drawn, 5)
    assert counts[1] == 0
    assert chisquare(np.delete(counts, 1)).pvalue > UNLIKELY


@pytest.mark.parametrize("name", list(NEGATIVES))
def test_the_first_negative_is_fair_over_epochs(path: Graph, name: str) -> None:
    negatives = NEGATIVES[name](path)
    drawn = np.array([negatives.draw(np.array([2], np.int32), 1, key)[0, 0] for key in KEYS])
    counts = np.delete(counts_of(drawn, 5), 2)
    share = path.degrees[[0, 1, 3, 4]] ** (0.75 if name == "degree" else 0.0)
    assert chisquare(counts, share / share.sum() * len(KEYS)).pvalue > UNLIKELY


def test_degree_negatives_come_as_often_as_degree_to_the_three_quarters() -> None:
    star = Graph.from_edges([(0, i) for i in range(1, 17)], nodes=range(18))  # 17 is isolated
    drawn = DegreeNegatives(star).draw(np.array([5], np.int32), 20_000, KEYS[1])
    counts = counts_of(drawn, 18)
    assert counts[5] == 0
    assert counts[17] == 0
    # 16^0.75 = 8 against fifteen other leaves of weight 1
    expected = np.array([8] + [1] * 15) / 23 * 20_000
    assert chisquare(counts[[0, *range(1, 5), *range(6, 17)]], expected).pvalue > UNLIKELY


def test_degree_counts_edges_in_both_directions_of_a_directed_graph() -> None:
    # 0 has 16 arcs out and none in; 1 has none out and 1 in.
    graph = Graph.from_edges([(0, i) for i in range(1, 17)], directed=True)
    counts = counts_of(DegreeNegatives(graph).draw(np.array([1], np.int32), 20_000, KEYS[2]), 17)
    assert counts[0] == pytest.approx(20_000 * 8 / 23, rel=0.1)


def test_an_isolated_node_can_be_a_uniform_negative() -> None:
    graph = Graph.from_edges([(0, 1)], nodes=range(3))
    assert 2 in UniformNegatives(graph).draw(np.array([0], np.int32), 50, KEYS[0])

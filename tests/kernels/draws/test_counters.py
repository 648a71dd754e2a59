from __future__ import annotations

import numpy as np
from scipy.stats import chisquare, kstest

from embedprop.kernels.draws.counters import draw_neighbors, draw_uniform, draw_weighted, uniform

KEY = np.uint64(0xFEDCBA9876543210)
# Seeds are fixed, so these tests pass always or never; a fair draw fails once in 10,000 choices.
UNLIKELY = 1e-4


def test_numbers_are_uniform_along_each_counter() -> None:
    along_index = [uniform(KEY, 3, i) for i in range(4000)]
    along_node = [uniform(KEY, i, 0) for i in range(4000)]
    along_key = [uniform(np.uint64(i), 3, 0) for i in range(4000)]
    for numbers in (along_index, along_node, along_key):
        assert min(numbers) >= 0
        assert max(numbers) < 1
        assert kstest(numbers, "uniform").pvalue > UNLIKELY


def test_neighboring_counters_are_independent() -> None:
    numbers = np.array([[uniform(KEY, node, i) for i in range(60)] for node in range(60)])
    for first, second in ((numbers[:, 1:], numbers[:, :-1]), (numbers[1:], numbers[:-1])):
        assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.06


def test_the_same_counters_give_the_same_number() -> None:
    assert uniform(KEY, 3, 5) == uniform(KEY, 3, 5)
    assert len({uniform(KEY, 3, 5), uniform(KEY, 5, 3), uniform(KEY, 4, 5)}) == 3


def test_two_nodes_are_each_other_s_only_negative() -> None:
    nodes, visits = np.array([0, 1], np.int32), np.array([0, 1])
    assert draw_uniform(nodes, visits, 1, 2, 3, KEY).tolist() == [[1, 1, 1], [0, 0, 0]]
    for weights in ([1.0, 1.0], [1e-30, 1.0], [0.0, 1.0]):
        drawn = draw_weighted(nodes, visits, 1, np.cumsum(weights), 3, KEY)
        assert drawn.tolist() == [[1, 1, 1], [0, 0, 0]]


def test_a_node_with_all_the_weight_gets_the_others_as_negatives() -> None:
    cumulative = np.cumsum([0.0, 0.0, 5.0, 0.0])
    drawn = draw_weighted(np.array([2], np.int32), np.array([2]), 1, cumulative, 3000, KEY)
    counts = np.bincount(drawn.ravel(), minlength=4)
    assert counts[2] == 0
    assert chisquare(counts[[0, 1, 3]]).pvalue > UNLIKELY


def test_a_node_without_weight_is_never_drawn() -> None:
    cumulative = np.cumsum([0.0, 1.0, 0.0, 2.0, 0.0])
    drawn = draw_weighted(np.array([1], np.int32), np.array([1]), 1, cumulative, 500, KEY)
    assert set(drawn.ravel().tolist()) == {3}


def test_every_subset_of_neighbors_is_equally_likely() -> None:
    ptr = np.array([0, 0, 5], np.int64)  # node 1 has the neighbors at places 0 to 4
    subsets = {}
    for key in range(4000):
        places = draw_neighbors(
            np.array([1], np.int32), ptr, 2, np.array([0, 2]), np.uint64(key), 5
        )
        subset = tuple(sorted(places.tolist()))
        subsets[subset] = subsets.get(subset, 0) + 1
    assert len(subsets) == 10
    assert all(first != second for first, second in subsets)
    assert chisquare(list(subsets.values())).pvalue > UNLIKELY

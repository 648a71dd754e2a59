from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import multisets

from embedprop.graph.multisets import Multisets
from embedprop.representations import concatenate, embeddings

VECTORS = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)


def test_h_is_the_weighted_mean_and_an_empty_set_has_zeros() -> None:
    sets = Multisets.from_lists([[0, 1], [], [2, 2, 1]], weights=[[1, 3], [], [1, 1, 2]])
    h, totals = embeddings(sets, VECTORS)
    a, b, c = VECTORS[:3]
    np.testing.assert_allclose(h, [(a + 3 * b) / 4, 0 * a, (c + b) / 2], rtol=1e-5)
    assert totals.tolist() == [4, 0, 4]


@given(multisets(max_id=8), st.randoms(use_true_random=False))
def test_a_mean_does_not_depend_on_the_order_within_a_multiset(sets: Multisets, random) -> None:
    lists, weights = [], []
    for i in range(sets.n_sets):
        pairs = list(zip(sets.of(i).tolist(), sets.weights_of(i).tolist(), strict=True))
        random.shuffle(pairs)
        lists.append([id_ for id_, _ in pairs])
        weights.append([weight for _, weight in pairs])
    shuffled = Multisets.from_lists(lists, weights=weights)
    h, totals = embeddings(sets, VECTORS)
    other, other_totals = embeddings(shuffled, VECTORS)
    np.testing.assert_allclose(h, other, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(totals, other_totals, rtol=1e-5)


def test_r_puts_label_types_side_by_side_and_copies_a_single_one_not() -> None:
    assert concatenate([VECTORS]) is VECTORS
    np.testing.assert_array_equal(concatenate([VECTORS, -VECTORS]), np.hstack([VECTORS, -VECTORS]))

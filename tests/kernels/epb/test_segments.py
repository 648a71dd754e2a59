from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import multisets

from embedprop.graph.multisets import Multisets
from embedprop.kernels.epb.segments import squared_distance, sum_rows, weighted_means
from embedprop.kernels.machine.arrays import BLOCK, USUAL_WIDTH

NOTHING = np.empty(0, np.float32)
SOURCE = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)


def expected_sum(source: np.ndarray, ids: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return weights.astype(np.float64) @ source[ids].astype(np.float64)


WIDTHS = [BLOCK, 3 * BLOCK, USUAL_WIDTH, 2 * USUAL_WIDTH]


@given(st.lists(st.integers(0, 8), max_size=11), st.booleans(), st.sampled_from(WIDTHS))
def test_a_sum_over_rows_is_the_weighted_sum(
    members: list[int], weighted: bool, width: int
) -> None:
    source = np.random.default_rng(width).normal(size=(9, width)).astype(np.float32)
    ids = np.array([7, *members, 7], np.int32)  # the first and the last are no part of it
    weights = np.linspace(0.5, 2, len(ids), dtype=np.float32) if weighted else NOTHING
    total = np.full(width, np.nan, np.float32)
    sum_rows(total, source, ids, weights, 1, len(ids) - 1, weighted)
    own = weights[1:-1] if weighted else np.ones(len(members))
    np.testing.assert_allclose(total, expected_sum(source, ids[1:-1], own), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("k", [0, BLOCK])
def test_the_squared_distance_is_euclidean_over_one_block_of_columns(k: int) -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 3 * BLOCK))
    expected = np.linalg.norm(a[k : k + BLOCK] - b[k : k + BLOCK]) ** 2
    assert squared_distance(a, b, k) == pytest.approx(expected)
    assert squared_distance(a, a, k) == 0


@given(multisets(max_id=8), st.booleans())
def test_weighted_means_are_means_by_weight_times_mass(sets: Multisets, with_mass: bool) -> None:
    masses = np.arange(9, dtype=np.float32) if with_mass else NOTHING  # member 0 has no mass
    out = np.full((sets.n_sets, 5), 7, np.float32)
    weights = NOTHING if sets.weights is None else sets.weights
    totals = weighted_means(SOURCE, 1, 3, masses, sets.ptr, sets.ids, weights, out, 2)
    for i in range(sets.n_sets):
        ids = sets.of(i)
        counts = sets.weights_of(i).astype(np.float64) * (ids if with_mass else 1)
        assert totals[i] == pytest.approx(counts.sum(), rel=1e-5)
        if counts.sum() > 0:
            mean = expected_sum(SOURCE, ids, counts)[1:] / counts.sum()
            np.testing.assert_allclose(out[i, 2:4], mean, rtol=1e-4, atol=1e-5)
        else:
            assert (out[i, 2:4] == 7).all()
    assert (out[:, [0, 1, 4]] == 7).all()

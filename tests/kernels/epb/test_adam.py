"""Adam at sparse cost is torch's dense Adam, whichever rows get gradients and are read when."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.epb.lazy_adam import Twins

from embedprop.kernels.epb.adam import MOMENTUM_SPAN, VARIANCE_SPAN, YOUNG, adam_tables
from embedprop.kernels.machine.arrays import BLOCK, USUAL_WIDTH

N_ROWS = 3
SPAN = MOMENTUM_SPAN[np.dtype(np.float64)]
SHORT_SPAN = MOMENTUM_SPAN[np.dtype(np.float32)]

rows = st.sets(st.integers(0, N_ROWS - 1))
numbers = st.sampled_from([-1.0, -0.4, -0.02, 0.03, 0.5, 1.0])
gradients = st.dictionaries(st.integers(0, N_ROWS - 1), st.tuples(numbers, numbers))
waits = st.sampled_from([0, 0, 0, 1, 2, 7, 40, SHORT_SPAN, SPAN - 1, SPAN, SPAN + 1])
first_steps = st.sampled_from([0, 0, YOUNG - 5, YOUNG, 5 * YOUNG, VARIANCE_SPAN - 3])
histories = st.lists(st.tuples(waits, gradients, rows), min_size=1, max_size=8)
EVERY_ROW = list(range(N_ROWS))


@settings(max_examples=25, derandomize=True)
@given(histories, first_steps)
def test_a_row_read_at_any_moment_equals_dense_adam_at_that_moment(
    history: list[Any], first_step: int
) -> None:
    twins = Twins(N_ROWS, first_step=first_step)
    for n_steps, some, read in history:
        twins.wait(n_steps)
        twins.add({row: np.array(gradient) for row, gradient in some.items()})
        if read:
            assert twins.error(sorted(read)) < 1e-5
    assert twins.error(EVERY_ROW) < 1e-5


@settings(max_examples=15, derandomize=True)
@given(histories, first_steps)
def test_float32_follows_dense_adam_in_float64(history: list[Any], first_step: int) -> None:
    twins = Twins(N_ROWS, first_step=first_step, dtype=np.float32)
    for n_steps, some, _ in history:
        twins.wait(n_steps)
        twins.add({row: np.array(gradient) for row, gradient in some.items()})
    assert twins.error(EVERY_ROW) < 1e-3


@pytest.mark.parametrize("first_step", [0, 2 * YOUNG])
@pytest.mark.parametrize("dim", [BLOCK + 1, USUAL_WIDTH])
def test_wide_rows_follow_dense_adam_in_every_column(dim: int, first_step: int) -> None:
    rng = np.random.default_rng(dim)
    twins = Twins(N_ROWS, dim, first_step=first_step)
    for _ in range(8):
        twins.add({int(row): rng.normal(size=dim) for row in rng.permutation(N_ROWS)[:2]})
        twins.wait(int(rng.integers(4)))
        assert twins.error(EVERY_ROW) < 1e-5
    assert twins.moved(0) > 1


@pytest.mark.parametrize("first_step", [0, YOUNG])
def test_the_order_of_reads_does_not_matter(first_step: int) -> None:
    twins = [Twins(1, first_step=first_step) for _ in range(2)]
    for eager in (False, True):
        one = twins[eager]
        one.add({0: np.array([0.5, -1.0])})
        for _ in range(50):
            one.wait(1)
            if eager:
                one.read([0])
    np.testing.assert_allclose(twins[0].read([0]), twins[1].read([0]), rtol=0, atol=1e-9)


def test_a_row_without_any_gradient_never_moves() -> None:
    twins = Twins(2)
    before = twins.read([1]).copy()
    twins.add({0: np.ones(2)})
    twins.wait(30)
    np.testing.assert_array_equal(twins.read([1]), before)
    assert twins.moved(0) > 1


def test_momentum_goes_on_moving_a_row_long_after_its_gradient() -> None:
    # Lazy Adam, which skips rows without a gradient, would move the row by 1 and stop.
    twins = Twins(1)
    twins.add({0: np.ones(2)})
    twins.wait(100)
    assert twins.moved(0) > 5
    assert twins.error([0]) < 1e-9


def test_a_row_that_waited_beyond_the_memory_of_its_variance_starts_afresh() -> None:
    twins = Twins(2)
    twins.add({0: np.array([1.0, -3.0]), 1: np.array([2.0, 0.1])})
    twins.wait(2 * SPAN)
    twins.leap(VARIANCE_SPAN)
    assert twins.error([0]) < 1e-5
    for _ in range(5):
        twins.add({0: np.array([0.2, 0.4])})
        assert twins.error([0]) < 1e-5
    twins.wait(10)
    assert twins.error([0, 1]) < 1e-5


@pytest.mark.parametrize("first_step", [0, YOUNG - 20, 2 * YOUNG])
@pytest.mark.parametrize("scale", [1e-4, 1e-6, 1e-8])
def test_where_epsilon_counts_the_error_stays_below_a_tenth_of_one_move(
    scale: float, first_step: int
) -> None:
    rng = np.random.default_rng(0)
    twins = Twins(N_ROWS, first_step=first_step)
    for _ in range(40):
        twins.wait(int(rng.integers(3)))
        twins.add({row: scale * rng.normal(size=2) for row in EVERY_ROW if rng.random() < 0.4})
        assert twins.error(EVERY_ROW) < 0.1
    assert twins.moved(0) > 0.5


def test_tables_agree_with_sums_over_single_steps() -> None:
    tables = adam_tables(np.dtype(np.float64))
    rho = 0.9 / np.sqrt(0.999)
    for t in (1, 2, 50, YOUNG, VARIANCE_SPAN - 1):
        steps = t + np.arange(2000.0)
        ratio = np.sqrt(1 - 0.999**steps) / (1 - 0.9**steps)
        assert tables.tail[t] == pytest.approx((rho ** np.arange(2000) * ratio).sum(), rel=1e-9)

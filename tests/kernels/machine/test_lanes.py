"""Lanes are short rows: each operation equals NumPy's on the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError
from tests.kernels.compiled import needs_compiling

from embedprop.kernels.machine.arrays import BLOCK
from embedprop.kernels.machine.compile import kernel
from embedprop.kernels.machine.lanes import lanes, put, square_root, total_of

BOTH_TYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
K = 3  # rows begin anywhere, not only where a cache line does


@kernel()
def formula(out: Any, a: Any, b: Any, size: Any, k: int) -> Any:
    """Use every operation once."""
    x, y = lanes(a, k), lanes(b, k)
    put(out, k, (x + y) * size - size / (y + size) + square_root(y) - x * y / size)
    return total_of(x)


@pytest.fixture
def rows() -> np.ndarray:
    """Three rows: one to write to, two to read from."""
    return np.random.default_rng(0).uniform(0.5, 2.0, (3, BLOCK + 2 * K))


def expected(a: np.ndarray, b: np.ndarray, size: Any) -> np.ndarray:
    return (a + b) * size - size / (b + size) + np.sqrt(b) - a * b / size


@BOTH_TYPES
@pytest.mark.parametrize("way", ["compiled", "python"])
def test_a_formula_in_lanes_equals_the_same_one_in_numpy(
    rows: np.ndarray, dtype: type[np.floating], way: str
) -> None:
    out, a, b = rows.astype(dtype)
    before, size, here = out.copy(), dtype(1.25), slice(K, K + BLOCK)
    compute = formula if way == "compiled" else getattr(formula, "py_func", formula)
    total = compute(out, a, b, size, K)
    np.testing.assert_array_equal(out[here], expected(a[here], b[here], size))
    assert total == pytest.approx(a[here].sum(), rel=1e-6)
    np.testing.assert_array_equal(np.delete(out, here), np.delete(before, here))


def test_what_a_row_holds_is_read_before_it_is_written(rows: np.ndarray) -> None:
    row, other = rows[0].copy(), rows[1]
    formula(row, row, other, 1.5, 0)
    np.testing.assert_array_equal(row[:BLOCK], expected(rows[0], other, 1.5)[:BLOCK])


@needs_compiling
def test_lanes_of_different_numbers_do_not_mix(rows: np.ndarray) -> None:
    with pytest.raises(TypingError):
        formula(rows[0], rows[1], rows[2].astype(np.float32), 1.0, 0)


@needs_compiling
@pytest.mark.parametrize("where", [0, 1])
@pytest.mark.parametrize("kind", ["columns apart", "integers"])
def test_what_is_no_row_of_numbers_is_refused(rows: np.ndarray, kind: str, where: int) -> None:
    arguments = [rows[0], rows[1], rows[2]]
    arguments[where] = rows[:, 0] if kind == "columns apart" else np.arange(BLOCK)
    with pytest.raises(TypingError):
        formula(*arguments, 1.0, 0)


@needs_compiling
def test_a_row_that_is_only_to_be_read_is_not_written(rows: np.ndarray) -> None:
    row = rows[0].copy()
    row.flags.writeable = False
    formula(rows[0], row, row, 1.0, 0)
    with pytest.raises(TypingError):
        formula(row, rows[1], rows[2], 1.0, 0)

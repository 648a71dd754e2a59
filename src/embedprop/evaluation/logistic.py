"""One-vs-rest logistic regression for all classes at once: liblinear's objective, shared products.

For each class k, with y = +-1 and a constant 1 appended to x (liblinear regularizes the intercept
too), liblinear minimizes

    |w_k|^2 / 2 + C * sum over i of log(1 + exp(-y_ik w_k x_i))

one class after the other. The classes share X, so here Newton's method with conjugate gradients
takes a step for all of them per product with X. Classes that have converged leave; a larger C
starts from the solution of the smaller one. Tests hold scores equal to liblinear's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

_MAX_STEPS = 100
_MAX_CG_STEPS = 250
# Newton's direction need not be exact far from the solution.
_CG_ACCURACY = 0.1
_ARMIJO = 1e-4
_MAX_HALVINGS = 30


def one_vs_rest_path(
    vectors: NDArray[np.floating],
    targets: NDArray[np.bool_],
    c_values: Sequence[float],
    tolerance: float = 1e-4,
) -> Iterator[Matrix]:
    """Yield the weights (dimensions + 1, classes) for each C, in the order given.

    `tolerance` is liblinear's: of the gradient, relative to its start, times the share of the rarer
    side of a class.
    """
    x = with_constant(vectors)
    signs = np.where(targets, 1.0, -1.0)
    weights = np.zeros((x.shape[1], targets.shape[1]))
    rarer = np.minimum(targets.sum(axis=0), (~targets).sum(axis=0))
    share = np.maximum(rarer, 1) / len(targets)
    for c in c_values:
        # liblinear starts at 0, where every probability is 1/2.
        at_zero = np.linalg.norm(c / 2 * (x.T @ signs), axis=0)
        _minimize(x, signs, c, weights, tolerance * share * at_zero)
        yield weights.copy()


def with_constant(vectors: NDArray[np.floating]) -> Matrix:
    """Return the vectors in float64 with a last column of ones."""
    return np.concatenate([vectors, np.ones((len(vectors), 1))], axis=1, dtype=np.float64)


def _minimize(x: Matrix, signs: Matrix, c: float, weights: Matrix, small: Matrix) -> None:
    """Move `weights` to the minimum, class by class as far as each needs."""
    active = np.arange(weights.shape[1])
    margins = signs * (x @ weights)
    for _ in range(_MAX_STEPS):
        w, y, z = weights[:, active], signs[:, active], margins[:, active]
        # The probability of the wrong side; clipped, because exp overflows in float64 beyond 709.
        wrong = 1.0 / (1.0 + np.exp(np.clip(z, -500, 500)))
        gradient = w - c * (x.T @ (y * wrong))
        todo = np.linalg.norm(gradient, axis=0) > small[active]
        if not todo.any():
            return
        active, w, y, z = active[todo], w[:, todo], y[:, todo], z[:, todo]
        gradient, wrong = gradient[:, todo], wrong[:, todo]
        direction = _newton_direction(x, c * wrong * (1.0 - wrong), gradient)
        change = y * (x @ direction)
        size = _step_sizes(w, direction, z, change, gradient, c)
        weights[:, active] = w + size * direction
        margins[:, active] = z + size * change


def _newton_direction(x: Matrix, curvature: Matrix, gradient: Matrix) -> Matrix:
    """Return s with (I + X' D_k X) s_k = -g_k for all classes k, by conjugate gradients."""
    s = np.zeros_like(gradient)
    residual = -gradient
    p = residual.copy()
    square = (residual * residual).sum(axis=0)
    enough = _CG_ACCURACY**2 * square
    for _ in range(_MAX_CG_STEPS):
        product = p + x.T @ (curvature * (x @ p))
        # A class that is done keeps its solution: its step is 0.
        going = square > enough
        alpha = np.where(going, square / np.maximum((p * product).sum(axis=0), 1e-300), 0.0)
        s += alpha * p
        residual -= alpha * product
        new_square = (residual * residual).sum(axis=0)
        if not (new_square > enough).any():
            break
        p = residual + np.where(going, new_square / square, 0.0) * p
        square = new_square
    return s


def _step_sizes(
    w: Matrix, direction: Matrix, z: Matrix, change: Matrix, gradient: Matrix, c: float
) -> NDArray[np.float64]:
    """Return for each class the first of 1, 1/2, 1/4, ... that lowers its objective enough."""

    def objective(size: NDArray[np.float64]) -> NDArray[np.float64]:
        moved = w + size * direction
        loss = np.logaddexp(0.0, -(z + size * change)).sum(axis=0)
        return np.asarray((moved * moved).sum(axis=0) / 2 + c * loss)

    size = np.ones(w.shape[1])
    start = objective(np.zeros_like(size))
    slope = (gradient * direction).sum(axis=0)
    for _ in range(_MAX_HALVINGS):
        # Near the minimum the change drowns in rounding: do not halve for that.
        allowed = start + _ARMIJO * size * slope + 1e-12 * np.abs(start)
        too_long = objective(size) > allowed
        if not too_long.any():
            break
        size[too_long] /= 2
    return size

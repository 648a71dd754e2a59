"""One-vs-rest logistic regression on node vectors, with the paper's protocols.

For each class k, with y = +-1 and a constant 1 appended to x (liblinear regularizes the intercept
too), liblinear minimizes

    |w_k|^2 / 2 + C * sum over i of log(1 + exp(-y_ik w_k x_i))

one class after the other. The classes share X, so here Newton's method with conjugate gradients
takes a step for all of them per product with X. Classes that have converged leave; a larger C
starts from the solution of the smaller one. Tests hold scores equal to liblinear's.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import UnknownComponentError
from embedprop.evaluation.splits import Nodes, Split

# The values that the paper chooses the L2 regularization from, read as liblinear's C.
L2_VALUES = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0)

N_FOLDS = 3
SOLVERS = ("batched", "liblinear")

_MAX_STEPS = 100
_MAX_CG_STEPS = 250
# Newton's direction need not be exact far from the solution.
_CG_ACCURACY = 0.1
_ARMIJO = 1e-4
_MAX_HALVINGS = 30

Matrix = NDArray[np.float64]
Scores = NDArray[np.float64]
Classes = NDArray[np.bool_]
Vectors = NDArray[np.floating]

# Takes the scores of some nodes and their classes; returns one number per metric.
Measure = Callable[[Scores, Classes], Sequence[float]]


def score_path(
    vectors: Vectors,
    targets: Classes,
    test: Vectors,
    c_values: Sequence[float] = L2_VALUES,
    solver: str = "batched",
) -> Iterator[Scores]:
    """Yield the score of each class for each test vector, for each C.

    "liblinear" fits one class after the other; "batched" minimizes the same objective for all at
    once, about ten times faster. A class of none or of all of the training nodes has a constant
    score.
    """
    if solver not in SOLVERS:
        known = ", ".join(map(repr, SOLVERS))
        raise UnknownComponentError(f"solver={solver!r} is not known. Choose one of: {known}.")
    some, every = targets.any(axis=0), targets.all(axis=0)
    mixed = some & ~every
    constant = np.where(every, np.inf, -np.inf)
    found: Iterator[Scores]
    if solver == "batched":
        extended = with_constant(test)
        path = one_vs_rest_path(vectors, targets[:, mixed], c_values)
        found = (extended @ weights for weights in path)
    else:
        found = _liblinear_path(vectors, targets[:, mixed], test, c_values)
    for of_mixed in found:
        scores = np.tile(constant, (len(test), 1))
        scores[:, mixed] = of_mixed
        yield scores


def _liblinear_path(
    vectors: Vectors, targets: Classes, test: Vectors, c_values: Sequence[float]
) -> Iterator[Scores]:
    from sklearn.linear_model import LogisticRegression

    for c in c_values:
        classifier = LogisticRegression(C=c, solver="liblinear", random_state=0)
        fitted = (classifier.fit(vectors, wanted).decision_function(test) for wanted in targets.T)
        yield np.array(list(fitted)).T.reshape(len(test), targets.shape[1])


def most_likely(scores: Scores, n_classes: NDArray[np.int64]) -> Classes:
    """Return the n_classes[i] best classes of each row: the number of classes is given."""
    # Stable: of equal scores the class with the lower number comes first.
    order = np.argsort(-scores, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(scores.shape[1])[None, :], axis=1)
    return np.asarray(rank < n_classes[:, None])


def f1(predicted: Classes, wanted: Classes) -> tuple[float, float]:
    """Return micro and macro F1; a class that is neither predicted nor present counts 0.

    >>> f1(np.array([[True, False], [True, False]]), np.array([[True, False], [False, True]]))
    (0.5, 0.333...)
    """
    right = (predicted & wanted).sum(axis=0)
    both = predicted.sum(axis=0) + wanted.sum(axis=0)
    macro = np.divide(2.0 * right, both, out=np.zeros(len(right)), where=both > 0).mean()
    return float(2 * right.sum() / max(1, both.sum())), float(macro)


def accuracy_chosen_on_validation(
    candidates: Sequence[Vectors], classes: NDArray[np.int64], split: Split, solver: str = "batched"
) -> dict[str, Any]:
    """Return the test accuracy of the best candidate vectors and C on the validation nodes."""
    targets = classes[split.train][:, None] == np.arange(classes.max() + 1)
    # One pass over the values of C serves validation and test nodes.
    both = np.concatenate([split.validation, split.test])
    n_validation = len(split.validation)
    best: dict[str, Any] = {"validation": -1.0}
    for index, vectors in enumerate(candidates):
        path = score_path(vectors[split.train], targets, vectors[both], L2_VALUES, solver)
        for c, scores in zip(L2_VALUES, path, strict=True):
            right = scores.argmax(axis=1) == classes[both]
            validation = float(right[:n_validation].mean())
            if validation > best["validation"]:
                test = float(right[n_validation:].mean())
                best = {"validation": validation, "test": test, "candidate": index, "c": c}
    return best


def measure_with_chosen_c(
    vectors: Vectors, targets: Classes, split: Split, measure: Measure, solver: str = "batched"
) -> list[tuple[float, float]]:
    """Return each metric on the test nodes, and the C that was chosen for it.

    C is chosen by cross-validation on the training nodes, for each metric separately.
    """
    sums = _summed_over_folds(vectors, targets, split.train, measure, solver)
    best = sums.argmax(axis=0)
    train, test = vectors[split.train], vectors[split.test]
    # The path starts each C from the one before: none beyond the largest chosen is needed.
    path = score_path(train, targets[split.train], test, L2_VALUES[: best.max() + 1], solver)
    found = [measure(scores, targets[split.test]) for scores in path]
    return [(found[row][metric], L2_VALUES[row]) for metric, row in enumerate(best)]


def f1_given_counts(
    vectors: Vectors, targets: Classes, split: Split, solver: str = "batched"
) -> dict[str, Any]:
    """Return micro and macro F1 with the number of classes of each test node given."""
    (micro, c_micro), (macro, c_macro) = measure_with_chosen_c(
        vectors, targets, split, _f1_of_most_likely, solver=solver
    )
    return {"micro": micro, "c_micro": c_micro, "macro": macro, "c_macro": c_macro}


def cross_validated_f1(
    vectors: Vectors, targets: Classes, train: Nodes, solver: str = "batched"
) -> NDArray[np.float64]:
    """Return mean (micro, macro) F1 over folds of the training nodes, a row per C."""
    sums = _summed_over_folds(vectors, targets, train, _f1_of_most_likely, solver)
    return sums / N_FOLDS


def _f1_of_most_likely(scores: Scores, wanted: Classes) -> tuple[float, float]:
    return f1(most_likely(scores, wanted.sum(axis=1)), wanted)


def _summed_over_folds(
    vectors: Vectors, targets: Classes, train: Nodes, measure: Measure, solver: str
) -> NDArray[np.float64]:
    """Return (values of C, metrics): each metric on the fold left out, summed over the folds."""
    by_fold = []
    for fold in range(N_FOLDS):
        # Training nodes come in random order, within each class if drawn by class.
        held = train[fold::N_FOLDS]
        kept = np.setdiff1d(train, held)
        path = score_path(vectors[kept], targets[kept], vectors[held], L2_VALUES, solver)
        by_fold.append([measure(scores, targets[held]) for scores in path])
    return np.asarray(np.sum(by_fold, axis=0))


def one_vs_rest_path(
    vectors: Vectors, targets: Classes, c_values: Sequence[float], tolerance: float = 1e-4
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


def with_constant(vectors: Vectors) -> Matrix:
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

"""One-vs-rest logistic regression on node vectors, with the paper's protocols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import UnknownComponentError
from embedprop.evaluation.logistic import one_vs_rest_path, with_constant
from embedprop.evaluation.splits import Split

# The values that the paper chooses the L2 regularization from, read as liblinear's C.
L2_VALUES = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0)

SOLVERS = ("batched", "liblinear")

Scores = NDArray[np.float64]
Vectors = NDArray[np.floating]


def score_path(
    vectors: Vectors,
    targets: NDArray[np.bool_],
    test: Vectors,
    c_values: Sequence[float] = L2_VALUES,
    solver: str = "batched",
) -> Iterator[Scores]:
    """Yield the score of each class for each test vector, for each C.

    "liblinear" fits one class after the other; "batched" minimizes the same objective for all at
    once, about ten times faster. A class without a training node, or with nothing but, has a
    constant score.
    """
    if solver not in SOLVERS:
        known = ", ".join(map(repr, SOLVERS))
        raise UnknownComponentError(f"solver={solver!r} is not known. Choose one of: {known}.")
    some, every = targets.any(axis=0), targets.all(axis=0)
    mixed = some & ~every
    constant = np.where(every, np.inf, -np.inf)
    path = _batched_path if solver == "batched" else _liblinear_path
    for found in path(vectors, targets[:, mixed], test, c_values):
        scores = np.tile(constant, (len(test), 1))
        scores[:, mixed] = found
        yield scores


def _batched_path(
    vectors: Vectors, targets: NDArray[np.bool_], test: Vectors, c_values: Sequence[float]
) -> Iterator[Scores]:
    extended = with_constant(test)
    for weights in one_vs_rest_path(vectors, targets, c_values):
        yield extended @ weights


def _liblinear_path(
    vectors: Vectors, targets: NDArray[np.bool_], test: Vectors, c_values: Sequence[float]
) -> Iterator[Scores]:
    from sklearn.linear_model import LogisticRegression

    for c in c_values:
        classifier = LogisticRegression(C=c, solver="liblinear", random_state=0)
        fitted = (classifier.fit(vectors, wanted).decision_function(test) for wanted in targets.T)
        yield np.array(list(fitted)).T.reshape(len(test), targets.shape[1])


def most_likely(scores: Scores, n_classes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the n_classes[i] best classes of each row: the number of classes is given."""
    order = np.argsort(-scores, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(scores.shape[1])[None, :], axis=1)
    return np.asarray(rank < n_classes[:, None])


def f1(predicted: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> tuple[float, float]:
    """Return micro and macro F1; a class that is neither predicted nor present counts 0.

    >>> f1(np.array([[True, False], [True, False]]), np.array([[True, False], [False, True]]))
    (0.5, 0.333...)
    """
    right = (predicted & wanted).sum(axis=0)
    both = predicted.sum(axis=0) + wanted.sum(axis=0)
    macro = np.divide(2.0 * right, both, out=np.zeros(len(right)), where=both > 0).mean()
    return float(2 * right.sum() / max(1, both.sum())), float(macro)


def accuracy_chosen_on_validation(
    candidates: Sequence[Vectors],
    classes: NDArray[np.int64],
    split: Split,
    l2_values: Sequence[float] = L2_VALUES,
    solver: str = "batched",
) -> dict[str, Any]:
    """Return the test accuracy of the best candidate vectors and C on the validation nodes."""
    targets = classes[split.train][:, None] == np.arange(classes.max() + 1)
    both = np.concatenate([split.validation, split.test])
    n_validation = len(split.validation)
    best: dict[str, Any] = {"validation": -1.0}
    for index, vectors in enumerate(candidates):
        path = score_path(vectors[split.train], targets, vectors[both], l2_values, solver)
        for c, scores in zip(l2_values, path, strict=True):
            right = scores.argmax(axis=1) == classes[both]
            validation = float(right[:n_validation].mean())
            if validation > best["validation"]:
                test = float(right[n_validation:].mean())
                best = {"validation": validation, "test": test, "candidate": index, "c": c}
    return best


def f1_given_counts(
    vectors: Vectors,
    targets: NDArray[np.bool_],
    split: Split,
    l2_values: Sequence[float] = L2_VALUES,
    n_folds: int = 3,
    solver: str = "batched",
) -> dict[str, Any]:
    """Return micro and macro F1 with the number of classes of each test node given.

    C is chosen by cross-validation on the training nodes, for micro and for macro separately.
    """
    by_fold = cross_validated_f1(vectors, targets, split.train, l2_values, n_folds, solver)
    best = by_fold.argmax(axis=0)
    train, test = vectors[split.train], vectors[split.test]
    path = list(score_path(train, targets[split.train], test, l2_values[: best.max() + 1], solver))
    wanted = targets[split.test]
    result: dict[str, Any] = {}
    for metric, name in enumerate(("micro", "macro")):
        predicted = most_likely(path[best[metric]], wanted.sum(axis=1))
        result |= {name: f1(predicted, wanted)[metric], f"c_{name}": l2_values[best[metric]]}
    return result


def cross_validated_f1(
    vectors: Vectors,
    targets: NDArray[np.bool_],
    train: NDArray[np.int64],
    l2_values: Sequence[float] = L2_VALUES,
    n_folds: int = 3,
    solver: str = "batched",
) -> NDArray[np.float64]:
    """Return mean (micro, macro) F1 over folds of the training nodes, a row per C."""
    sums = np.zeros((len(l2_values), 2))
    for fold in range(n_folds):
        held = train[fold::n_folds]
        kept = np.setdiff1d(train, held)
        path = score_path(vectors[kept], targets[kept], vectors[held], l2_values, solver)
        n_classes = targets[held].sum(axis=1)
        for row, scores in enumerate(path):
            sums[row] += f1(most_likely(scores, n_classes), targets[held])
    return sums / n_folds

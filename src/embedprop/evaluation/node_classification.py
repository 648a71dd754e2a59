"""One-vs-rest logistic regression on node vectors, with the paper's protocols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import UnknownComponentError
from embedprop.evaluation.logistic import one_vs_rest_path, with_constant
from embedprop.evaluation.splits import Split

# The values that the paper chooses the L2 regularization from, read as liblinear's C.
L2_VALUES = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0)

N_FOLDS = 3
SOLVERS = ("batched", "liblinear")

Scores = NDArray[np.float64]
Vectors = NDArray[np.floating]

# Takes the scores of some nodes and their classes; returns one number per metric.
Measure = Callable[[Scores, NDArray[np.bool_]], Sequence[float]]


def score_path(
    vectors: Vectors,
    targets: NDArray[np.bool_],
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
    # Stable: of equal scores the class with the lower number comes first.
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
    solver: str = "batched",
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
    vectors: Vectors,
    targets: NDArray[np.bool_],
    split: Split,
    measure: Measure,
    solver: str = "batched",
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
    vectors: Vectors, targets: NDArray[np.bool_], split: Split, solver: str = "batched"
) -> dict[str, Any]:
    """Return micro and macro F1 with the number of classes of each test node given."""
    (micro, c_micro), (macro, c_macro) = measure_with_chosen_c(
        vectors, targets, split, _f1_of_most_likely, solver=solver
    )
    return {"micro": micro, "c_micro": c_micro, "macro": macro, "c_macro": c_macro}


def cross_validated_f1(
    vectors: Vectors,
    targets: NDArray[np.bool_],
    train: NDArray[np.int64],
    solver: str = "batched",
) -> NDArray[np.float64]:
    """Return mean (micro, macro) F1 over folds of the training nodes, a row per C."""
    sums = _summed_over_folds(vectors, targets, train, _f1_of_most_likely, solver)
    return sums / N_FOLDS


def _f1_of_most_likely(scores: Scores, wanted: NDArray[np.bool_]) -> tuple[float, float]:
    return f1(most_likely(scores, wanted.sum(axis=1)), wanted)


def _summed_over_folds(
    vectors: Vectors,
    targets: NDArray[np.bool_],
    train: NDArray[np.int64],
    measure: Measure,
    solver: str,
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

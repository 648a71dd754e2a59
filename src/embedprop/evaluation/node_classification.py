"""One-vs-rest logistic regression (liblinear) on node vectors, as in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.evaluation.splits import Split

# The values that the paper chooses the L2 regularization from, read as liblinear's C.
L2_VALUES = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0)

Scores = NDArray[np.float64]


def class_scores(
    vectors: NDArray[np.floating], targets: NDArray[np.bool_], test: NDArray[np.floating], c: float
) -> Scores:
    """Return the score of each class for each test vector; one classifier per class.

    A class without a training node, or with nothing but, has a constant score.
    """
    from sklearn.linear_model import LogisticRegression

    scores = np.empty((len(test), targets.shape[1]))
    for column in range(targets.shape[1]):
        wanted = targets[:, column]
        if wanted.all() or not wanted.any():
            scores[:, column] = np.inf if wanted.all() else -np.inf
            continue
        classifier = LogisticRegression(C=c, solver="liblinear", random_state=0)
        scores[:, column] = classifier.fit(vectors, wanted).decision_function(test)
    return scores


def most_likely(scores: Scores, n_classes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the n_classes[i] best classes of each row: the number of classes is given."""
    order = np.argsort(-scores, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(scores.shape[1])[None, :], axis=1)
    return np.asarray(rank < n_classes[:, None])


def f1(predicted: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> tuple[float, float]:
    """Return micro and macro F1; a class that is neither predicted nor present counts 0."""
    from sklearn.metrics import f1_score

    micro, macro = (
        float(f1_score(wanted, predicted, average=average, zero_division=0))
        for average in ("micro", "macro")
    )
    return micro, macro


def accuracy_chosen_on_validation(
    candidates: Sequence[NDArray[np.floating]],
    classes: NDArray[np.int64],
    split: Split,
    l2_values: Sequence[float] = L2_VALUES,
) -> dict[str, Any]:
    """Return the test accuracy of the best candidate vectors and C on the validation nodes."""
    targets = classes[split.train][:, None] == np.arange(classes.max() + 1)
    both = np.concatenate([split.validation, split.test])
    best: dict[str, Any] = {"validation": -1.0}
    for index, vectors in enumerate(candidates):
        for c in l2_values:
            scores = class_scores(vectors[split.train], targets, vectors[both], c)
            right = scores.argmax(axis=1) == classes[both]
            validation = float(right[: len(split.validation)].mean())
            if validation > best["validation"]:
                test = float(right[len(split.validation) :].mean())
                best = {"validation": validation, "test": test, "candidate": index, "c": c}
    return best


def f1_given_counts(
    vectors: NDArray[np.floating],
    targets: NDArray[np.bool_],
    split: Split,
    l2_values: Sequence[float] = L2_VALUES,
    n_folds: int = 3,
) -> dict[str, Any]:
    """Return micro and macro F1 with the number of classes of each test node given.

    C is chosen by cross-validation on the training nodes, for micro and for macro separately.
    """
    by_fold = cross_validated_f1(vectors, targets, split.train, l2_values, n_folds)
    result: dict[str, Any] = {}
    for metric, name in enumerate(("micro", "macro")):
        c = l2_values[int(by_fold[:, metric].argmax())]
        scores = class_scores(vectors[split.train], targets[split.train], vectors[split.test], c)
        wanted = targets[split.test]
        predicted = most_likely(scores, wanted.sum(axis=1))
        result |= {name: f1(predicted, wanted)[metric], f"c_{name}": c}
    return result | {"cross_validated_micro": float(by_fold[:, 0].max())}


def cross_validated_f1(
    vectors: NDArray[np.floating],
    targets: NDArray[np.bool_],
    train: NDArray[np.int64],
    l2_values: Sequence[float],
    n_folds: int,
) -> NDArray[np.float64]:
    """Return mean (micro, macro) F1 over folds of the training nodes, a row per C."""
    sums = np.zeros((len(l2_values), 2))
    for fold in range(n_folds):
        held = train[fold::n_folds]
        kept = np.setdiff1d(train, held)
        for row, c in enumerate(l2_values):
            scores = class_scores(vectors[kept], targets[kept], vectors[held], c)
            predicted = most_likely(scores, targets[held].sum(axis=1))
            sums[row] += f1(predicted, targets[held])
    return sums / n_folds

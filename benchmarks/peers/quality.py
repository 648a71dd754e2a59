"""How good vectors are, by the same splits and the same classifier for every method.

One-vs-rest logistic regression, C by 3-fold cross-validation on the training nodes, the number of
classes of each test node given. Two figures: of the vectors as the method returns them, and with
the choice, by the same cross-validation, between these and standardized columns. The values of C
are the paper's and few, so the first depends on the scale of the vectors, the second does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.datasets import Dataset
from embedprop.evaluation.node_classification import (
    L2_VALUES,
    cross_validated_f1,
    f1,
    most_likely,
    score_path,
)
from embedprop.evaluation.splits import Split, share_split

METRICS = ("micro", "macro")

Vectors = NDArray[np.floating]
Targets = NDArray[np.bool_]


def quality(vectors: Vectors, data: Dataset, train_share: float, n_splits: int) -> dict[str, Any]:
    """Return mean, standard deviation and values over splits of each figure, in percent."""
    targets = data.targets.toarray().astype(bool)
    nodes = np.flatnonzero(targets.any(axis=1))
    variants = (vectors, standardized(vectors))
    splits = (share_split(nodes, train_share, seed) for seed in range(n_splits))
    return summary([of_split(variants, targets, split) for split in splits])


def standardized(vectors: Vectors) -> Vectors:
    """Return columns of mean 0 and standard deviation 1; constant ones are 0."""
    spread = vectors.std(axis=0)
    return np.asarray((vectors - vectors.mean(axis=0)) / np.where(spread > 0, spread, 1))


def of_split(variants: Sequence[Vectors], targets: Targets, split: Split) -> dict[str, float]:
    """Return F1 on the test nodes: of the first variant, and of the one that is chosen."""
    by_fold = np.array([cross_validated_f1(one, targets, split.train) for one in variants])
    found = {}
    for index, metric in enumerate(METRICS):
        for name, allowed in ((metric, by_fold[:1]), (f"{metric}_scaled", by_fold)):
            best = allowed[:, :, index]  # (variants, values of C)
            variant, row = (int(i) for i in np.unravel_index(best.argmax(), best.shape))
            found[name] = f1_on_test_nodes(variants[variant], targets, split, L2_VALUES[row])[index]
    return found


def f1_on_test_nodes(
    vectors: Vectors, targets: Targets, split: Split, c: float
) -> tuple[float, float]:
    """Return micro and macro F1 of a classifier that is trained on all training nodes."""
    train, test = vectors[split.train], vectors[split.test]
    (scores,) = score_path(train, targets[split.train], test, (c,))
    wanted = targets[split.test]
    return f1(most_likely(scores, wanted.sum(axis=1)), wanted)


def summary(runs: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Return the statistics of each figure over the splits.

    >>> summary([{"micro": 0.5}, {"micro": 0.25}])["micro"]
    37.5
    """
    record: dict[str, Any] = {}
    for name in runs[0]:
        values = [round(100 * run[name], 4) for run in runs]
        record[name] = float(np.mean(values))
        record[f"{name}_sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else None
        record[f"{name}_runs"] = values
    return record

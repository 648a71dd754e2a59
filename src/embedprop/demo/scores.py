"""How well a few examples teach a classifier to read digits, from pixels and from vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedprop.evaluation.node_classification import score_path
from embedprop.evaluation.splits import per_class_split

N_EXAMPLES = 10  # of each class
N_DRAWS = 20
C = 1.0  # scikit-learn's default


@dataclass(frozen=True)
class Score:
    """Accuracy over random draws of the examples."""

    mean: float
    deviation: float

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} ± {100 * self.deviation:.1f} %"


def few_examples_scores(
    vectors: NDArray[np.floating], targets: NDArray[np.int64], n_known: int
) -> tuple[Score, Score]:
    """Return the accuracy for known digits and for new ones, whose rows come last.

    Each draw trains one-vs-rest logistic regression on 10 known digits of each class and tests it
    on all others.
    """
    n_classes = int(targets.max()) + 1
    n_tested = n_known - N_EXAMPLES * n_classes
    known, new = [], []
    for seed in range(N_DRAWS):
        split = per_class_split(targets[:n_known], seed, N_EXAMPLES, 0, n_tested)
        tested = np.concatenate([split.test, np.arange(n_known, len(vectors))])
        examples = targets[split.train, None] == np.arange(n_classes)
        # One row of weights per class, on 0 and 1: the same classifier for pixels and vectors.
        (scores,) = score_path(vectors[split.train], examples, vectors[tested], [C])
        right = scores.argmax(axis=1) == targets[tested]
        known.append(right[:n_tested].mean())
        new.append(right[n_tested:].mean())
    return _score(known), _score(new)


def _score(values: list[float]) -> Score:
    return Score(float(np.mean(values)), float(np.std(values)))

"""Node classification on a user's graph: how nodes are split, what is measured, what it is called.

One-vs-rest logistic regression on vectors; its C is chosen by 3-fold cross-validation on the
training nodes, for each metric separately. Nodes with one class each are scored by accuracy, nodes
with several by F1, twice: "given" takes as many classes as a test node has, the convention of the
earlier papers; "predicted" is the honest variant, in which the classifier must find that number
itself: every class with a probability above 1/2, at least the best one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from embedprop.errors import InvalidParameterError
from embedprop.evaluation.node_classification import (
    L2_VALUES,
    N_FOLDS,
    Classes,
    Scores,
    Vectors,
    f1,
    measure_with_chosen_c,
    most_likely,
)
from embedprop.evaluation.splits import Split, per_class_split, share_split
from embedprop.evaluation.targets import Targets

SINGLE_LABEL = ("accuracy",)
MULTI_LABEL = ("micro-F1 given", "macro-F1 given", "micro-F1 predicted", "macro-F1 predicted")

CLASSIFIER_NOTE = (
    "One-vs-rest logistic regression on the vectors, C of "
    f"{', '.join(f'{c:g}' for c in L2_VALUES)} by {N_FOLDS}-fold cross-validation on the training "
    "nodes; all other nodes with a class are test nodes. Percent, mean ± standard deviation "
    "over the runs."
)
COUNTS_NOTE = (
    "given: the classifier is given the number of classes of each test node (the convention of "
    "the earlier papers). predicted: it finds the classes itself: every one with a probability "
    "above 1/2, and at least the best."
)


@dataclass(frozen=True)
class Protocol:
    """How many nodes train: a share of those with a class, or a number of each class.

    >>> Protocol(train_share=0.1, n_runs=3).name
    'train 10 %, 3 runs'
    """

    train_share: float | None = None
    n_per_class: int | None = None
    n_runs: int = 10
    random_state: int = 0

    def __post_init__(self) -> None:
        if (self.train_share is None) == (self.n_per_class is None):
            raise InvalidParameterError("Give either train_share or n_per_class, and not both.")
        if self.train_share is not None and not 0 < self.train_share < 1:
            raise InvalidParameterError(
                f"train_share must be between 0 and 1, got {self.train_share}."
            )
        if self.n_per_class is not None and self.n_per_class < 1:
            raise InvalidParameterError(f"n_per_class must be positive, got {self.n_per_class}.")
        if self.n_runs < 1 or self.random_state < 0:
            raise InvalidParameterError(
                f"n_runs must be positive and random_state not negative, got "
                f"n_runs={self.n_runs}, random_state={self.random_state}."
            )

    @property
    def name(self) -> str:
        """What stands beside each number."""
        train = f"{self.n_per_class} per class"
        if self.train_share is not None:
            train = f"{100 * self.train_share:g} %"
        return f"train {train}, {self.n_runs} run{'s' if self.n_runs > 1 else ''}"

    def splits(self, targets: Targets) -> list[Split]:
        """Return a split for each run; run i follows from random_state + i."""
        seeds = range(self.random_state, self.random_state + self.n_runs)
        if self.train_share is not None:
            found = [share_split(targets.nodes, self.train_share, seed) for seed in seeds]
        else:
            n, n_test = self._per_class(targets)
            found = [per_class_split(targets.classes, seed, n, 0, n_test) for seed in seeds]
        if len(found[0].train) < N_FOLDS:
            raise InvalidParameterError(
                f"{self.name}: {len(found[0].train)} of {len(targets.nodes)} nodes would train, "
                f"but cross-validation needs at least {N_FOLDS}. Train on more: --train-share "
                f"(train_share=), or --per-class (n_per_class=)."
            )
        return found

    def _per_class(self, targets: Targets) -> tuple[int, int]:
        """Return how many nodes of each class train, and how many nodes test."""
        if targets.is_multi_label:
            raise InvalidParameterError(
                "n_per_class can be used only if no node has several classes. Use a share of "
                "the nodes (train_share)."
            )
        n, sizes = self.n_per_class or 0, targets.values.sum(axis=0)
        if sizes.min() < n:
            raise InvalidParameterError(
                f"Expected at least {n} nodes of each class to train on, got {sizes.min()} of "
                f"class {targets.class_names[int(sizes.argmin())]!r}."
            )
        n_test = int(sizes.sum()) - n * len(sizes)
        if n_test == 0:
            raise InvalidParameterError(f"{n} nodes per class leave no node to test on.")
        return n, n_test


def metric_names(targets: Targets) -> tuple[str, ...]:
    """Return what is measured for these targets."""
    return MULTI_LABEL if targets.is_multi_label else SINGLE_LABEL


def notes(targets: Targets) -> list[str]:
    """Return what a reader must know to read the numbers."""
    return [CLASSIFIER_NOTE, COUNTS_NOTE] if targets.is_multi_label else [CLASSIFIER_NOTE]


def likely_classes(scores: Scores, threshold: float = 0.0) -> Classes:
    """Return every class that scores above `threshold`, and at least the best one of each row.

    0 is the threshold of a logistic regression's scores: probability 1/2.

    >>> likely_classes(np.array([[2.0, 1.0, -1.0], [-3.0, -2.0, -9.0]])).astype(int).tolist()
    [[1, 1, 0], [0, 1, 0]]
    """
    best = most_likely(scores, np.ones(len(scores), np.int64))
    return np.asarray(best | (scores > threshold))


def measure_vectors(vectors: Vectors, targets: Targets, split: Split) -> dict[str, float]:
    """Return each metric on the test nodes of a linear classifier on the vectors."""
    found = measure_with_c(vectors, targets, split)
    return {name: value for name, (value, _) in found.items()}


def measure_with_c(
    vectors: Vectors, targets: Targets, split: Split
) -> dict[str, tuple[float, float]]:
    """Return each metric as in `measure_vectors`, and the C that was chosen for it."""
    measure = partial(_metrics, targets=targets)
    found = measure_with_chosen_c(vectors, targets.values, split, measure)
    return dict(zip(metric_names(targets), found, strict=True))


def measure_probabilities(scores: Scores, targets: Targets, split: Split) -> dict[str, float]:
    """Return each metric on the test nodes of a method that classifies nodes itself.

    `scores` are probabilities or, if none is above 0, their logarithms: what baselines return.
    """
    # Probabilities are never all 0, and their logarithms are never above it.
    probabilities = np.exp(scores) if scores.max() <= 0 else scores
    found = _metrics(probabilities[split.test], targets.values[split.test], targets, threshold=0.5)
    return dict(zip(metric_names(targets), found, strict=True))


def _metrics(
    scores: Scores, wanted: Classes, targets: Targets, threshold: float = 0.0
) -> list[float]:
    micro, macro = f1(most_likely(scores, wanted.sum(axis=1)), wanted)
    if not targets.is_multi_label:
        return [micro]  # one class wanted and one predicted: micro-F1 is the share of right ones
    return [micro, macro, *f1(likely_classes(scores, threshold), wanted)]


def summarized(protocol: Protocol, runs: Sequence[Mapping[str, float]]) -> list[dict[str, Any]]:
    """Return a JSON-able record per metric: its protocol, mean, standard deviation and runs."""
    about = {
        "protocol": protocol.name,
        "train_share": protocol.train_share,
        "n_per_class": protocol.n_per_class,
        "random_state": protocol.random_state,
    }
    records = []
    for metric in runs[0]:
        values = [run[metric] for run in runs]
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
        mean = float(np.mean(values))
        records.append({"metric": metric, **about, "mean": mean, "sd": spread, "runs": values})
    return records


def measured(
    protocols: Sequence[Protocol],
    splits: Sequence[Sequence[Split]],
    measure: Callable[[Split, int], Mapping[str, float]],
) -> list[dict[str, Any]]:
    """Return the records of all protocols; `measure` gets each split and the number of its run."""
    return [
        record
        for protocol, drawn in zip(protocols, splits, strict=True)
        for record in summarized(protocol, [measure(split, i) for i, split in enumerate(drawn)])
    ]


def evaluate_vectors(
    vectors: Vectors, targets: Targets, protocols: Sequence[Protocol]
) -> list[dict[str, Any]]:
    """Return the records of all protocols for one table of vectors."""
    splits = [protocol.splits(targets) for protocol in protocols]  # refused before the work
    return measured(protocols, splits, lambda split, _: measure_vectors(vectors, targets, split))

"""Item sets, two numbers and a yes/no at once: streamers of Twitch and their friendships.

Every node of the graph is a streamer with four kinds of labels:

    feature   a set of items (games, habits)      partner   yes or no: a set of one item
    days      a number                            views     a number, very skewed

Embedding propagation learns from all of them at once, and from the nodes' ids. Is that better than
learning from one alone? Whether a channel uses explicit language was never shown to the model;
logistic regression predicts it from the vectors, once for each choice of label types.

Run it in the folder of the project, with torch (`pip install .[torch]`):

    EMBEDPROP_DATA=folder-of-data-sets python examples/mixed_labels.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from embedprop import EmbeddingPropagation
from embedprop.datasets import load_dataset

N_SPLITS = 10
C_VALUES = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0)
SETTINGS: dict[str, Any] = {
    "dim": 64,
    "epochs": 10,
    "batch_size": 256,
    "learning_rate": 0.01,
    # A streamer's own labels and those of its friends: [h, h~].
    "parts": {"representation": "both"},
    "n_threads": 1,
    "verbose": False,
}


def scores(vectors: NDArray[np.float32], is_mature: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return AUC and accuracy on the test half of each split: (splits, 2).

    The other half trains; a fifth of it chooses C before.
    """
    # One factor for all, so that the same C are within reach whatever the length of the vectors.
    vectors = vectors / vectors.std()
    found = []
    for seed in range(N_SPLITS):
        train, test = train_test_split(np.arange(len(vectors)), test_size=0.5, random_state=seed)
        fitted, chooses = train_test_split(train, test_size=0.2, random_state=seed)
        on_validation = [
            roc_auc_score(is_mature[chooses], decisions(vectors, is_mature, c, fitted)[chooses])
            for c in C_VALUES
        ]
        on_test = decisions(vectors, is_mature, C_VALUES[np.argmax(on_validation)], train)[test]
        accuracy = np.mean((on_test > 0) == is_mature[test])
        found.append((roc_auc_score(is_mature[test], on_test), accuracy))
    return np.array(found)


def decisions(
    vectors: NDArray[np.float32],
    is_mature: NDArray[np.bool_],
    c: float,
    train: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return what logistic regression on the nodes `train` says about every node."""
    classifier = LogisticRegression(C=c, tol=1e-3, max_iter=2000)
    return np.asarray(classifier.fit(vectors[train], is_mature[train]).decision_function(vectors))


def main() -> dict[str, NDArray[np.float64]]:
    """Train on each label type and on all, and print what the vectors are worth."""
    dataset = load_dataset("twitch_engb")
    graph = dataset.graph
    graph.describe()
    is_mature = dataset.targets.toarray()[:, dataset.class_names.index("mature")]
    print(f"\nmature: {is_mature.mean():.1%}; mean of {N_SPLITS} splits into halves")
    print(f"{'learned from':<14}{'AUC':>7}{'accuracy':>11}")
    results = {}
    for name in (*graph.label_types, "all"):
        label_types = None if name == "all" else [name]
        model = EmbeddingPropagation(label_types=label_types, **SETTINGS)
        results[name] = scores(model.fit_transform(graph), is_mature)
        auc, accuracy = results[name].mean(axis=0)
        print(f"{name:<14}{auc:>7.4f}{accuracy:>11.4f}", flush=True)
    best = max(graph.label_types, key=lambda name: results[name][:, 0].mean())
    gains = results["all"][:, 0] - results[best][:, 0]
    print(
        f"\nAll together against the best alone ({best}), AUC: {gains.mean():+.4f} "
        f"± {gains.std(ddof=1):.4f} over the splits, better in {(gains > 0).sum()} of {N_SPLITS}."
    )
    return results


if __name__ == "__main__":
    with threadpool_limits(1):  # products this small are slower on many threads
        main()

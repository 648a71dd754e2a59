"""Learning targets along with the reconstruction, against a classifier trained afterwards, on Cora.

    export EMBEDPROP_DATA=... OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
    python benchmarks/multitask.py --out experiments/multitask.jsonl

Both sides have the same instance: words, r = PageRank average. 20 targets per class, 1000 nodes to
choose (C afterwards, the target's weight beside), 1000 to test; the same 10 random splits, paired.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from embedprop import Graph
from embedprop.datasets import load_dataset
from embedprop.evaluation.records import append_record
from embedprop.evaluation.splits import Split, per_class_split
from estimators import epb

SETTINGS: dict[str, Any] = {
    "label_types": ["word"],
    "parts": {"representation": "pagerank"},
    "margin": 5.0,
    "epochs": 60,
    "batch_size": 256,
    "learning_rate": 0.005,
}
C_VALUES = (0.01, 0.1, 1.0, 10.0, 100.0)
WEIGHTS = (10.0, 50.0)


def main() -> None:
    """Run all splits, append each to the file, and print the paired difference."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    data = load_dataset("cora", label_types=["word"])
    classes = data.targets.toarray().argmax(axis=1)
    vectors = epb(**SETTINGS).fit_transform(data.graph)
    pairs = []
    for seed in range(options.splits):
        split = per_class_split(classes, seed)
        start = time.process_time()
        beside, weight = learned_beside(data.graph, classes, split)
        record = {
            "split": seed,
            "afterwards": learned_afterwards(vectors, classes, split),
            "beside": beside,
            "target_weight": weight,
            "cpu_seconds": round(time.process_time() - start, 1),
        }
        pairs.append((record["afterwards"], beside))
        print(json.dumps(record), flush=True)
        if options.out is not None:
            append_record(options.out, record)
    afterwards, together = np.array(pairs).T
    difference = together - afterwards
    print(
        f"afterwards {afterwards.mean():.2f} ± {afterwards.std(ddof=1):.2f}, beside "
        f"{together.mean():.2f} ± {together.std(ddof=1):.2f}; difference {difference.mean():+.2f} "
        f"± {difference.std(ddof=1) / len(pairs) ** 0.5:.2f} (standard error), better on "
        f"{int((difference > 0).sum())} of {len(pairs)} splits"
    )


def learned_afterwards(
    vectors: NDArray[np.float32], classes: NDArray[np.int64], split: Split
) -> float:
    """Return the test accuracy of logistic regression, C chosen on the validation nodes."""
    tried = []
    for c in C_VALUES:
        model = LogisticRegression(C=c, max_iter=300).fit(
            vectors[split.train], classes[split.train]
        )
        shares = [100 * model.score(vectors[p], classes[p]) for p in (split.validation, split.test)]
        tried.append(shares)
    return float(max(tried)[1])


def learned_beside(graph: Graph, classes: NDArray[np.int64], split: Split) -> tuple[float, float]:
    """Return the test accuracy of the head, and the target's weight that validation chose."""
    y = {graph.nodes[node]: int(classes[node]) for node in split.train.tolist()}
    tried = []
    for weight in WEIGHTS:
        model = epb(**SETTINGS).fit(graph, targets=y, target_weight=weight)
        right = np.array(model.predict()) == classes
        tried.append((100 * right[split.validation].mean(), 100 * right[split.test].mean(), weight))
    best = max(tried)
    return float(best[1]), best[2]


if __name__ == "__main__":
    main()

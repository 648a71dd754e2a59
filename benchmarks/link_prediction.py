"""Link prediction by the translation instance of EP, ranked by the usual filtered protocol.

    export EMBEDPROP_DATA=... OPENBLAS_NUM_THREADS=2 OMP_NUM_THREADS=2
    python benchmarks/link_prediction.py --out experiments/link_prediction.jsonl

Ids alone, inverse relations, each edge a visit of its own, softmax over 1000 negatives that a
batch shares (on WordNet each counts for the 41 nodes that it stands for), Adam with a falling rate.
Settings were chosen on the validation edges.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from embedprop import Graph
from embedprop.datasets import load_dataset
from embedprop.evaluation.links import rank_links
from embedprop.evaluation.provenance import machine
from embedprop.evaluation.records import append_record
from estimators import epb

COMMON: dict[str, Any] = {
    "label_types": ["node"],
    "neighborhood": "edges",
    "dim": 128,
    "batch_size": 1024,
    "negatives": "shared",
    "n_negatives": 1000,
    "schedule": "linear",
    "n_threads": 1,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "fb15k237": {"epochs": 10, "learning_rate": 0.01, "parts": {"loss": "softmax"}},
    "wn18rr": {
        "epochs": 16,
        "learning_rate": 0.03,
        "parts": {"loss": "softmax(negative_weight=41.0)"},
    },
    "wn18": {
        "epochs": 12,
        "learning_rate": 0.03,
        "parts": {"loss": "softmax(negative_weight=41.0)"},
    },
}


def main() -> None:
    """Train, rank and print; append a line for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(SETTINGS))
    parser.add_argument("--split", default="test", choices=["valid", "test"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", default="{}", help='JSON, such as {"epochs": 5}')
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    for name in options.names:
        record = measured(name, options.split, options.seed, json.loads(options.set))
        print(json.dumps(record, indent=1), flush=True)
        if options.out is not None:
            append_record(options.out, record)


def measured(name: str, split: str, seed: int, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the ranking of one data set with settings, CPU time and machine."""
    graphs = {part: edges(name, part) for part in ("train", "valid", "test")}
    settings = COMMON | SETTINGS[name] | changes
    start, cpu = time.perf_counter(), time.process_time()
    model = epb(**settings, random_state=seed, verbose=True).fit(graphs["train"].with_inverses())
    trained = {"wall": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    known = [graphs[part] for part in ("train", "valid", "test")]
    result = rank_links(model, graphs[split], known)
    return {
        "dataset": name,
        "split": split,
        "seed": seed,
        "settings": settings,
        **asdict(result),
        "training_seconds": {key: round(value, 1) for key, value in trained.items()},
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "machine": machine(),
    }


def edges(name: str, part: str) -> Graph:
    """Return one split of the edges, over all nodes, self-loops kept as the others do."""
    return load_dataset(name, directed=True, split=part, label_types=[], self_loops="keep").graph


if __name__ == "__main__":
    main()

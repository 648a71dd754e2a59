"""Time to quality: what `preset="fast"` reaches beside `preset="paper"`, and the curve on the way.

    export EMBEDPROP_DATA=... OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
    python benchmarks/presets.py [blogcatalog ppi ...] [--seeds 3] [--splits 10] [--out FILE]
    python benchmarks/presets.py --draw docs/images/presets.png --out FILE   # from what is in FILE

Each preset with its own number of epochs for every seed, and for the first seed also with fewer
and more. Graphs without labels: micro-F1 with 10 % of the nodes for training, number of classes
given. Graphs with words (as sets, beside ids): accuracy with 20 nodes per class. One thread, CPU
seconds of `fit`, kernels compiled before. What FILE has is not measured again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from embedprop import EmbeddingPropagation, load_dataset
from embedprop.datasets import Dataset
from embedprop.evaluation.node_classification import accuracy_chosen_on_validation, f1_given_counts
from embedprop.evaluation.provenance import publish
from embedprop.evaluation.records import read_records
from embedprop.evaluation.splits import per_class_split, share_split
from embedprop.graph import Graph
from embedprop.instance.parameters import FAST
from estimators import epb_preset

WORDS, STRUCTURE = ("cora", "citeseer", "pubmed"), ("blogcatalog", "ppi", "pos")
EPOCHS = {"paper": (25, 50, 100, 200), "fast": (25, 50, 100, 120, 150)}
OWN = {"paper": 200, "fast": FAST["epochs"]}

Key = tuple[str, str, int, int]  # graph, preset, epochs, seed


def main() -> None:
    """Measure what is missing; print it, and draw all if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=[*STRUCTURE, *WORDS])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--draw", type=Path, help="draw the curves of FILE, and measure nothing")
    options = parser.parse_args()
    records = read_records(options.out) if options.out and options.out.exists() else []
    found = [one for one in records if one["benchmark"] == "preset"]
    if options.draw:
        draw(found, options.draw)
        return
    known = {(one["graph"], one["preset"], one["epochs"], one["seed"]) for one in found}
    for name in options.names:
        wanted = [key for key in keys(name, options.seeds) if key not in known]
        for record in measured(name, wanted, options.splits):
            publish(record, options.out)


def keys(name: str, n_seeds: int) -> Iterator[Key]:
    """Yield what is to be measured of a graph."""
    for preset, own in OWN.items():
        yield from ((name, preset, epochs, 0) for epochs in EPOCHS[preset])
        yield from ((name, preset, own, seed) for seed in range(1, n_seeds))


def measured(name: str, wanted: Sequence[Key], n_splits: int) -> Iterator[dict[str, Any]]:
    """Yield a record for each of `wanted`, all of one graph."""
    if not wanted:
        return
    data = load(name)
    for preset in OWN:
        learned(data.graph, preset, 0, 0)  # compiles
    for _, preset, epochs, seed in wanted:
        model, seconds = learned(data.graph, preset, epochs, seed)
        values = [quality(name, data, model.node_embeddings_, split) for split in range(n_splits)]
        yield {
            "benchmark": "preset",
            "graph": name,
            "preset": preset,
            "epochs": epochs,
            "seed": seed,
            "cpu_seconds": round(seconds, 2),
            "quality": round(100 * float(np.mean(values)), 2),
            "sd over splits": round(100 * float(np.std(values, ddof=1)), 2),
        }


def load(name: str) -> Dataset:
    """Return a data set as the paper has it: without weights, words as sets."""
    label_types = ["word"] if name in WORDS else []
    return load_dataset(name, weighted=False, label_weights=False, label_types=label_types)


def learned(
    graph: Graph, preset: str, epochs: int, seed: int
) -> tuple[EmbeddingPropagation, float]:
    """Return a trained model and the CPU seconds of its training."""
    model = epb_preset(preset, epochs=epochs, random_state=seed)
    start = time.process_time()
    model.fit(graph)
    return model, time.process_time() - start


def quality(name: str, data: Dataset, vectors: np.ndarray, seed: int) -> float:
    """Return accuracy (one class per node) or micro-F1 (several) on one split."""
    targets = data.targets.toarray().astype(bool)
    if name in WORDS:
        classes = np.where(targets.any(axis=1), targets.argmax(axis=1), -1)
        split = per_class_split(classes, seed)
        return float(accuracy_chosen_on_validation([vectors], classes, split)["test"])
    nodes = np.flatnonzero(targets.any(axis=1))
    return float(f1_given_counts(vectors, targets, share_split(nodes, 0.1, seed))["micro"])


def draw(records: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw quality against CPU seconds, a panel per graph."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
    for axis, name in zip(axes.flat, (*STRUCTURE, *WORDS), strict=True):
        for preset, color in (("paper", "0.55"), ("fast", "C0")):
            rows = [one for one in records if (one["graph"], one["preset"]) == (name, preset)]
            curve = sorted((one["cpu_seconds"], one["quality"]) for one in rows if not one["seed"])
            axis.plot(*zip(*curve, strict=True), "o-", color=color, label=preset, markersize=4)
            ends = [one for one in rows if one["epochs"] == OWN[preset]]
            axis.plot(
                [one["cpu_seconds"] for one in ends],
                [one["quality"] for one in ends],
                "D",
                color=color,
                markersize=7,
                alpha=0.6,
            )
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set_title(name)
        axis.set_ylabel("micro-F1 at 10 %" if name in STRUCTURE else "accuracy")
    for axis in axes[1]:
        axis.set_xlabel("CPU seconds")
    axes[0, 0].legend(title="preset")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()

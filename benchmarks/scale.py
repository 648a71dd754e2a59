"""How the cost of an epoch grows with the graph, from 10 thousand to 10 million edges.

    export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
    python benchmarks/scale.py --out experiments/benchmarks.jsonl --plot docs/images/scale.png
    python benchmarks/scale.py --instance closed-form --out ... --plot ...    # adds the closed form
    python benchmarks/scale.py --draw --out ... --plot ...            # what is on file

Power-law graphs of mean degree 20, ids, 128 dimensions, full neighborhoods, margin 1, one thread.
The cost of an epoch is the CPU time of a fit of 5 epochs, less that of a fit without any, divided
by 5; small graphs are fitted both ways alternately for a few seconds; medians count. All sizes
learn for the same number of epochs, because an epoch grows cheaper as margins become satisfied.
`slope` is that of the least squares line through (log edges, log seconds): 1 if the cost is linear
in edges.

What bends the line is the memory: the tables of the smallest graph (1.5 MB) fit into the caches of
one core, those of the largest (1.5 GB) into none. `product` shows how much of that any program
meets that reads a row per edge: the CPU time of SciPy's `adjacency @ X` on the same graph. And in a
small graph the nodes of a batch share many of their neighbors, so that fewer distinct rows are
touched per edge: `rows_slope` is the slope of their number, the same on any machine. Of the closed
form the whole fit is measured.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from epoch import product_seconds
from power_law import power_law_edges

from embedprop import Graph
from embedprop.evaluation.provenance import publish
from embedprop.evaluation.records import read_records
from estimators import closed_form, epb

MEAN_DEGREE = 20
DIM = 128
BATCH_SIZE = 64
EPOCHS = 5
SIZES = {
    "epb": (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
    "closed-form": (10_000, 100_000, 1_000_000),
}
TITLES = {"epb": "EP-B, one epoch", "closed-form": "closed form, the whole fit"}
COLORS = ("#1f5fa8", "#8a8a8a", "#c2571a")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instance", choices=list(SIZES), default="epb")
    parser.add_argument("--edges", type=int, nargs="+", help="default: up to 10 (1) million")
    parser.add_argument("--seconds", type=float, default=3.0, help="of the epochs of each size")
    parser.add_argument("--out", type=Path, help="a file of JSON lines to append to")
    parser.add_argument("--plot", type=Path, help="draw what is in --out, else this measurement")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    options = parser.parse_args()
    records: list[dict[str, Any]] = []
    if not options.draw:
        sizes = options.edges or SIZES[options.instance]
        if options.instance == "epb":
            measured = points(sizes, options.seconds)
        else:
            measured = [closed_form_point(size) for size in sizes]
        records.append(record_of(options.instance, measured))
        publish(records[0], options.out)
    if options.plot:
        draw(newest(read_records(options.out) if options.out else records), options.plot)


def points(sizes: Sequence[int], seconds: float) -> list[dict[str, Any]]:
    """Return edges and CPU seconds per epoch, for each size; the kernels are compiled first."""
    fit_seconds(power_law_graph(1_000), "epb", 1)
    return [epoch_point(n_edges, seconds) for n_edges in sizes]


def epoch_point(n_edges: int, seconds: float) -> dict[str, Any]:
    """Measure the first epochs of one graph, for about `seconds` seconds."""
    graph = power_law_graph(n_edges)
    product = statistics.median(product_seconds(graph, ["node"])["node: A X"])
    with_epochs: list[float] = []
    without: list[float] = []
    while sum(with_epochs) < seconds:
        without.append(fit_seconds(graph, "epb", 0))
        with_epochs.append(fit_seconds(graph, "epb", EPOCHS))
    rest = statistics.median(without)
    # On a busy machine a tiny graph's epochs can be lost in the noise of all the rest.
    epoch = max(statistics.median(with_epochs) - rest, 1e-6) / EPOCHS
    return {
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "fits": len(with_epochs),
        "cpu_seconds": round(epoch, 8),
        "cpu_seconds_without_an_epoch": round(rest, 3),
        "product_cpu_seconds": round(product, 6),
        "n_rows": distinct_rows(graph),
        "nanoseconds_per_edge": round(1e9 * epoch / graph.n_edges, 1),
    }


def distinct_rows(graph: Graph) -> int:
    """Return how many rows the batches of an epoch touch, each its distinct nodes; drawn anew."""
    rng = np.random.default_rng(0)
    order = rng.permutation(graph.n_nodes)
    negatives = rng.integers(graph.n_nodes, size=graph.n_nodes)
    found = 0
    for low in range(0, graph.n_nodes, BATCH_SIZE):
        nodes = order[low : low + BATCH_SIZE]
        heard = graph.neighbors.subset(nodes).ids
        found += len(np.unique(np.concatenate([heard, nodes, negatives[low : low + BATCH_SIZE]])))
    return found


def closed_form_point(n_edges: int) -> dict[str, Any]:
    """Measure the whole fit of the closed form."""
    graph = power_law_graph(n_edges)
    spent = fit_seconds(graph, "closed-form", 0)
    return {"n_nodes": graph.n_nodes, "n_edges": graph.n_edges, "cpu_seconds": round(spent, 3)}


def power_law_graph(n_edges: int) -> Graph:
    """Return a power-law graph of the usual mean degree."""
    n_nodes = 2 * n_edges // MEAN_DEGREE
    return Graph.from_edges(power_law_edges(n_nodes, n_edges), nodes=range(n_nodes))


def fit_seconds(graph: Graph, instance: str, epochs: int) -> float:
    """Return the CPU seconds of a whole fit."""
    if instance == "epb":
        model = epb(dim=DIM, epochs=epochs, batch_size=BATCH_SIZE)
    else:
        model = closed_form(dim=DIM)
    start = time.process_time()
    model.fit(graph)
    return time.process_time() - start


def record_of(instance: str, measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a record of all sizes, with the slope on log axes."""
    slopes = {"slope": round(line(measured)[0], 3)}
    if instance == "epb":
        slopes["product_slope"] = round(line(measured, "product_cpu_seconds")[0], 3)
        slopes["rows_slope"] = round(line(measured, "n_rows")[0], 3)
    return {
        "benchmark": "scale",
        "graph": "power-law",
        "instance": instance,
        **slopes,
        "points": list(measured),
    }


def line(measured: Sequence[Mapping[str, Any]], what: str = "cpu_seconds") -> tuple[float, float]:
    """Return slope and offset of the least squares line through the logarithms."""
    edges, seconds = ([point[key] for point in measured] for key in ("n_edges", what))
    slope, offset = np.polyfit(np.log10(edges), np.log10(seconds), 1)
    return float(slope), float(offset)


def newest(records: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the last record of each instance."""
    found = {one["instance"]: one for one in records if one.get("benchmark") == "scale"}
    if not found:
        raise SystemExit("There are no records of this benchmark to draw.")
    return found


def draw(records: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Draw CPU seconds against edges on log axes, with the fitted line of each instance."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    curves = [(record, "cpu_seconds", TITLES[instance]) for instance, record in records.items()]
    if "epb" in records:
        curves.insert(1, (records["epb"], "product_cpu_seconds", "sparse product A X"))
    for (record, what, title), color in zip(curves, COLORS, strict=False):
        edges = np.array([point["n_edges"] for point in record["points"]], float)
        seconds = [point[what] for point in record["points"]]
        slope, offset = line(record["points"], what)
        axes.loglog(edges, 10**offset * edges**slope, color=color, linewidth=1, alpha=0.7)
        label = f"{title}: slope {slope:.2f}"
        axes.loglog(edges, seconds, "o", color=color, markersize=5, label=label)
    axes.set_xlabel("undirected edges (power-law graphs, mean degree 20)")
    axes.set_ylabel("CPU seconds, one thread, 128 dimensions")
    axes.grid(visible=True, which="major", linewidth=0.4, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", edgecolor="none", framealpha=1.0)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()

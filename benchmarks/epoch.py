"""An epoch of EP-B against the sparse products that it contains, and the gain from a second thread.

    export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 EMBEDPROP_DATA=...
    python benchmarks/epoch.py                                      # BlogCatalog, ids
    python benchmarks/epoch.py --data pubmed --label-types word
    python benchmarks/epoch.py --data power-law --nodes 1000000 --edges 10000000 --epochs 2

Full neighborhoods, 128 dimensions, batches of 64, margin 1, one thread. `ratio` is the CPU time of
the whole job, from start vectors to node vectors, divided by its epochs and by the CPU time of the
products that an epoch contains, all measured in this run:

    ids      A X (what every node hears) and A' X (the gradients back), so twice SpMM(A)
    words    L X (h of every node from its words), A X, A' X, and L' X (gradients of words)

A is the adjacency matrix, L (nodes, words) the label weights of each node, divided by their sum; X
has 128 columns; each is SciPy's float32 `csr_array @ X`, the median of several. Of several label
types the products add up. An epoch also compares with the negatives, finds the distinct rows of
each batch, and changes vectors and both moments, which no product does. Kernels are compiled before
the clock starts. `speed_up_of_2_threads` compares wall seconds, medians of several alternating
runs, and `speed_up_of_2_processes` says how much there is to gain on this machine at this hour: how
much more is done by two processes that learn at the same time, each with one thread.
Peak memory is that of the process while it learns, the graph included.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from power_law import power_law_edges
from scipy.sparse import csr_array

from embedprop import Graph
from embedprop.datasets import load_dataset
from embedprop.evaluation.provenance import forget_peak, peak_memory, publish
from embedprop.graph.changes.learnable import learned_labels
from estimators import epb

DIM = 128
# A product is repeated at least twice, at most N_PRODUCTS times, and for about SECONDS.
N_PRODUCTS, SECONDS = 15, 5.0
# What a process of its own keeps between two trainings.
worker: dict[str, Any] = {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="blogcatalog", help="a data set, or power-law")
    parser.add_argument("--label-types", nargs="+", default=["node"])
    parser.add_argument("--nodes", type=int, default=1_000_000, help="of the power-law graph")
    parser.add_argument("--edges", type=int, default=10_000_000, help="of the power-law graph")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3, help="timings of threads; 0: none")
    parser.add_argument("--out", type=Path, help="a file of JSON lines to append to")
    options = parser.parse_args()
    publish(measured(load(options), options), options.out)


def load(options: argparse.Namespace) -> Graph:
    """Return the graph that is asked for."""
    if options.data != "power-law":
        return load_dataset(options.data).graph
    edges = power_law_edges(options.nodes, options.edges)
    return Graph.from_edges(edges, nodes=range(options.nodes))


def measured(graph: Graph, options: argparse.Namespace) -> dict[str, Any]:
    """Return all figures of a graph."""
    types = options.label_types
    fit(graph, types, 0, 1)  # compiles
    preparation, _ = fit(graph, types, 0, 1)
    before = product_seconds(graph, types)
    forget_peak()
    cpu, wall = fit(graph, types, options.epochs, 1)
    peak = peak_memory()
    after = product_seconds(graph, types)
    products = {name: statistics.median(before[name] + after[name]) for name in before}
    record = {
        "benchmark": "epoch",
        "graph": options.data,
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "label_types": types,
        "epochs": options.epochs,
        "cpu_seconds": round(cpu, 4),
        "wall_seconds": round(wall, 4),
        "cpu_seconds_without_an_epoch": round(preparation, 4),
        "product_cpu_seconds": {name: round(seconds, 7) for name, seconds in products.items()},
        "ratio": round(cpu / options.epochs / sum(products.values()), 2),
        "peak_gb": None if peak is None else round(peak / 1e9, 2),
    }
    if options.repeats:
        record |= speed_ups(graph, options)
    return record


def fit(graph: Graph, label_types: list[str], epochs: int, n_threads: int) -> tuple[float, float]:
    """Return CPU and wall seconds of a whole training."""
    model = epb(dim=DIM, label_types=label_types, epochs=epochs, n_threads=n_threads)
    cpu, wall = time.process_time(), time.perf_counter()
    model.fit(graph)
    return time.process_time() - cpu, time.perf_counter() - wall


def speed_ups(graph: Graph, options: argparse.Namespace) -> dict[str, Any]:
    """Return what a second thread gains, and what a second process would, in alternating runs."""
    one: list[float] = []
    threads: list[float] = []
    processes: list[float] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, context, initializer=begin_worker, initargs=(options,)) as pool:
        list(pool.map(wall_in_worker, [0, 0]))
        for _ in range(options.repeats):
            one.append(fit(graph, options.label_types, options.epochs, 1)[1])
            threads.append(fit(graph, options.label_types, options.epochs, 2)[1])
            processes.append(max(pool.map(wall_in_worker, [options.epochs] * 2)))
    alone = statistics.median(one)
    return {
        "speed_up_of_2_threads": round(alone / statistics.median(threads), 2),
        "speed_up_of_2_processes": round(2 * alone / statistics.median(processes), 2),
        "wall_seconds_by_turns": {
            name: [round(seconds, 2) for seconds in several]
            for name, several in zip(
                ("1 thread", "2 threads", "2 processes"), (one, threads, processes), strict=True
            )
        },
    }


def begin_worker(options: argparse.Namespace) -> None:
    """Load the graph in a process of its own."""
    worker["options"], worker["graph"] = options, load(options)


def wall_in_worker(epochs: int) -> float:
    """Return the wall seconds of a training in this process."""
    return fit(worker["graph"], worker["options"].label_types, epochs, 1)[1]


def product_seconds(graph: Graph, label_types: list[str]) -> dict[str, list[float]]:
    """Return the CPU seconds of each product that an epoch contains, several times each."""
    return {
        name: repeated(matrix, columns) for name, matrix, columns in products(graph, label_types)
    }


def products(graph: Graph, label_types: list[str]) -> Iterator[tuple[str, csr_array, Any]]:
    """Yield the name of each product, and its two factors; one pair is in memory at a time."""
    adjacency = as_matrix(graph.neighbors, graph.n_nodes)
    for name in label_types:
        if name != "node":
            labels = learned_labels(graph, name)
            weights = as_matrix(labels.sets, labels.n_vectors)
            weights.data /= np.repeat(labels.sets.totals, labels.sets.sizes)
            yield f"{name}: L X", weights, some_columns(labels.n_vectors)
            yield f"{name}: L' X", weights.T.tocsr(), some_columns(graph.n_nodes)
        yield f"{name}: A X", adjacency, some_columns(graph.n_nodes)
        yield f"{name}: A' X", adjacency.T.tocsr(), some_columns(graph.n_nodes)


def as_matrix(sets: Any, n_columns: int) -> csr_array:
    """Return multisets as a float32 matrix with int32 indices: SciPy's fastest."""
    weights = np.ones(sets.n_values, np.float32) if sets.weights is None else sets.weights.copy()
    return csr_array((weights, sets.ids, sets.ptr.astype(np.int32)), shape=(sets.n_sets, n_columns))


def some_columns(n_rows: int) -> Any:
    return np.random.default_rng(0).random((n_rows, DIM), dtype=np.float32)


def repeated(matrix: csr_array, columns: Any) -> list[float]:
    """Return the CPU seconds of several products."""
    seconds: list[float] = []
    while len(seconds) < 2 or (len(seconds) < N_PRODUCTS and sum(seconds) < SECONDS):
        start = time.process_time()
        matrix @ columns
        seconds.append(time.process_time() - start)
    return seconds


if __name__ == "__main__":
    main()

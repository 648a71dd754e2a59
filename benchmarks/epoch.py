"""An epoch of EP-B against the sparse products that it contains, and the gain from a second thread.

Usage: OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 EMBEDPROP_DATA=... python benchmarks/epoch.py

BlogCatalog, full neighborhoods, 128 dimensions, batches of 64, margin 1. `ratio` is the CPU time of
the whole job on one thread, divided by its epochs and by twice the CPU time of SciPy's
`adjacency @ X`, both measured in this run. Kernels are compiled before the clock starts.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import time

import numpy as np
from scipy.sparse import csr_array

from embedprop import EmbeddingPropagation, Graph, load_dataset

N_PRODUCTS = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="blogcatalog")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument(
        "--thread-epochs", type=int, default=40, help="epochs per timing of threads"
    )
    parser.add_argument("--repeats", type=int, default=3, help="timings of threads")
    options = parser.parse_args()
    graph = load_dataset(options.data).graph
    fit(graph, 0, 1)  # compiles

    before = product_seconds(graph)
    cpu, wall = fit(graph, options.epochs, 1)
    product = statistics.median(before + product_seconds(graph))

    walls = {n: [] for n in (1, 2)}
    for _ in range(options.repeats):
        for n_threads, seconds in walls.items():
            seconds.append(fit(graph, options.thread_epochs, n_threads)[1])
    result = {
        "data": options.data,
        "epochs": options.epochs,
        "cpu_seconds": round(cpu, 2),
        "wall_seconds": round(wall, 2),
        "product_cpu_seconds": round(product, 5),
        "ratio": round(cpu / options.epochs / (2 * product), 2),
        "speed_up_of_2_threads": round(min(walls[1]) / min(walls[2]), 2),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "commit": commit(),
    }
    print(json.dumps(result))


def fit(graph: Graph, epochs: int, n_threads: int) -> tuple[float, float]:
    """Return CPU and wall seconds of a whole training."""
    model = EmbeddingPropagation(
        label_types=["node"], epochs=epochs, n_threads=n_threads, verbose=False
    )
    cpu, wall = time.process_time(), time.perf_counter()
    model.fit(graph)
    return time.process_time() - cpu, time.perf_counter() - wall


def product_seconds(graph: Graph) -> list[float]:
    """Return CPU seconds of several products of the adjacency matrix with 128 columns."""
    neighbors = graph.neighbors
    weights = np.ones(neighbors.n_values, np.float32)
    shape = (graph.n_nodes, graph.n_nodes)
    adjacency = csr_array((weights, neighbors.ids, neighbors.ptr.astype(np.int32)), shape=shape)
    columns = np.random.default_rng(0).random((graph.n_nodes, 128), dtype=np.float32)
    seconds = []
    for _ in range(N_PRODUCTS):
        start = time.process_time()
        adjacency @ columns
        seconds.append(time.process_time() - start)
    return seconds


def commit() -> str:
    """Return the commit of the code, if this is a checkout."""
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()


if __name__ == "__main__":
    main()

"""What it costs in quality to learn a pair of partitions at a time, as storage="disk" does.

    EMBEDPROP_DATA=... python benchmarks/partitions.py blogcatalog ppi power_law \
        [--partitions 2 4 8 16] [--orders given random sorted] [--seeds 1] [--splits 5] [--out FILE]

Micro-F1 with 10 % of the nodes, number of classes given, the protocol of the paper; the same seeds,
splits and settings (the paper's, margin 1) for all. "memory" is storage="memory". Partitions are
ranges of ids, so the order of the nodes may matter: "given" is that of the data, "random" shuffles,
"sorted" goes by the second eigenvector of the graph, which puts communities into one partition (by
class would give away what is to be predicted). power_law: 20,000 nodes, 200,000 edges, 50
planted communities, which are the classes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from power_law import communities, power_law_edges
from scipy.sparse import diags_array
from scipy.sparse.linalg import eigsh

from embedprop import Graph, load_dataset
from embedprop.evaluation.node_classification import f1_given_counts
from embedprop.evaluation.provenance import publish
from embedprop.evaluation.splits import share_split
from embedprop.graph.changes.subgraph import subgraph
from embedprop.graph.matrix import adjacency_matrix
from estimators import epb

POWER_LAW = {"n_nodes": 20_000, "n_edges": 200_000, "n_communities": 50}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--partitions", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--orders", nargs="+", default=["given"])
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--max-neighbors", type=int)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--no-memory", action="store_true", help="leave storage='memory' out")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    for name in options.names:
        graph, targets = read(name)
        for order in options.orders:
            rows = ordered(order, graph)
            placed = subgraph(graph, rows), targets[rows]
            for storage in storages(options):
                record = {"benchmark": "partitions", "data": name, "order": order}
                publish(record | measure(*placed, storage, options), options.out)


def storages(options):
    on_disk = [f"disk(partitions={number})" for number in options.partitions]
    return on_disk if options.no_memory else ["memory", *on_disk]


def read(name):
    """Return the graph with ids only, and the classes of its nodes."""
    if name == "power_law":
        n_nodes, n_communities = POWER_LAW["n_nodes"], POWER_LAW["n_communities"]
        edges = power_law_edges(**POWER_LAW)
        planted = communities(n_nodes, n_communities, 0)
        graph = Graph.from_edges(edges, nodes=range(n_nodes))
        of = planted[np.array(graph.nodes.names)]
        return graph, of[:, None] == np.arange(n_communities)
    dataset = load_dataset(name)
    return dataset.graph, dataset.targets.toarray().astype(bool)


def ordered(order, graph):
    if order == "random":
        return np.random.default_rng(0).permutation(graph.n_nodes)
    if order == "sorted":
        neighbors, matrix = graph.neighbors, adjacency_matrix(graph, np.float64)
        scale = diags_array(1 / np.sqrt(np.maximum(neighbors.sizes, 1)))
        start = np.random.default_rng(0).random(graph.n_nodes)
        _, vectors = eigsh(scale @ matrix @ scale, k=2, v0=start)
        return np.argsort(scale @ vectors[:, 0], kind="stable")
    return np.arange(graph.n_nodes)


def measure(graph, targets, storage, options):
    nodes = np.flatnonzero(targets.any(axis=1))
    scores, seconds = [], []
    for seed in range(options.seeds):
        model = epb(
            storage=storage, random_state=seed, label_types=["node"], epochs=options.epochs,
            max_neighbors=options.max_neighbors, n_threads=None,
        )  # fmt: skip
        start = time.process_time()
        vectors = model.fit_transform(graph)
        seconds.append(time.process_time() - start)
        # Splits go by position, so that each order has its own.
        scores += [
            f1_given_counts(vectors, targets, share_split(nodes, 0.1, split), solver="batched")
            for split in range(options.splits)
        ]
    return {
        "storage": storage,
        "epochs": options.epochs,
        "max_neighbors": options.max_neighbors,
        "seeds": options.seeds,
        "micro-F1 at 10 %": round(100 * float(np.mean([one["micro"] for one in scores])), 2),
        "macro-F1 at 10 %": round(100 * float(np.mean([one["macro"] for one in scores])), 2),
        "CPU seconds": round(float(np.mean(seconds)), 1),
    }


if __name__ == "__main__":
    main()

"""Quality and cost of the closed form with its defaults.

    export EMBEDPROP_DATA=... OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
    python benchmarks/closed_form.py            # graphs with words: accuracy, 50 splits
    python benchmarks/closed_form.py --seconds  # CPU seconds on the paper's six graphs
    python benchmarks/closed_form.py --scale    # 1 million nodes, 10 million edges

Accuracy: 20 nodes per class, 1000 for choosing C of {0.01, 0.1, 1, 10, 100}, 1000 for testing;
multinomial logistic regression. Inductive: the test nodes are removed before the fit, and get their
vectors by `transform`. Words are sets; Pubmed's TF-IDF weights are the last row. CPU seconds are of
`fit` alone, by one BLAS thread.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np
from numpy.typing import NDArray
from power_law import power_law_edges

from embedprop import Graph
from embedprop.datasets import Dataset, load_dataset
from embedprop.evaluation.splits import Split, per_class_split
from embedprop.graph.changes.subgraph import subgraph
from estimators import closed_form

WORDS = (("cora", False), ("citeseer", False), ("pubmed", False), ("pubmed", True))
STRUCTURE = ("blogcatalog", "ppi", "pos")
C_VALUES = (0.01, 0.1, 1.0, 10.0, 100.0)


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--seconds", action="store_true")
    parser.add_argument("--scale", action="store_true")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    if options.scale:
        scale(options.nodes, options.edges)
    elif options.seconds:
        seconds()
    else:
        words(options.splits)


def words(n_splits: int) -> None:
    """Print accuracies on the citation graphs."""
    for name, weighted in WORDS:
        data = load_dataset(name, label_weights=weighted, label_types=["word"])
        classes = np.where(
            data.targets.toarray().any(axis=1), data.targets.toarray().argmax(axis=1), -1
        )
        splits = [per_class_split(classes, seed) for seed in range(n_splits)]
        vectors = closed_form().fit(data.graph).node_embeddings_
        random = [accuracy(vectors, classes, split) for split in splits]
        public = Split(*(data.splits[part] for part in ("train", "val", "test")))
        new = [accuracy(inductive(data, split), classes, split) for split in splits]
        print(
            f"{name}{' TF-IDF' if weighted else ''}: random {np.mean(random):.2f} ± "
            f"{np.std(random):.2f}, inductive {np.mean(new):.2f} ± {np.std(new):.2f} "
            f"({n_splits} splits); public split {accuracy(vectors, classes, public):.1f}",
            flush=True,
        )


def inductive(data: Dataset, split: Split) -> NDArray[np.float32]:
    """Return vectors of all nodes, learned without the test nodes."""
    known = np.setdiff1d(np.arange(data.graph.n_nodes), split.test)
    return closed_form().fit(subgraph(data.graph, known)).transform(data.graph)


def accuracy(vectors: NDArray[np.float32], classes: NDArray[np.int64], split: Split) -> float:
    """Return the test accuracy in percent, with C chosen on the validation nodes."""
    from sklearn.linear_model import LogisticRegression

    best = (-1.0, 0.0)
    for c in C_VALUES:
        model = LogisticRegression(C=c, max_iter=300, tol=1e-3)
        model.fit(vectors[split.train], classes[split.train])
        right = [
            float(model.score(vectors[nodes], classes[nodes]))
            for nodes in (split.validation, split.test)
        ]
        best = max(best, (right[0], right[1]), key=lambda pair: pair[0])
    return 100 * best[1]


def seconds() -> None:
    """Print CPU seconds of a second fit: the first has loaded the libraries."""
    for name in ("cora", "citeseer", "pubmed", *STRUCTURE):
        types = [] if name in STRUCTURE else ["word"]
        graph = load_dataset(name, weighted=False, label_types=types).graph
        taken = []
        for _ in range(3):
            start = time.process_time()
            model = closed_form().fit(graph)
            taken.append(time.process_time() - start)
        shown = ", ".join(f"{t:.2f}" for t in taken)
        print(f"{name}: {shown} CPU s; residual {max(model.residuals_.values()):.0e}", flush=True)


def scale(n_nodes: int, n_edges: int) -> None:
    """Print CPU seconds and memory for a power-law graph."""
    graph = Graph.from_edges(power_law_edges(n_nodes, n_edges), nodes=range(n_nodes))
    print(f"{graph.n_nodes} nodes, {graph.n_edges} edges; {peak():.2f} GB so far", flush=True)
    start = time.process_time()
    model = closed_form().fit(graph)
    print(
        f"{time.process_time() - start:.0f} CPU s, peak {peak():.2f} GB, "
        f"residuals {model.residuals_}, {model.node_embeddings_.shape}"
    )


def peak() -> float:
    """Return the largest memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    main()

"""Node vectors for graphs without labels: EP in closed form against its peers, all in one run.

Usage: EMBEDPROP_DATA=... python benchmarks/structure_peers.py [ppi pos blogcatalog]
           [--methods embedprop prone spectral svd netmf] [--shares 0.1 0.5] [--splits 10]
           [--out FILE]

Micro- and macro-F1 with a share of the nodes for training, number of classes given, one-vs-rest
logistic regression on 128 dimensions. C, and whether columns are standardized (over all nodes) or
left as the method returns them, are chosen by 3-fold cross-validation on the training nodes, for
micro and macro separately. Every method has the same splits, the same graph without weights and
self-loops, and its own default settings. Mean and sample standard deviation over splits, of one
table of vectors each; CPU seconds of that table on one BLAS thread, without imports, loading and
compilation. What stands in FILE (a JSON line per method, data set and share) is not measured
again: delete a line to repeat it. EP-B as published had splits and choices of its own.
"""

import argparse
import importlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported, hence here
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags_array
from scipy.sparse.linalg import eigsh

from embedprop import EmbeddingPropagation, Graph
from embedprop.datasets import load_dataset
from embedprop.evaluation.node_classification import (
    L2_VALUES,
    cross_validated_f1,
    f1,
    most_likely,
    score_path,
)
from embedprop.evaluation.splits import Split, share_split

DIM = 128
METRICS = ("micro", "macro")
PUBLISHED = {  # micro-F1 of EP-B in the paper, by share
    "ppi": {0.1: 17.82, 0.5: 23.30},
    "pos": {0.1: 46.97, 0.5: 49.52},
    "blogcatalog": {0.1: 35.05, 0.5: 39.44},
}

Vectors = NDArray[np.floating]
Record = dict[str, Any]
Key = tuple[str, float, str]  # data set, share, method
Run = dict[str, tuple[float, tuple[int, float]]]  # metric: its value, chosen variant and C


def closed_form(graph: Graph, _: csr_matrix) -> Vectors:
    return EmbeddingPropagation(instance="eps", verbose=False).fit(graph).node_embeddings_


def prone(_: Graph, adjacency: csr_matrix) -> Vectors:
    from nodevectors import ProNE

    np.random.seed(0)  # noqa: NPY002 - its randomized SVD draws from the global generator
    return ProNE(n_components=DIM, verbose=False).fit_transform(adjacency)


def spectral(_: Graph, adjacency: csr_matrix) -> Vectors:
    from sknetwork.embedding import Spectral

    return Spectral(DIM).fit_transform(adjacency)


def svd(_: Graph, adjacency: csr_matrix) -> Vectors:
    from sknetwork.embedding import SVD

    return SVD(DIM).fit_transform(adjacency)


def netmf(_: Graph, adjacency: csr_matrix, window: int = 10, n_negatives: int = 1) -> Vectors:
    """Factorize log max(1, vol / (b T) * sum over r = 1..T of (D^-1 A)^r D^-1), T = `window`.

    The version for small windows of Qiu et al. (WSDM 2018), dense. A node without neighbors has 0.
    """
    degrees = adjacency.sum(axis=1).A1.astype(np.float32)
    scale = diags_array(1 / np.sqrt(np.maximum(degrees, 1)))
    step = (scale @ adjacency.astype(np.float32) @ scale).tocsr()
    walks, diagonal = step.toarray(), np.diag_indices(len(degrees))
    for _step in range(window - 1):  # Horner: S becomes X (I + S)
        walks[diagonal] += 1
        walks = step @ walks
    walks *= degrees.sum() / (n_negatives * window) * scale.diagonal()[:, None]
    walks *= scale.diagonal()
    np.log(np.maximum(walks, 1, out=walks), out=walks)
    start = np.random.default_rng(0).random(len(degrees), dtype=np.float32)
    # The matrix is symmetric: its singular values are the absolute eigenvalues.
    values, vectors = eigsh(walks, DIM, which="LM", v0=start)
    return vectors * np.sqrt(np.abs(values))


class Method(NamedTuple):
    """How a method is called in the table, where its code comes from, and the code."""

    title: str
    package: str
    module: str
    embed: Callable[[Graph, csr_matrix], Vectors]


METHODS = {
    "embedprop": Method("EP, closed form", "embedprop", "embedprop", closed_form),
    "prone": Method("ProNE", "nodevectors", "nodevectors", prone),
    "spectral": Method("Spectral", "scikit-network", "sknetwork.embedding", spectral),
    "svd": Method("SVD", "scikit-network", "sknetwork.embedding", svd),
    "netmf": Method("NetMF", "scipy", "scipy", netmf),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(PUBLISHED))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--shares", nargs="+", type=float, default=[0.1, 0.5])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--out", type=Path, help="JSON lines: read first, then appended to")
    options = parser.parse_args()
    known = read_records(options.out, options.splits)
    wanted = [(d, s, m) for d in options.names for s in options.shares for m in options.methods]
    warm_up(sorted({key[2] for key in wanted if key not in known}))
    for name in options.names:
        missing = [key for key in wanted if key[0] == name and key not in known]
        for record in measured(name, missing, options.splits) if missing else ():
            known[record["data"], record["share"], record["method"]] = record
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(record) + "\n")
    print(table([known[key] for key in wanted]))


def read_records(path: Path | None, n_splits: int) -> dict[Key, Record]:
    lines = path.read_text().splitlines() if path and path.exists() else []
    records = [json.loads(line) for line in lines]
    complete = [one for one in records if len(one["micro_runs"]) == n_splits]
    return {(one["data"], one["share"], one["method"]): one for one in complete}


def warm_up(methods: Iterable[str]) -> None:
    """Import and compile what the methods need; stop with advice if a package is missing."""
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 4 * DIM, (40 * DIM, 2)))
    for name in methods:
        method = METHODS[name]
        try:
            importlib.import_module(method.module)
        except ModuleNotFoundError as error:
            raise SystemExit(
                f"Method {name!r} needs the package {method.package} ({error}). Install it by "
                f"'pip install {method.package}', or leave it out by --methods."
            ) from error
        method.embed(graph, adjacency_of(graph))


def adjacency_of(graph: Graph) -> csr_matrix:
    """Return the neighbors as a matrix; the peers take `csr_matrix` but not `csr_array`."""
    neighbors = graph.neighbors
    ones = np.ones(neighbors.n_values)
    return csr_matrix((ones, neighbors.ids, neighbors.ptr), shape=(graph.n_nodes, graph.n_nodes))


def measured(name: str, missing: Sequence[Key], n_splits: int) -> Iterable[Record]:
    """Yield a record for each missing share and method of one data set."""
    dataset = load_dataset(name, weighted=False)
    targets = dataset.targets.toarray().astype(bool)
    nodes = np.flatnonzero(targets.any(axis=1))
    tables: dict[str, tuple[Vectors, float]] = {}
    for _, share, method in missing:
        if method not in tables:
            adjacency, start = adjacency_of(dataset.graph), time.process_time()
            vectors = METHODS[method].embed(dataset.graph, adjacency)
            tables[method] = vectors, time.process_time() - start
        vectors, cpu_seconds = tables[method]
        variants = (vectors, standardized(vectors))
        splits = (share_split(nodes, share, seed) for seed in range(n_splits))
        found = summary([f1_of_split(variants, targets, split) for split in splits])
        release = f"{METHODS[method].package} {version(METHODS[method].package)}"
        record = {"method": method, "data": name, "share": share, "cpu_seconds": cpu_seconds}
        yield record | found | {"version": release, "load": os.getloadavg()[0]}


def standardized(vectors: Vectors) -> Vectors:
    spread = vectors.std(axis=0)
    return (vectors - vectors.mean(axis=0)) / np.where(spread > 0, spread, 1)


def f1_of_split(variants: Sequence[Vectors], targets: NDArray[np.bool_], split: Split) -> Run:
    """Return F1 on the test nodes for each metric, and the variant and C chosen for it."""
    by_fold = np.array([cross_validated_f1(one, targets, split.train) for one in variants])
    wanted = targets[split.test]
    result = {}
    for index, metric in enumerate(METRICS):
        best = by_fold[:, :, index]  # (variants, values of C)
        variant, row = (int(i) for i in np.unravel_index(best.argmax(), best.shape))
        train, test = variants[variant][split.train], variants[variant][split.test]
        (scores,) = score_path(train, targets[split.train], test, L2_VALUES[row : row + 1])
        value = f1(most_likely(scores, wanted.sum(axis=1)), wanted)[index]
        result[metric] = value, (variant, L2_VALUES[row])
    return result


def summary(runs: Sequence[Run]) -> Record:
    record: Record = {}
    for metric in METRICS:
        values = [100 * run[metric][0] for run in runs]
        record[metric] = float(np.mean(values))
        record[f"{metric}_sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        record[f"{metric}_runs"] = values
        record[f"{metric}_chosen"] = [run[metric][1] for run in runs]  # (is standardized, C)
    return record


def table(records: Sequence[Record]) -> str:
    """Return Markdown: a row per record, and the published figure at the end of each group."""
    lines = ["| data | train | method | micro-F1 | macro-F1 | standardized | CPU s |"]
    lines.append("|---|---|---|---|---|---|---|")
    for (data, share), group in groupby(records, key=itemgetter("data", "share")):
        start = f"| {data} | {100 * share:g} % |"
        for one in group:
            figures = (f"{one[metric]:.2f} ± {one[f'{metric}_sd']:.2f}" for metric in METRICS)
            chosen = [variant for variant, _ in one["micro_chosen"]]
            row = (METHODS[one["method"]].title, *figures, f"{sum(chosen)} of {len(chosen)}")
            lines.append(f"{start} {' | '.join(row)} | {one['cpu_seconds']:.1f} |")
        if share in PUBLISHED.get(data, {}):
            lines.append(f"{start} EP-B, published | {PUBLISHED[data][share]:.2f} | – | – | – |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

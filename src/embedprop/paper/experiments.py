"""How one unit is measured: the paper's protocols, step by step."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from embedprop.baselines.registry import BASELINES
from embedprop.datasets import Dataset, load_dataset
from embedprop.evaluation import node_classification
from embedprop.evaluation.protocols import MULTI_LABEL, measure_probabilities, measure_with_c
from embedprop.evaluation.splits import Split, per_class_split, share_split
from embedprop.evaluation.targets import Targets
from embedprop.graph import Graph, Multisets
from embedprop.graph.changes.subgraph import subgraph
from embedprop.graph.matrix import adjacency_matrix
from embedprop.paper.rows import CITED_GCN_I, ROWS, base_method
from embedprop.paper.units import CITATIONS, F1_METRICS, Unit
from embedprop.paper.vectors import Cache, Vectors, embed

CLASSIFIERS = ("majority", "wvrn", "gcn", "gcn-i", "planetoid-t", "planetoid-i")
# Bags of words know nothing of edges, so they need no graph without the test nodes.
WITHOUT_EDGES = ("bow",)
TRAIN_SHARE_OF_TABLE4 = 0.1
# What the records call the metrics of tables 3 and 4.
F1_NAMES = dict(zip(MULTI_LABEL, F1_METRICS, strict=True))
PLANETOID_STEPS = {"cora": 5000, "citeseer": 5000, "pubmed": 20000}


def measure(unit: Unit, cache: Cache) -> dict[str, Any]:
    """Return the metrics of a unit, and what they depend on."""
    dataset = _dataset(unit.dataset, unit.setting == "directed", unit.setting == "tf-idf")
    targets = Targets(dataset.targets.toarray().astype(bool), dataset.class_names)
    measured = _accuracy if unit.experiment == "table5" else _f1
    return measured(unit, dataset, targets, cache)


@lru_cache(maxsize=2)
def _dataset(name: str, directed: bool, tf_idf: bool) -> Dataset:
    # The paper treats all its graphs as unweighted and words as sets. It has no other labels than
    # words and ids; our copy of Pubmed also has the year.
    words = ["word"] if name in CITATIONS else []
    dataset = load_dataset(
        name, directed=directed, weighted=False, label_weights=tf_idf, label_types=words
    )
    return replace(dataset, graph=turned_round(dataset.graph)) if directed else dataset


def turned_round(graph: Graph) -> Graph:
    """Return a directed graph with its edges reversed: from the cited paper to the citing one.

    The original files name the cited paper first, and the published numbers agree with that
    reading: a paper hears those that it cites. By the other one, where our edges lead from the
    citing to the cited paper, EP-B on Cora reaches 75.4 instead of 77.1 (published 77.3), on
    Citeseer to 70.2 instead of 71.3 (70.2), and DeepWalk on Cora to 44 instead of 17 (15).
    """
    return replace(graph, neighbors=_multisets(csr_array(adjacency_matrix(graph, np.int8).T)))


def without_citations_by(papers: NDArray[np.int64], graph: Graph, citations: Graph) -> Graph:
    """Return an undirected graph of the citations that all others make.

    In `citations` a paper hears those that it cites: see `turned_round`.
    """
    # A zero row of the matrix: a paper that hears nobody cites nobody.
    stays = 1.0 - np.isin(np.arange(graph.n_nodes), papers)
    made = diags_array(stays) @ adjacency_matrix(citations, np.int8)
    both = csr_array(made + made.T)
    both.eliminate_zeros()
    both.sort_indices()
    return replace(graph, neighbors=_multisets(both))


def _multisets(matrix: csr_array[Any]) -> Multisets:
    return Multisets(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))


def _f1(unit: Unit, dataset: Dataset, targets: Targets, cache: Cache) -> dict[str, Any]:
    split, known_rows = _share_split(unit, targets)
    known = None if known_rows is None else subgraph(dataset.graph, known_rows)
    if base_method(unit.method) in CLASSIFIERS:
        found = measure_probabilities(_predict(unit, dataset, split), targets, split)
        return {F1_NAMES[metric]: value for metric, value in found.items()}
    margin = _chosen_margin(unit, dataset.graph, targets, cache)
    vectors, seconds = _vectors(unit, dataset.graph, known, margin, cache)
    result: dict[str, Any] = {}
    for metric, (value, c) in measure_with_c(vectors, targets, split).items():
        result |= {F1_NAMES[metric]: value, f"c_{F1_NAMES[metric]}": c}
    return result | {"margin": margin, "embedding_cpu_seconds": seconds}


def _share_split(unit: Unit, targets: Targets) -> tuple[Split, NDArray[np.int64] | None]:
    """Return training and test nodes, and in table 4 the rows that training may see."""
    share = int(unit.setting) / 100
    if unit.experiment == "table3":
        return share_split(targets.nodes, share, seed=unit.run), None
    # Removed first, whether they have a class or not; then the others are split.
    order = np.random.default_rng(1000 + unit.run).permutation(len(targets.values))
    removed, remaining = map(np.sort, np.split(order, [round(share * len(order))]))
    candidates = np.intersect1d(remaining, targets.nodes)
    train = share_split(candidates, TRAIN_SHARE_OF_TABLE4, seed=unit.run).train
    return Split(train, train[:0], np.intersect1d(removed, targets.nodes)), remaining


def _chosen_margin(unit: Unit, graph: Graph, targets: Targets, cache: Cache) -> float:
    """Choose the margin by 3-fold cross-validation for T_r = 10 %, once per data set.

    The training nodes are those of run 0 of table 3; table 4 uses the same margin.
    """
    margins = ROWS[unit.method].margins
    if len(margins) == 1:
        return margins[0]
    first = Unit("table3", unit.dataset, unit.method, "10", 0)

    def compute() -> NDArray[np.float64]:
        split, _ = _share_split(first, targets)
        micro = [
            node_classification.cross_validated_f1(vectors, targets.values, split.train)[:, 0].max()
            for vectors, _ in (_vectors(first, graph, None, margin, cache) for margin in margins)
        ]
        return np.array([margins[int(np.argmax(micro))]])

    return float(cache.get_or_compute(compute, what="margin", **first.to_dict())[0][0])


def _vectors(
    unit: Unit, graph: Graph, known: Graph | None, margin: float, cache: Cache
) -> tuple[Vectors, float]:
    """Return vectors from the cache; those learned from the whole graph serve every run."""
    depends_on: dict[str, Any] = {
        "method": unit.method,
        "dataset": unit.dataset,
        "directed": "cited to citing" if graph.directed else False,
        "margin": margin,
    }
    if unit.setting == "tf-idf":
        depends_on["label_weights"] = True
    if known is not None:
        depends_on["known"] = f"{unit.experiment}-{unit.setting}-{unit.run}"
    return cache.get_or_compute(
        lambda: embed(unit.method, unit.dataset, graph, known, margin, seed=0), **depends_on
    )


def _accuracy(unit: Unit, dataset: Dataset, targets: Targets, cache: Cache) -> dict[str, Any]:
    classes = targets.classes
    if unit.setting == "public":
        split = Split(*(dataset.splits[part] for part in ("train", "val", "test")))
    else:
        split = per_class_split(classes, seed=unit.run)
    if base_method(unit.method) in CLASSIFIERS:
        scores = _predict(unit, dataset, split)
        right = scores[split.test].argmax(axis=1) == classes[split.test]
        return {"accuracy": float(right.mean())}
    known = None
    if unit.setting == "inductive" and unit.method not in WITHOUT_EDGES:
        known = subgraph(dataset.graph, np.setdiff1d(np.arange(len(classes)), split.test))
    margins = ROWS[unit.method].margins
    found = (_vectors(unit, dataset.graph, known, margin, cache) for margin in margins)
    vectors, seconds = zip(*found, strict=True)
    best = node_classification.accuracy_chosen_on_validation(vectors, classes, split)
    return {
        "accuracy": best["test"],
        "validation": best["validation"],
        "margin": margins[best["candidate"]],
        "c": best["c"],
        "embedding_cpu_seconds": seconds[best["candidate"]],
    }


def _predict(unit: Unit, dataset: Dataset, split: Split) -> NDArray[np.float64]:
    """Return the class scores of a method that classifies nodes itself."""
    base, extra = base_method(unit.method), dict(ROWS[unit.method].settings)
    if base.startswith("planetoid"):
        extra["n_steps"] = PLANETOID_STEPS[unit.dataset]
    is_new = unit.setting == "inductive" or unit.experiment == "table4"
    graph, hidden = dataset.graph, split.test if is_new else split.test[:0]
    if unit.method == CITED_GCN_I:
        citations = _dataset(unit.dataset, directed=True, tf_idf=False).graph
        graph, hidden = without_citations_by(split.test, graph, citations), split.test[:0]
    # Units run side by side: threads of torch would wait for each other.
    baseline = BASELINES[base](random_state=unit.run, n_threads=1, **extra)
    known, targets = {"validation": split.validation, "hidden": hidden}, csr_array(dataset.targets)
    scores = baseline.fit_predict(graph, targets, split.train, **known)
    return np.asarray(scores, np.float64)

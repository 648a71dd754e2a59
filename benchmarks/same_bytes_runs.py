"""How `same_bytes.py` runs a case, by the code of e33ba8e or by today's, whichever is imported."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import embedprop
from embedprop import EmbeddingPropagation, Graph

Arrays = dict[str, Any]
N_TARGETS = 150
TARGET_WEIGHT = 0.5
SOURCES = ("reconstruction", "own", "both")


class Case(NamedTuple):
    """A run: its graph, its parameters in the words of both versions, and what is asked of it.

    fast, inverses, has_targets: what the two versions say in other places. asks: "newcomers",
    "continued" (`partial_fit` on the grown graph), "saved", "classes".
    """

    graph: Callable[[bool], Graph]
    old: Mapping[str, Any]
    new: Mapping[str, Any]
    method: str = "EmbeddingPropagation"
    fast: bool = False
    inverses: bool = False
    has_targets: bool = False
    asks: tuple[str, ...] = ()


def run(case: Case) -> Arrays:
    """Return all vectors of a run, by the version that is imported."""
    graph = case.graph(False)
    is_old = not hasattr(embedprop, "ClosedForm")
    estimator, arrays = (learned_by_old if is_old else learned_by_new)(case, graph)
    for ask in case.asks:
        arrays |= ASKED[ask](estimator, case)
    return arrays


def learned_by_old(case: Case, graph: Graph) -> tuple[Any, Arrays]:
    """Return the fitted estimator of e33ba8e, and its vectors."""
    settings: dict[str, Any] = dict(case.old)
    if case.fast:
        settings["preset"] = "fast"
    if case.inverses:
        settings["inverse_relations"] = True
    if case.has_targets:
        settings["target_weight"] = TARGET_WEIGHT
    fitted = EmbeddingPropagation(**settings).fit(graph, targets() if case.has_targets else None)
    return fitted, named(
        fitted.node_embeddings_, fitted.label_embeddings_, fitted.relation_embeddings_
    )


def learned_by_new(case: Case, graph: Graph) -> tuple[Any, Arrays]:
    """Return the fitted estimator of today, and the vectors of its model."""
    make = getattr(embedprop, case.method)
    estimator = (make.fast if case.fast else make)(**case.new)
    if case.inverses:
        graph = graph.with_inverses()
    given = {"targets": targets(), "target_weight": TARGET_WEIGHT} if case.has_targets else {}
    model = estimator.fit(graph, **given).model_
    return estimator, named(model.vectors, model.label_vectors, model.relation_vectors)


def named(nodes: Any, labels: Mapping[str, Any], relations: Mapping[str, Any]) -> Arrays:
    """Return arrays by what they are of."""
    arrays = {"nodes": nodes}
    arrays |= {f"labels {name}": table for name, table in labels.items()}
    return arrays | {f"relations {name}": table for name, table in relations.items()}


def targets() -> dict[int, str]:
    """Return the classes of some nodes."""
    return {node: f"class {node % 4}" for node in range(0, N_TARGETS, 3)}


def newcomers(model: Any, case: Case) -> Arrays:
    """Return the vectors of new nodes, from a graph and one by one, by each source."""
    grown = case.graph(True)
    one: dict[str, Any] = {"neighbors": [0, 9, 20, "unknown"], "weights": [1.0, 0.5, 2.0, 1.0]}
    if grown.relations is not None and case.method == "EmbeddingPropagation":
        one["relations"] = ["r0", "r1", "r0", "r1"]
    if "word" in grown.labels:
        one["labels"] = {"word": ["w1", "w2", "unknown"]}
    return {f"transform {s}": model.transform(grown, source=s) for s in SOURCES} | {
        f"transform_node {s}": model.transform_node(**one, source=s) for s in SOURCES
    }


def continued(model: Any, case: Case) -> Arrays:
    """Return node vectors after as many epochs more on the grown graph."""
    return {"continued": model.partial_fit(case.graph(True)).node_embeddings_}


def saved(model: Any, case: Case) -> Arrays:
    """Return what a saved model answers once it is loaded."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        loaded = type(model).load(Path(folder) / "model")
        return {
            "loaded": np.array(loaded.node_embeddings_),
            "loaded transform": loaded.transform(case.graph(True), source="both"),
        }


def classes(model: Any, case: Case) -> Arrays:
    """Return the predicted classes of known and of new nodes."""
    return {
        "classes": np.array(model.predict()),
        "classes of all": np.array(model.predict(case.graph(True))),
    }


ASKED = {"newcomers": newcomers, "continued": continued, "saved": saved, "classes": classes}

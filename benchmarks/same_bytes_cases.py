"""The runs that `same_bytes.py` compares: each graph, each setting, as both versions write it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from same_bytes_runs import Case

from embedprop import Graph, load_dataset

N_NODES, N_NEW, N_WORDS = 150, 5, 30
COMMON = {"random_state": 3, "verbose": False}
SMALL = {"dim": 12, "epochs": 4, "learning_rate": 0.02, "n_threads": 1, **COMMON}
KINDS = {
    "word": "word",
    "topic": "topic",
    "age": "age:numeric",
    "text": "text:text",
    "image": "image:image",
}


def toy(
    *labels: str,
    weighted: bool = False,
    directed: bool = False,
    n_relations: int = 0,
    label_weights: bool = False,
    **options: Any,
) -> Callable[[bool], Graph]:
    """Return a maker of random graphs; a grown one has new nodes beside all that were there.

    Every fourth node has no labels, and two nodes have no edges.
    """

    def make(grown: bool) -> Graph:
        rng = np.random.default_rng(0)
        pairs = rng.integers(N_NODES - 2, size=(4 * N_NODES, 2))
        weights, relations = rng.uniform(0.2, 3, len(pairs)), np.arange(len(pairs)) % 3
        n_nodes = N_NODES + N_NEW * grown
        if grown:
            arrivals = [
                (new, (new * k) % N_NODES) for new in range(N_NODES, n_nodes) for k in (3, 7)
            ]
            pairs = np.concatenate([pairs, arrivals])
            weights, relations = np.resize(weights, len(pairs)), np.resize(relations, len(pairs))
        return Graph.from_edges(
            pairs,
            nodes=range(n_nodes),
            weights=weights if weighted else None,
            relations=[f"r{r % n_relations}" for r in relations] if n_relations else None,
            directed=directed,
            labels={KINDS[name]: dict(labels_of(name, n_nodes, label_weights)) for name in labels},
            **options,
        )

    return make


def labels_of(name: str, n_nodes: int, with_weights: bool) -> Iterator[tuple[int, Any]]:
    """Yield the labels of each node that has any."""
    for node in range(n_nodes):
        rng = np.random.default_rng([len(name), node])
        words = [f"w{word}" for word in rng.integers(N_WORDS, size=1 + node % 5)]
        if node % 4 == 1:
            continue
        if name == "word":
            yield node, {w: 0.5 + i for i, w in enumerate(words)} if with_weights else words
        elif name == "topic":
            yield node, [f"topic {node % 6}"]
        elif name == "age":
            yield node, rng.normal(size=2)
        elif name == "text":
            yield node, " ".join(words)
        else:
            yield node, rng.random((8, 8))


def stored(name: str, **options: Any) -> Callable[[bool], Graph]:
    """Return a maker of a real graph."""

    def make(grown: bool) -> Graph:
        del grown
        return load_dataset(name, **options).graph

    return make


def epb(
    graph: Callable[[bool], Graph],
    *asks: str,
    parts: Mapping[str, Any] | None = None,
    old: Mapping[str, Any] | None = None,
    new: Mapping[str, Any] | None = None,
    fast: bool = False,
    inverses: bool = False,
    has_targets: bool = False,
    **settings: Any,
) -> Case:
    """Return a run of EP-B; `old` and `new` are what the versions say in words of their own."""
    base = {"random_state": 3, "verbose": False, "dim": 12} if fast else SMALL
    same = {**base, **settings}
    return Case(
        graph,
        {**same, **(parts or {}), **(old or {})},
        {**same, **({"parts": parts} if parts else {}), **(new or {})},
        fast=fast,
        inverses=inverses,
        has_targets=has_targets,
        asks=asks,
    )


def closed(graph: Callable[[bool], Graph], *asks: str, **settings: Any) -> Case:
    """Return a run of the closed form."""
    same = {**COMMON, "dim": 12, **settings}
    return Case(graph, {"instance": "eps", **same}, same, "ClosedForm", asks=asks)


def start_vectors() -> dict[str, Any]:
    """Return vectors for half of the words."""
    rng = np.random.default_rng(1)
    return {"word": {f"w{i}": rng.normal(size=12) for i in range(0, N_WORDS, 2)}}


MODULES = {
    "aggregator": "weighted_mean",
    "reconstruction": "attention",
    "distance": "cosine",
    "loss": "softmax(temperature=0.2)",
}
NEWCOMERS = ("newcomers", "saved")
ALL = (*NEWCOMERS, "continued")
CASES = {
    "ids": epb(toy(), *ALL),
    "ids, weights": epb(toy(weighted=True), *ALL),
    "ids, directed": epb(toy(directed=True), *ALL),
    "ids, self-loops": epb(toy(self_loops="keep")),
    "ids, squared distance": epb(toy(), *ALL, parts={"distance": "squared_euclidean"}),
    "ids, two threads": epb(toy(), n_threads=2),
    "ids, kappa": epb(toy(weighted=True), "continued", max_neighbors=2),
    "ids, walks": epb(toy(weighted=True), "continued", neighborhood="walks"),
    "ids, edges": epb(toy(weighted=True), neighborhood="edges"),
    "ids, negatives by degree": epb(toy(), negatives="degree", n_negatives=3),
    "ids, negatives in batch": epb(toy(), negatives="in_batch", n_negatives=2),
    "ids, negatives shared": epb(toy(), negatives="shared", n_negatives=4),
    "ids, falling steps": epb(toy(), "continued", schedule="linear"),
    "ids, wide and one batch": epb(toy(), dim=130, batch_size=1000),
    "ids, fast": epb(toy(), fast=True),
    "ids, pagerank": epb(toy(), *NEWCOMERS, parts={"representation": "pagerank"}),
    "ids, disk": epb(
        toy(weighted=True),
        old={"storage": "disk(partitions=4)"},
        new={"engine": "fused(storage='disk', partitions=4)"},
    ),
    "words": epb(toy("word"), *ALL, label_types=["word"]),
    "words, weights": epb(toy("word", weighted=True, label_weights=True), *ALL),
    "words, walks": epb(toy("word", label_weights=True), neighborhood="walks", max_neighbors=None),
    "words, edges": epb(toy("word", label_weights=True), neighborhood="edges"),
    "words, fast": epb(toy("word"), *NEWCOMERS, fast=True),
    "words, start": epb(toy("word"), *ALL, pretrained=start_vectors()),
    "words, disk": epb(
        toy("word", directed=True),
        old={"storage": "disk(partitions=2)"},
        new={"engine": "fused(storage='disk', partitions=2)"},
    ),
    "words of texts": epb(toy("text"), *ALL),
    "types": epb(
        toy("word", "topic", weighted=True, directed=True, label_weights=True),
        *ALL,
        dim={"node": 8, "word": 12, "topic": 5},
        margin={"node": 1.0, "word": 2.0, "topic": 5.0},
        max_neighbors=3,
        parts={"representation": "both"},
    ),
    "types, mean, two threads": epb(
        toy("word", "topic"), *NEWCOMERS, n_threads=2, parts={"representation": "mean"}
    ),
    "relations": epb(toy("word", directed=True, n_relations=3), *ALL),
    "relations, undirected": epb(toy(weighted=True, n_relations=2), *NEWCOMERS),
    "relations, inverses": epb(toy(directed=True, n_relations=3), *NEWCOMERS, inverses=True),
    "torch, EP-B": epb(
        toy("word", weighted=True),
        *NEWCOMERS,
        old={"engine": "torch", "device": "cpu"},
        new={"engine": "torch(device='cpu')"},
    ),
    "torch, modules, softmax": epb(toy("word"), *ALL, parts=MODULES),
    "torch, max, logistic": epb(
        toy("word"),
        *NEWCOMERS,
        parts={
            "aggregator": "sum",
            "reconstruction": "max",
            "distance": "negative_dot",
            "loss": "logistic(margin=0)",
        },
    ),
    "torch, decorrelation": epb(toy("word"), parts={"loss": "decorrelation"}, batch_size=20),
    "torch, dropout": epb(toy("word"), "continued", parts={"label_dropout": 0.3}),
    "torch, start kept": epb(
        toy("word"), parts={"refine": {"node": True, "word": False}}, pretrained=start_vectors()
    ),
    "torch, values": epb(
        toy("age", "text", "image"),
        *ALL,
        parts={"label_embedding": {"text": "gru", "age": "piecewise_linear"}},
    ),
    "torch, values by mlp": epb(
        toy("age", "image"),
        *NEWCOMERS,
        parts={"label_embedding": {"age": "quantile_bins", "image": "mlp(hidden=6)"}},
    ),
    "torch, relations": epb(
        toy(directed=True, n_relations=3), *NEWCOMERS, parts={"loss": "softmax"}, n_negatives=3
    ),
    "torch, walks": epb(toy("word"), parts={"loss": "logistic"}, neighborhood="walks"),
    "head": epb(toy("word"), *NEWCOMERS, "classes", has_targets=True),
    "head, both": epb(
        toy("word"), "classes", has_targets=True, parts={"representation": "both"}, n_negatives=2
    ),
    "closed form, ids": closed(toy(), *NEWCOMERS),
    "closed form, ids, weights": closed(toy(weighted=True), *NEWCOMERS, regularization=1.0),
    "closed form, words": closed(toy("word"), *NEWCOMERS),
    "closed form, words, weights": closed(
        toy("word", weighted=True, label_weights=True), *NEWCOMERS, restart=0.5
    ),
    "closed form, both": closed(
        toy("word"),
        *NEWCOMERS,
        label_types=["node", "word"],
        dim={"node": 16, "word": 8},
        regularization={"node": 0.1},
    ),
    "closed form, directed": closed(toy("word", directed=True), *NEWCOMERS),
    "closed form, no smoothing": closed(toy("word", "topic"), *NEWCOMERS, restart=1.0, dim=4),
    "closed form, relations": closed(toy(n_relations=2)),
}
REAL_CASES = {
    "BlogCatalog, ids": epb(stored("blogcatalog"), dim=128, epochs=2, learning_rate=0.001),
    "BlogCatalog, ids, fast": epb(stored("blogcatalog"), fast=True, epochs=2, dim=128),
    "Pubmed, words": epb(stored("pubmed"), dim=128, epochs=2, label_types=["word"]),
    "Cora, all": epb(stored("cora"), dim=128, epochs=3, n_threads=2),
    "FB15k-237, relations": epb(stored("fb15k237"), dim=32, epochs=1, max_neighbors=20),
    "BlogCatalog, closed form": closed(stored("blogcatalog"), dim=128),
    "Pubmed, closed form": closed(stored("pubmed"), dim=128),
    "Cora, closed form, both": closed(stored("cora"), label_types=["node", "word"], dim=64),
}


def cases() -> dict[str, Case]:
    """Return all runs; those of real graphs where there are some."""
    return {**CASES, **(REAL_CASES if "EMBEDPROP_DATA" in os.environ else {})}

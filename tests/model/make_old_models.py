"""Saves the models of `saved_at_0_1/`, and what they answer, by the code of commit e33ba8e.

    git worktree add /tmp/old e33ba8e
    PYTHONPATH=/tmp/old/src python tests/model/make_old_models.py tests/model/saved_at_0_1

A folder for each model: `model/` as that code saved it, `graph.json` and `arrivals.json` with what
`Graph.from_edges` was given for the graph and for one with new nodes, `answers.json` and
`vectors.npz` with the answers. The test reads these folders alone.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from embedprop import EmbeddingPropagation, Graph

N_NODES, N_NEW = 14, 3
SOURCES = ("reconstruction", "own", "both")
WORDS = ["tea", "jam", "jazz", "rock", "sea", "sky"]
COMMON = {"random_state": 5, "n_threads": 1, "verbose": False}
EPB = {"dim": 6, "epochs": 3, "batch_size": 5, "learning_rate": 0.05, **COMMON}
CLOSED_FORM = {"instance": "eps", "dim": 3, **COMMON}


class Case(NamedTuple):
    """A model to save: its settings, the labels and edges of its graph, and its targets.

    continues: whether the answers tell what `partial_fit` on the arrivals leads to.
    """

    settings: Mapping[str, Any]
    labels: tuple[str, ...] = ()
    directed: bool = False
    weighted: bool = False
    n_relations: int = 0
    has_targets: bool = False
    continues: bool = False


class Hinge(torch.nn.Module):
    """A loss of the user's own, which a model does not hold."""

    def forward(self, compared: Any) -> torch.Tensor:
        return torch.relu(0.5 + compared.own[:, None] - compared.negative).sum(dim=1)


MODULES = {
    "aggregator": "weighted_mean",
    "reconstruction": "attention",
    "distance": "cosine",
    "loss": "softmax(temperature=0.2)",
}
CASES = {
    "fused_ids": Case(EPB, weighted=True, continues=True),
    "fused_ids_fast": Case(COMMON | {"dim": 6, "preset": "fast"}),
    "fused_ids_squared": Case(EPB | {"distance": "squared_euclidean"}, directed=True),
    "fused_words_missing": Case(EPB, ("word",), continues=True),
    "fused_words_alone": Case(EPB | {"label_types": ["word"]}, ("word",), weighted=True),
    "fused_types": Case(
        EPB
        | {
            "dim": {"node": 4, "word": 5, "topic": 3},
            "margin": {"node": 1.0, "word": 2.0, "topic": 5.0},
            "representation": "both",
            "max_neighbors": 2,
            "negatives": "degree",
        },
        ("word", "topic"),
        directed=True,
        weighted=True,
        continues=True,
    ),
    "fused_walks_mean": Case(EPB | {"neighborhood": "walks", "representation": "mean"}, ("word",)),
    "fused_edges_pagerank": Case(
        EPB | {"neighborhood": "edges", "representation": "pagerank"}, ("word",)
    ),
    "fused_disk": Case(EPB | {"storage": "disk(partitions=2)"}, ("word",)),
    "fused_texts": Case(EPB, ("text",)),
    "relations": Case(EPB, ("word",), directed=True, n_relations=3, continues=True),
    "relations_inverses": Case(
        EPB | {"inverse_relations": True}, directed=True, weighted=True, n_relations=2
    ),
    "torch_head": Case(EPB | {"target_weight": 0.5}, ("word",), has_targets=True),
    "torch_head_both": Case(EPB | {"representation": "both"}, ("word",), has_targets=True),
    "torch_modules": Case(EPB | MODULES, ("word",), weighted=True, continues=True),
    "torch_relations": Case(EPB | {"aggregator": "max", "loss": "logistic"}, n_relations=2),
    "torch_dropout": Case(EPB | {"label_dropout": 0.3, "loss": "decorrelation"}, ("word",)),
    "torch_own_loss": Case(EPB | {"loss": Hinge()}, ("word",)),
    "torch_numbers": Case(EPB, ("age",)),
    "torch_texts": Case(EPB | {"label_embedding": {"text": "gru"}}, ("text",)),
    "torch_images": Case(EPB | {"label_embedding": {"image": "mlp(hidden=4)"}}, ("image",)),
    "closed_ids": Case(CLOSED_FORM | {"label_types": ["node"]}, weighted=True),
    "closed_words": Case(CLOSED_FORM, ("word",)),
    "closed_both": Case(
        CLOSED_FORM
        | {"label_types": ["node", "word"], "regularization": {"node": 1.0, "word": 2.0}},
        ("word",),
        weighted=True,
    ),
    "closed_directed": Case(CLOSED_FORM | {"restart": 0.4}, ("word", "topic"), directed=True),
}


def main() -> None:
    """Save every model below the folder that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=[], help="default: every case")
    options = parser.parse_args()
    for name in options.names or CASES:
        folder = options.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder, CASES[name])


def make(folder: Path, case: Case) -> None:
    """Save a model, and what it answers once it is loaded."""
    for name, n_new in (("graph", 0), ("arrivals", N_NEW)):
        write_json(folder / f"{name}.json", given(case, n_new))
    graph, arrivals = read_graph(folder / "graph.json"), read_graph(folder / "arrivals.json")
    targets = {f"n{i}": ("red", "blue")[i % 2] for i in range(0, N_NODES, 3)}
    fitted = EmbeddingPropagation(**case.settings)
    fitted.fit(graph, targets if case.has_targets else None).save(folder / "model")
    # Loaded models compute newcomers from what was saved: that is what must stay.
    model = EmbeddingPropagation.load(folder / "model")
    answers, vectors = asked(model, arrivals, case)
    if case.continues:
        vectors["continued"] = model.partial_fit(arrivals).node_embeddings_
    write_json(folder / "answers.json", answers)
    np.savez_compressed(folder / "vectors.npz", **vectors)


def given(case: Case, n_new: int) -> dict[str, Any]:
    """Return what `Graph.from_edges` is given: with new nodes, the known ones stay as they are."""
    rng = np.random.default_rng(3)
    pairs = [(i, (i + 1) % N_NODES) for i in range(N_NODES)]
    pairs += [(0, i) for i in range(2, N_NODES, 3)] + [(1, 6), (4, 9), (9, 4)]
    # The last new node has a neighbor that is new as well, and no other: little is known of it.
    new = [N_NODES + i for i in range(n_new)]
    pairs += [(old, one) for one in new[:-1] for old in (one % 5, one % 7 + 3)]
    pairs += [(new[-2], new[-1])] if new else []
    weights = rng.uniform(0.5, 2.0, 100).round(3).tolist()
    relations = [f"r{i % max(case.n_relations, 1)}" for i in range(len(pairs))]
    return {
        "edges": [[f"n{a}", f"n{b}"] for a, b in pairs],
        "directed": case.directed,
        "weights": weights[: len(pairs)] if case.weighted else None,
        "relations": relations if case.n_relations else None,
        "labels": {
            key: {f"n{i}": label(name, i) for i in range(N_NODES + n_new) if i % 5 != 3}
            for name, key in KEYS.items()
            if name in case.labels
        },
    }


KEYS = {
    "word": "word",
    "topic": "topic",
    "age": "age:numeric",
    "text": "text:text",
    "image": "image:image",
}


def label(name: str, node: int) -> Any:
    """Return the labels of a node; new nodes have a word that no other node has."""
    words = [WORDS[node * k % len(WORDS)] for k in (1, 2)] + ["new"] * (node >= N_NODES)
    if name == "word":
        return {word: 1.0 + k for k, word in enumerate(words)}
    if name == "topic":
        return [f"topic {node // 4 % 3}"]
    if name == "age":
        return [node * 1.5, (node * 7) % 5]
    if name == "text":
        return " ".join(words)
    return [[(node * (4 * row + column)) % 11 for column in range(4)] for row in range(4)]


def read_graph(file: Path) -> Graph:
    """Return the graph that a file describes."""
    values = json.loads(file.read_text(encoding="utf-8"))
    edges = [tuple(pair) for pair in values.pop("edges")]
    return Graph.from_edges(edges, **values)


def asked(
    model: EmbeddingPropagation, arrivals: Graph, case: Case
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a model answers, as JSON and as arrays."""
    sets = [name for name in model.labels_ if name in ("word", "topic")]
    one_node: dict[str, Any] = {"neighbors": ["n0", "n4", "unknown"]}
    if case.n_relations:
        one_node["relations"] = ["r0", "r1", "r0"]
    own = {name: {"word": ["jam", "sky"], "topic": ["topic 1"]}[name] for name in sets}
    vectors = {
        "nodes": model.node_embeddings_,
        **{f"labels {name}": table for name, table in model.label_embeddings_.items()},
        **{f"relations {name}": table for name, table in model.relation_embeddings_.items()},
        **{f"transform {source}": model.transform(arrivals, source) for source in SOURCES},
        **{
            f"transform_node {source}": model.transform_node(**one_node, labels=own, source=source)
            for source in SOURCES
        },
    }
    answers: dict[str, Any] = {
        "names": list(model.nodes_),
        "labels": {name: list(names) for name, names in model.labels_.items()},
        "relations": None if model.relations_ is None else list(model.relations_),
        "settings": {
            "directed": model.directed_,
            "seed": model.seed_,
            "n_parameters": model.n_parameters_,
            "loss_history": model.loss_history_,
            "residuals": model.residuals_,
        },
        "transform_node": {**one_node, "labels": own},
        "similar": model.similar("n1", k=4),
        "similar_labels": {name: model.similar_labels(name, own[name][0], k=2) for name in sets},
    }
    # What the closed form said of edges was false: it measured as EP-B does.
    if case.settings.get("instance") != "eps":
        relation = "r1" if case.n_relations else None
        answers["links"] = {
            "relation": relation,
            "score": model.score("n0", relation, "n5"),
            "tails": model.predict_tails("n2", relation, k=3),
            "heads": model.predict_heads(relation, "n2", k=3),
        }
    if case.has_targets:
        answers["classes"] = {"known": model.predict(), "arrivals": model.predict(arrivals)}
    return answers, vectors


def write_json(file: Path, values: Any) -> None:
    """Write a value as JSON that ends with a line feed."""
    file.write_text(json.dumps(values, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

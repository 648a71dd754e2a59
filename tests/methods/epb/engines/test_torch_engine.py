"""The torch engine: equal to the fused one where both can, and what only it can."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests import toy_graphs
from tests.methods.epb.runs import Run, assert_near, by_torch
from tests.toy_graphs import TwoCliques

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError
from embedprop.framework.aggregators import Messages
from embedprop.instance.catalog import AGGREGATORS, DISTANCES, LOSSES, NEGATIVES
from embedprop.methods.epb.engines.torch import choose_device

SMALL: dict[str, Any] = {"dim": 4, "epochs": 2, "n_threads": 1, "verbose": False}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


RUNS = {
    "ids": lambda: Run.of(toy_graphs.messy(words=False)),
    "words with weights and dummies": lambda: Run.of(
        toy_graphs.messy(missing=True, weighted_labels=True, weighted_edges=True, isolated=True),
        label_types=("word",),
    ),
    "at most two neighbors": lambda: Run.of(toy_graphs.messy(weighted_edges=True), max_neighbors=2),
    **{
        f"three {name} negatives": lambda name=name: Run.of(
            toy_graphs.messy(isolated=True), negatives=name, n_negatives=3
        )
        for name in NEGATIVES
    },
    "ends of walks": lambda: Run.of(
        toy_graphs.messy(directed=True, weighted_edges=True), neighborhood="walks", max_neighbors=5
    ),
    "one edge at a time": lambda: Run.of(
        toy_graphs.messy(missing=True), neighborhood="edges", batch_size=40
    ),
    "relations": lambda: Run.of(toy_graphs.messy(n_relations=3, weighted_edges=True)),
    "relations, at most two neighbors": lambda: Run.of(
        toy_graphs.messy(n_relations=3, directed=True), max_neighbors=2
    ),
    "relations, one edge at a time, shared negatives": lambda: Run.of(
        toy_graphs.messy(words=False, n_relations=3, directed=True),
        neighborhood="edges",
        negatives="shared",
        n_negatives=4,
        batch_size=40,
    ),
    "a rate that falls": lambda: Run.of(toy_graphs.messy(), schedule="linear"),
}


@pytest.mark.parametrize("name", RUNS, ids=[name.replace(" ", "_") for name in RUNS])
def test_it_equals_the_fused_engine(name: str) -> None:
    run = RUNS[name]().lasting(4)
    exact = by_torch(dtype=np.float64)
    assert_near(run, run.by(exact), run.fused(np.float64), relative=1e-5, absolute=1e-5)
    assert_near(run, run.by(by_torch()), run.fused(), relative=1e-3, absolute=1e-4)


TEXTS = {0: "a rose is a rose", 1: "the sea", 2: "A rose; the sea!", 4: "is it", 5: "..."}
FITS: dict[str, tuple[Graph, dict[str, Any]]] = {
    "inverse relations": (
        toy_graphs.messy(directed=True, n_relations=3).with_inverses(),
        {"neighborhood": "edges"},
    ),
    "text as a bag of words": (
        Graph.from_edges([(i, (i + j) % 7) for i in range(7) for j in (1, 2)],
                         labels={"title:text": TEXTS}),
        {"n_negatives": 2},
    ),
    "margins of the loss": (
        toy_graphs.messy(),
        {
            "parts": {"loss": {"node": "margin_ranking(margin=3)"}},
            "dim": {"node": 3, "word": 5},
        },
    ),
    "another r": (toy_graphs.messy(weighted_edges=True), {"parts": {"representation": "both"}}),
    "pretrained vectors": (toy_graphs.messy(), {"pretrained": {"word": {"w1": [1, 2, 3, 4]}}}),
}  # fmt: skip


@pytest.mark.parametrize("name", FITS, ids=[name.replace(" ", "_") for name in FITS])
def test_the_estimator_learns_the_same_by_both(name: str) -> None:
    graph, params = FITS[name]
    settings = SMALL | {"epochs": 4, "learning_rate": 0.01, "batch_size": 8} | params
    fused, by_torch = (
        EmbeddingPropagation(engine=engine, **settings).fit(graph) for engine in ("fused", "torch")
    )
    tables = {"nodes": (fused.node_embeddings_, by_torch.node_embeddings_)}
    for name in fused.label_embeddings_:
        tables[name] = fused.label_embeddings_[name], by_torch.label_embeddings_[name]
        np.testing.assert_allclose(
            fused.loss_history_[name], by_torch.loss_history_[name], rtol=1e-4
        )
    for name in fused.relation_embeddings_:
        tables[f"relations {name}"] = (
            fused.relation_embeddings_[name],
            by_torch.relation_embeddings_[name],
        )
    for one, other in tables.values():
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    assert fused.n_parameters_ == by_torch.n_parameters_


def test_it_repeats_itself_and_leaves_torch_s_global_state_alone(star_with_words: Graph) -> None:
    torch.manual_seed(5)
    torch.set_num_threads(2)
    before = torch.random.get_rng_state()
    params = SMALL | {"parts": {"reconstruction": "attention"}, "engine": "torch"}
    first = EmbeddingPropagation(**params).fit_transform(star_with_words)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)
    torch.manual_seed(6)
    second = EmbeddingPropagation(**params).fit_transform(star_with_words)
    assert first.tobytes() == second.tobytes()
    other = EmbeddingPropagation(**params, random_state=1).fit_transform(star_with_words)
    assert (first != other).any()


@pytest.fixture(scope="module")
def cliques() -> TwoCliques:
    return toy_graphs.two_cliques()


@pytest.mark.parametrize("distance", list(DISTANCES))
@pytest.mark.parametrize("loss", list(LOSSES))
def test_every_loss_falls_with_every_distance(
    cliques: TwoCliques, loss: str, distance: str
) -> None:
    model = EmbeddingPropagation(
        dim=6, epochs=20, learning_rate=0.05, parts={"loss": loss, "distance": distance},
        n_negatives=2, engine="torch", n_threads=1, batch_size=12, label_types=["word"],
    ).fit(cliques.graph)  # fmt: skip
    losses = model.loss_history_["word"]
    assert np.mean(losses[-3:]) < 0.9 * np.mean(losses[:3])
    assert np.isfinite(model.node_embeddings_).all()


@pytest.mark.parametrize(
    ("aggregator", "reconstruction"),
    [pair for name in AGGREGATORS for pair in ((name, "mean"), (name, name))],
)
def test_every_aggregator_learns_as_g_and_as_g_tilde(
    cliques: TwoCliques, aggregator: str, reconstruction: str
) -> None:
    model = EmbeddingPropagation(
        dim=6, epochs=15, learning_rate=0.02, engine="torch", n_threads=1, label_types=["word"],
        parts={"aggregator": aggregator, "reconstruction": reconstruction},
    ).fit(cliques.graph)  # fmt: skip
    losses = model.loss_history_["word"]
    assert np.mean(losses[-3:]) < 0.95 * np.mean(losses[:3])


def test_the_end_of_a_walk_has_no_edge(path: Graph) -> None:
    seen = []

    def mean(messages: Messages) -> torch.Tensor:
        seen.append(messages.edges)
        zeros = messages.vectors.new_zeros(messages.n_sets, messages.vectors.shape[1])
        return zeros.index_add(0, messages.owners, messages.vectors / 20)

    parts = {"reconstruction": mean}
    EmbeddingPropagation(**SMALL, neighborhood="walks", parts=parts).fit(path)
    assert (seen[0] == -1).all()


@pytest.mark.parametrize("params", [{}, {"max_neighbors": 2}, {"neighborhood": "edges"}])
def test_members_come_through_the_edges_that_they_come_through(params: dict[str, Any]) -> None:
    graph, seen = toy_graphs.messy(words=False, directed=True), []

    def mean(messages: Messages) -> torch.Tensor:
        seen.append(messages.edges)
        zeros = messages.vectors.new_zeros(messages.n_sets, messages.vectors.shape[1])
        return zeros.index_add(0, messages.owners, messages.vectors)

    settings = SMALL | {"epochs": 1, "batch_size": 999, "parts": {"reconstruction": mean}} | params
    EmbeddingPropagation(**settings).fit(graph)
    edges = seen[0].tolist()
    assert len(set(edges)) == len(edges)
    assert 0 <= min(edges) <= max(edges) < graph.neighbors.n_values
    if "max_neighbors" not in params:
        assert len(edges) == graph.neighbors.n_values


def test_devices() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in ("cpu", "cuda")
    for bad in ("gpu", "cuda:99", 3.5):
        with pytest.raises(
            InvalidParameterError, match=r"^device=.* cannot be used here \(.*'cpu'"
        ):
            choose_device(bad)


def test_nothing_to_learn_is_no_error() -> None:
    run = Run.of(toy_graphs.messy(), label_types=("node",))
    fixed = {"node": np.ones(len(run.start["node"]), bool)}
    types = {"node": replace(run.instance.label_types["node"], refine=False)}
    run = replace(run, instance=replace(run.instance, label_types=types))
    result = run.by(by_torch(fixed=fixed))
    np.testing.assert_array_equal(result.label_vectors["node"], run.start["node"])

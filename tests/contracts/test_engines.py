"""What every engine must do; a new one is tested by being listed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests import toy_graphs
from tests.methods.epb.runs import By, Run, assert_near

from embedprop import EmbeddingPropagation
from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.instance.catalog import ENGINES
from embedprop.methods.epb.engines.choose import choose_engine

RUNS = {
    "plain": {},
    "at most two neighbors": {"max_neighbors": 2},
    "one edge at a time": {"neighborhood": "edges", "batch_size": 40, "negatives": "shared"},
    "ends of walks": {"neighborhood": "walks", "negatives": "in_batch"},
}

# A walk of two edges has no relation of its own.
CHOICES = [(name, n) for name in RUNS for n in (0, 3) if not (name == "ends of walks" and n)]


def run_of(name: str, n_relations: int) -> Run:
    graph = toy_graphs.messy(
        missing=True, isolated=True, weighted_edges=True, n_relations=n_relations
    )
    return Run.of(graph, n_negatives=2, epochs=3, **RUNS[name])


@pytest.fixture(scope="module", params=[0, 3], ids=["no_relations", "relations"])
def run(request: pytest.FixtureRequest) -> Run:
    return run_of("plain", request.param)


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> By:
    return By(choose_engine(request.param, run_of("plain", 0).instance))


@pytest.mark.parametrize(("name", "n_relations"), CHOICES)
def test_it_computes_what_autograd_computes(engine: By, name: str, n_relations: int) -> None:
    run = run_of(name, n_relations)
    assert_near(run, run.by(engine), run.autograd(), relative=1e-3, absolute=1e-3)


def test_it_returns_float32_a_row_per_label_and_a_loss_per_epoch(engine: By, run: Run) -> None:
    result = run.by(engine)
    for name, start in run.start.items():
        assert result.label_vectors[name].shape == start.shape
        assert result.label_vectors[name].dtype == np.float32
        assert len(result.loss_history[name]) == 3
    for name, start in run.start_relations.items():
        assert result.relation_vectors[name].shape == start.shape
        assert result.relation_vectors[name].dtype == np.float32
    assert not result.interrupted


def test_it_repeats_itself(engine: By, run: Run) -> None:
    first, second = run.by(engine), run.by(engine)
    for name in run.start:
        np.testing.assert_array_equal(first.label_vectors[name], second.label_vectors[name])
    for name in run.start_relations:
        np.testing.assert_array_equal(first.relation_vectors[name], second.relation_vectors[name])
    assert first.loss_history == second.loss_history


def test_it_reports_every_epoch_to_its_end(engine: By, run: Run) -> None:
    heard = []
    run.by(engine, lambda *said: heard.append(said[:2]))
    assert {(epoch, 1.0) for epoch in range(3)} <= set(heard)
    assert heard == sorted(heard)


@pytest.mark.parametrize("name", list(ENGINES))
def test_the_estimator_takes_it_by_name(name: str, run: Run) -> None:
    model = EmbeddingPropagation(engine=name, dim=6, epochs=1, n_threads=1)
    assert model.fit_transform(run.graph).shape == (run.graph.n_nodes, 12)


@pytest.mark.parametrize("name", list(ENGINES))
def test_walks_over_edges_with_relations_are_refused_before_it_is_asked(name: str) -> None:
    graph = toy_graphs.messy(n_relations=3)
    model = EmbeddingPropagation(engine=name, dim=6, epochs=1, neighborhood="walks")
    with pytest.raises(InvalidParameterError, match="cannot be combined with relations"):
        model.fit(graph)


@pytest.mark.parametrize("name", ["torhc", "", None])
def test_an_unknown_engine_is_refused_with_the_known_ones(name: str, run: Run) -> None:
    with pytest.raises(
        UnknownComponentError,
        match=r"engine=.* is not known\. Choose one of: 'auto', 'fused', 'torch'\.",
    ):
        choose_engine(name, run.instance)


def test_an_instance_that_is_not_epb_is_refused_by_the_fused_engine(run: Run) -> None:
    types = {name: replace(one, loss="logistic") for name, one in run.instance.label_types.items()}
    with pytest.raises(
        InvalidParameterError,
        match=r"engine='fused' computes only EP-B, but label type 'node' has loss='logistic'\.",
    ):
        choose_engine("fused", replace(run.instance, label_types=types))

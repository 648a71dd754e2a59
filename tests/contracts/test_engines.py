"""What every engine must do; a new one is tested by being listed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests import toy_graphs
from tests.training.runs import Run, assert_near, ignore

from embedprop import EmbeddingPropagation
from embedprop.engines import ENGINES, choose_engine
from embedprop.errors import UnknownComponentError
from embedprop.training.engine import Engine


@pytest.fixture(scope="module")
def run() -> Run:
    return Run.of(
        toy_graphs.messy(missing=True, isolated=True, weighted_edges=True), n_negatives=2, epochs=3
    )


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, run: Run) -> Engine:
    return choose_engine(request.param, run.instance)


def test_it_computes_what_autograd_computes(engine: Engine, run: Run) -> None:
    result = engine.train(run.graph, run.instance, run.plan, run.start, ignore)
    assert_near(run, result, run.autograd(), relative=1e-3, absolute=1e-3)


def test_it_returns_float32_a_row_per_label_and_a_loss_per_epoch(engine: Engine, run: Run) -> None:
    result = engine.train(run.graph, run.instance, run.plan, run.start, ignore)
    for name, start in run.start.items():
        assert result.label_vectors[name].shape == start.shape
        assert result.label_vectors[name].dtype == np.float32
        assert len(result.loss_history[name]) == 3
    assert not result.interrupted


def test_it_repeats_itself(engine: Engine, run: Run) -> None:
    first, second = (
        engine.train(run.graph, run.instance, run.plan, run.start, ignore) for _ in range(2)
    )
    for name in run.start:
        np.testing.assert_array_equal(first.label_vectors[name], second.label_vectors[name])
    assert first.loss_history == second.loss_history


def test_it_reports_every_epoch_to_its_end(engine: Engine, run: Run) -> None:
    heard = []
    engine.train(run.graph, run.instance, run.plan, run.start, lambda *said: heard.append(said[:2]))
    assert {(epoch, 1.0) for epoch in range(3)} <= set(heard)
    assert heard == sorted(heard)


@pytest.mark.parametrize("name", ENGINES)
def test_the_estimator_takes_it_by_name(name: str, run: Run) -> None:
    model = EmbeddingPropagation(engine=name, dim=6, epochs=1, n_threads=1)
    assert model.fit_transform(run.graph).shape == (run.graph.n_nodes, 12)


@pytest.mark.parametrize("name", ["torhc", "", None])
def test_an_unknown_engine_is_refused_with_the_known_ones(name: str, run: Run) -> None:
    with pytest.raises(
        UnknownComponentError, match=r"engine=.* is not known\. Choose one of: 'auto', 'fused'\."
    ):
        choose_engine(name, run.instance)


@pytest.mark.parametrize("name", ENGINES)
def test_an_instance_that_no_engine_knows_is_refused(name: str, run: Run) -> None:
    with pytest.raises(UnknownComponentError, match=r"No engine can compute instance='epx'\."):
        choose_engine(name, replace(run.instance, name="epx"))

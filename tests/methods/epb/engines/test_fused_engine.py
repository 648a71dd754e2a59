"""What the fused engine does around its kernels: reports, history, bad losses."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from tests import toy_graphs
from tests.methods.epb.runs import Run, by_fused

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import TrainingError
from embedprop.methods.epb.engines import fused as fused_engine


def test_zero_epochs_return_the_start() -> None:
    run = Run.of(toy_graphs.messy())
    result = run.lasting(0).fused()
    for name, vectors in run.start.items():
        np.testing.assert_array_equal(result.label_vectors[name], vectors)
    assert result.loss_history == {"node": [], "word": []}
    assert not result.interrupted


def test_the_vectors_to_start_from_are_not_changed() -> None:
    run = Run.of(toy_graphs.messy())
    before = {name: vectors.copy() for name, vectors in run.start.items()}
    run.fused()
    for name, vectors in before.items():
        np.testing.assert_array_equal(run.start[name], vectors)


def test_reports_tell_epoch_share_and_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused_engine, "_WORK_PER_STEP", 1)
    run, heard = Run.of(toy_graphs.messy(20), epochs=2, batch_size=5), []
    result = run.by(by_fused(), lambda *said: heard.append(said))
    assert [(epoch, share) for epoch, share, _ in heard] == [
        (epoch, share) for epoch in (0, 1) for share in (0.25, 0.5, 0.75, 1.0)
    ]
    for epoch, last in ((0, heard[3]), (1, heard[7])):
        assert last[2] == {name: losses[epoch] for name, losses in result.loss_history.items()}


def test_going_on_repeats_no_draws() -> None:
    run = Run.of(toy_graphs.messy())
    first, later = run.fused(first_epoch=0), run.fused(first_epoch=1)
    assert (first.label_vectors["node"] != later.label_vectors["node"]).any()


@pytest.mark.parametrize("learning_rate", [1e30, 1e300])
def test_a_loss_that_is_no_number_stops_training(learning_rate: float) -> None:
    run = Run.of(toy_graphs.messy(), epochs=50, learning_rate=learning_rate, margin=2.0)
    with pytest.raises(
        TrainingError,
        match=r"The loss of label type 'node' is (nan|inf) in epoch \d+ of 50, with "
        r"learning_rate=1e\+30+ and margin=2\. Lower learning_rate",
    ):
        run.fused()


def test_a_loss_that_runs_away_stops_training() -> None:
    # So slow a start that the first epoch's loss is about the margin.
    run = Run.of(toy_graphs.messy(), epochs=50, learning_rate=1e5, batch_size=1000)
    with pytest.raises(
        TrainingError, match=r"label type '(node|word)' has grown to .* in epoch \d+ of 50, with"
    ):
        run.fused()


def test_vectors_that_are_no_numbers_after_the_last_step_stop_training() -> None:
    run = Run.of(toy_graphs.messy(), learning_rate=1e300, batch_size=1000)
    with pytest.raises(TrainingError, match=r"label type 'node' .* in epoch 1 of 1"):
        run.fused()


@pytest.mark.parametrize("learning_rate", [1e5, 1e15])
def test_a_loss_that_runs_away_within_the_first_epoch_stops_training(learning_rate: float) -> None:
    run = Run.of(toy_graphs.messy(), epochs=30, learning_rate=learning_rate, batch_size=4)
    with pytest.raises(TrainingError, match=r"label type '(node|word)' has grown to"):
        run.fused()


def test_the_second_label_type_is_named_when_it_is_the_one_that_fails() -> None:
    words = [(node, word, 1e30) for node in range(5) for word in "xy"]
    graph = Graph.from_edges(
        [(i, i + 1) for i in range(4)], labels={"word": words}, weights=[1e30] * 4
    )
    with pytest.raises(TrainingError, match=r"label type 'word' is nan in epoch 1 of 3"):
        Run.of(graph, epochs=3).fused()


class NeverCompiled:
    """Stands where the compiled kernel is looked for."""

    __name__ = "never"
    signatures: tuple[()] = ()

    def __init__(self, stats: object) -> None:
        self.stats = stats


@pytest.mark.parametrize("stats", [SimpleNamespace(cache_path="/nowhere"), None])
def test_the_first_run_tells_that_it_compiles(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, stats: object
) -> None:
    run = Run.of(toy_graphs.path())
    is_ready = fused_engine._is_ready
    monkeypatch.setattr(fused_engine, "_is_ready", lambda _: is_ready(NeverCompiled(stats)))
    with caplog.at_level(logging.INFO, logger="embedprop"):
        run.fused()
    assert "Compiling the kernels" in caplog.text
    caplog.clear()
    monkeypatch.undo()
    run.fused()
    assert "Compiling" not in caplog.text


@pytest.mark.parametrize("n_threads", [1, 2])
def test_it_runs_without_compilation_too(n_threads: int) -> None:
    code = f"""
from tests.methods.epb.engines.test_fused_engine import summed_vectors
print(summed_vectors({n_threads}))
"""
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "NUMBA_NUM_THREADS": "2",
        "PYTHONPATH": os.pathsep.join([".", *filter(None, sys.path)]),
        "PYTHONWARNINGS": "ignore",  # counters overflow on purpose
    }
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert result.stdout.strip(), result.stderr
    assert float(result.stdout) == pytest.approx(summed_vectors(1), rel=1e-4)


def summed_vectors(n_threads: int) -> float:
    """Return the sum over all columns of what is learned from a small graph in several batches."""
    model = EmbeddingPropagation(
        dim=64, epochs=2, batch_size=8, n_threads=n_threads, label_types=["node"], verbose=False
    )
    vectors = model.fit(toy_graphs.messy(30, words=False)).node_embeddings_
    return float(np.abs(vectors).sum())

"""The loop over epochs: what it reports, where it stops, and how a run goes on from a state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import toy_graphs
from tests.methods.epb.runs import By, Run, by_fused, by_torch, ignore

from embedprop.errors import TrainingError
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.epochs import TrainingResult, learn
from embedprop.methods.epb.tables.storage import DiskTables
from embedprop.methods.epb.task import Targets

ENGINES = ["fused", "two threads", "disk", "torch", "targets"]


def by_name(name: str, run: Run, folder: Path) -> By:
    if name == "disk":
        return by_fused(tables=DiskTables(folder))
    if name == "torch":
        return by_torch()
    if name == "targets":
        classes = {node: "ab"[node % 2] for node in range(9)}
        return by_torch(targets=Targets.of(classes, run.graph.nodes, 0.5))
    return by_fused()


def run_of(name: str, n_relations: int) -> Run:
    graph = toy_graphs.messy(
        40, missing=True, weighted_labels=True, weighted_edges=True, n_relations=n_relations
    )
    plan = {"epochs": 5, "schedule": "linear", "n_partitions": 4 if name == "disk" else 2}
    run = Run.of(graph, dim=72, n_negatives=2, n_threads=2 if name == "two threads" else 1, **plan)
    if name != "targets":
        return run
    # Dropout draws from torch's own random numbers.
    types = {key: replace(one, label_dropout=0.3) for key, one in run.instance.label_types.items()}
    return replace(run, instance=replace(run.instance, label_types=types))


def continued(
    by: By, run: Run, state: Mapping[str, np.ndarray], history: Mapping[str, list[float]]
) -> TrainingResult:
    """Learn the rest of a run in another one, that has the state restored."""
    with run.learner(by) as learner:
        learner.restore(state)
        return learn(learner, run.task(), ignore, history=history)


def stopped(by: By, run: Run, after: int) -> tuple[TrainingResult, dict[str, np.ndarray]]:
    """Learn some epochs; return what was learned, and the state."""
    kept: dict[str, np.ndarray] = {}
    with run.learner(by) as learner:

        def keep(epoch: int, share: float, losses: object) -> None:
            del losses
            if (epoch + 1, share) == (after, 1.0):
                kept.update({key: array.copy() for key, array in learner.state().items()})

        return learn(learner, run.task(), keep, stop=lambda: bool(kept)), kept


def assert_same_bytes(one: TrainingResult, other: TrainingResult) -> None:
    assert one.loss_history == other.loss_history
    for table, others in (
        (one.label_vectors, other.label_vectors),
        (one.relation_vectors, other.relation_vectors),
    ):
        assert list(table) == list(others)
        for name, vectors in others.items():
            assert table[name].tobytes() == vectors.tobytes()


@pytest.mark.parametrize("n_relations", [0, 3])
@pytest.mark.parametrize("name", ENGINES)
def test_a_restored_run_ends_with_the_bytes_of_one_that_was_never_stopped(
    tmp_path: Path, name: str, n_relations: int
) -> None:
    run = run_of(name, n_relations)
    whole = run.by(by_name(name, run, tmp_path))
    first, state = stopped(by_name(name, run, tmp_path), run, after=3)
    assert first.interrupted
    assert {len(losses) for losses in first.loss_history.values()} == {3}
    second = continued(by_name(name, run, tmp_path), run, state, first.loss_history)
    assert not second.interrupted
    assert_same_bytes(second, whole)


def test_a_state_fits_any_number_of_threads() -> None:
    one, two = run_of("fused", 3), run_of("two threads", 3)
    first, state = stopped(by_fused(), one, after=2)
    assert_same_bytes(continued(by_fused(), two, state, first.loss_history), one.fused())


def test_keeping_a_state_changes_no_byte(tmp_path: Path) -> None:
    run = run_of("disk", 3)
    by = by_fused(tables=DiskTables(tmp_path))
    with run.learner(by) as learner:
        result = learn(learner, run.task(), lambda *_: learner.state() and None)
    for key, vectors in run.fused().label_vectors.items():
        np.testing.assert_array_equal(result.label_vectors[key], vectors)


@pytest.mark.parametrize("name", ["fused", "torch"])
def test_who_is_asked_to_stop_ends_after_the_running_step(tmp_path: Path, name: str) -> None:
    run, n_asked = run_of(name, 0), []

    def stop() -> bool:
        n_asked.append(None)
        return len(n_asked) > 1

    result = run.by(by_name(name, run, tmp_path), stop=stop)
    assert result.interrupted
    assert len(result.loss_history["word"]) < run.plan.epochs


@pytest.mark.parametrize("name", ["fused", "torch"])
def test_who_is_stopped_after_an_epoch_has_learned_what_so_many_epochs_teach(
    tmp_path: Path, name: str
) -> None:
    run = Run.of(toy_graphs.messy()).lasting(50)
    first, _ = stopped(by_name(name, run, tmp_path), run, after=3)
    assert {len(losses) for losses in first.loss_history.values()} == {3}
    assert_same_bytes(first, run.lasting(3).by(by_name(name, run, tmp_path)))


class Diverging:
    """A learner whose loss is what the test says."""

    def __init__(self, run: Run, name: str, loss: float) -> None:
        self.drawer = Drawer(run.graph, run.instance, run.plan)
        self.visits_per_step, self.highest_losses = 10, {name: 5.0}
        self._loss = {name: loss}

    def begin_epoch(self, rate: float) -> None: ...

    def turn_to(self, ranges: object) -> None: ...

    def step(self, draws: Any) -> dict[str, float]:
        return {name: loss * len(draws.nodes) for name, loss in self._loss.items()}


@pytest.mark.parametrize(
    ("name", "loss", "message"),
    [
        ("node", np.nan, r"^The loss of label type 'node' is nan in epoch 1 of 1, with learning_"),
        ("node", 5.1, r"^The loss of label type 'node' has grown to 5\.1 .* and margin=1\. Lower"),
        ("target", np.inf, r"^The loss of the targets is inf .* with learning_rate=0\.01\. Lower"),
    ],
)
def test_a_bad_loss_stops_any_engine(name: str, loss: float, message: str) -> None:
    run = Run.of(toy_graphs.messy())
    learner: Any = Diverging(run, name, loss)
    with pytest.raises(TrainingError, match=message):
        learn(learner, run.task(), ignore)

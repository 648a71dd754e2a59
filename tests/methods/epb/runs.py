"""One training run that both engines can make, and how far they end apart."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from tests.reference import train_by_autograd

from embedprop.graph import Graph
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.epb import EPBInstance, TypeInstance
from embedprop.methods.epb.engines.choose import Engine, Fused, Torch
from embedprop.methods.epb.epochs import EpochReport, Learner, TrainingResult, learn
from embedprop.methods.epb.tables.storage import MEMORY, Tables
from embedprop.methods.epb.task import Start, Task, TrainingPlan, glorot
from embedprop.methods.random_streams import RandomStreams


def ignore(*_: object) -> None:
    """Hear of progress, and say nothing."""


@dataclass(frozen=True)
class By:
    """An engine, and what its task holds beside the run."""

    engine: Engine
    more: dict[str, Any] = field(default_factory=dict)


def by_fused(dtype: type[np.floating] = np.float32, tables: Tables = MEMORY) -> By:
    return By(Fused(), {"dtype": dtype, "tables": tables})


def by_torch(**more: Any) -> By:
    return By(Torch("cpu"), more)


@dataclass(frozen=True)
class Run:
    graph: Graph
    instance: EPBInstance
    plan: TrainingPlan
    start: dict[str, np.ndarray] = field(default_factory=dict)
    start_relations: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        graph: Graph,
        *,
        label_types: tuple[str, ...] | None = None,
        dim: int | dict[str, int] = 6,
        margin: float | dict[str, float] = 1.0,
        n_negatives: int = 1,
        negatives: str = "uniform",
        neighborhood: str = "neighbors",
        max_neighbors: int | None = None,
        distance: str = "euclidean",
        **plan: Any,
    ) -> Run:
        types = label_types or graph.label_types
        per_type = {
            name: TypeInstance(
                dim[name] if isinstance(dim, dict) else dim,
                margin[name] if isinstance(margin, dict) else margin,
                distance=distance,
            )
            for name in types
        }
        n_relations = 0 if graph.relations is None else len(graph.relations)
        instance = EPBInstance(
            per_type,
            n_negatives,
            negatives,
            neighborhood,
            max_neighbors,
            n_relations=n_relations,
        )
        settings = {"epochs": 1, "batch_size": 6, "learning_rate": 0.01, "n_threads": 1} | plan
        streams, learnable = RandomStreams(settings.get("seed", 0)), LearnableGraph.of(graph)
        start = {
            name: glorot(name, learnable.labels(name).n_vectors, one.dim, streams)
            for name, one in per_type.items()
        }
        start_relations = {
            name: glorot(f"relation {name}", n_relations, one.dim, streams)
            for name, one in per_type.items()
            if n_relations
        }
        return cls(graph, instance, TrainingPlan(**settings), start, start_relations)

    @property
    def learnable(self) -> LearnableGraph:
        return LearnableGraph.of(self.graph)

    def task(self, fixed: dict[str, np.ndarray] | None = None, **more: Any) -> Task:
        start = Start(self.start, self.start_relations, fixed or {})
        return Task(self.learnable, self.instance, self.plan, start, **more)

    def learner(self, by: By) -> AbstractContextManager[Learner]:
        """Return the run of an engine, at its start."""
        return by.engine.learner(self.task(**by.more))

    def lasting(self, epochs: int) -> Run:
        return replace(self, plan=replace(self.plan, epochs=epochs))

    def in_one_step(self) -> Run:
        """The same, with every visit in one batch and one epoch."""
        n_edges = self.graph.neighbors.n_values
        return replace(self, plan=replace(self.plan, epochs=1, batch_size=n_edges))

    def fused(self, dtype: type[np.floating] = np.float32, **plan: Any) -> TrainingResult:
        return self.by(by_fused(dtype), **plan)

    def by(
        self,
        by: By,
        report: EpochReport = ignore,
        stop: Callable[[], bool] = lambda: False,
        **plan: Any,
    ) -> TrainingResult:
        run = replace(self, plan=replace(self.plan, **plan))
        with run.learner(by) as learner:
            return learn(learner, run.task(), report, stop)

    def autograd(self) -> TrainingResult:
        return train_by_autograd(
            self.graph, self.instance, self.plan, self.start, self.start_relations
        )


def assert_equal_to_autograd(
    run: Run, dtype: type[np.floating], relative: float, absolute: float
) -> None:
    """Hold the fused engine equal to autograd in float64."""
    fused = run.fused(dtype)
    assert {vectors.dtype for vectors in fused.label_vectors.values()} == {np.dtype(dtype)}
    assert_near(run, fused, run.autograd(), relative, absolute)


def assert_near(
    run: Run, result: TrainingResult, reference: TrainingResult, relative: float, absolute: float
) -> None:
    """Compare vectors, how far they moved from the start, and losses.

    `relative` bounds |result - reference| / |reference - start| over a whole table, which is
    stricter than a share of the vectors; `absolute` bounds each of its numbers.
    """
    assert list(result.label_vectors) == list(run.instance.label_types)
    assert list(result.relation_vectors) == list(run.start_relations)
    for name, expected in reference.label_vectors.items():
        tables = [(result.label_vectors[name], expected, run.start[name])]
        if name in run.start_relations:
            learned = result.relation_vectors[name], reference.relation_vectors[name]
            tables.append((*learned, run.start_relations[name]))
        for vectors, wanted, start in tables:
            assert vectors.shape == wanted.shape
            difference = vectors.astype(np.float64) - wanted
            moved = np.linalg.norm(wanted - start)
            assert moved > 0
            assert np.linalg.norm(difference) <= relative * moved
            assert np.abs(difference).max() <= absolute
        np.testing.assert_allclose(
            result.loss_history[name], reference.loss_history[name], rtol=relative
        )

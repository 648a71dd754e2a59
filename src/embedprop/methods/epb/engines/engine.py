"""What every engine does: turn a graph and a described instance into label vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from embedprop.graph.arrays import Vectors
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.epb import EPBInstance
from embedprop.methods.epb.plan import TrainingPlan

NOTHING: Mapping[str, Vectors] = MappingProxyType({})


@dataclass(frozen=True)
class TrainingResult:
    """What was learned.

    label_vectors: per label type, (labels + dummy labels, dim). loss_history: per label type, the
    mean loss per visit of each epoch that was finished. interrupted: stopped by Ctrl-C.
    relation_vectors: per label type, (relations, dim). embeddings: per label type, h of every node
    (nodes, dim), where it is more than the mean of label vectors; else None. modules: per label
    type, the torch modules that compute it; head: that of the targets.
    """

    label_vectors: Mapping[str, Vectors]
    loss_history: Mapping[str, list[float]]
    interrupted: bool = False
    relation_vectors: Mapping[str, Vectors] = field(default_factory=dict)
    embeddings: Mapping[str, Vectors] | None = None
    modules: Mapping[str, Any] | None = None
    head: Any = None


class Watch(Protocol):
    """Knows whether learning is to stop after the running batch."""

    @property
    def pressed(self) -> bool:
        """Whether somebody asked for it."""
        ...


class Nobody:
    """Never stops."""

    pressed = False


NOBODY = Nobody()


class EpochReport(Protocol):
    """Hears of progress; engines call it often, so it must be cheap."""

    def __call__(self, epoch: int, share: float, losses: Mapping[str, float]) -> None:
        """Epoch `epoch` (from 0) is done to `share` (0 to 1), with these mean losses so far."""
        ...


class Engine(Protocol):
    """One way to compute an instance."""

    def train(
        self,
        graph: LearnableGraph,
        instance: EPBInstance,
        plan: TrainingPlan,
        start: Mapping[str, Vectors],
        report: EpochReport,
        start_relations: Mapping[str, Vectors] = NOTHING,
        watch: Watch = NOBODY,
    ) -> TrainingResult:
        """Learn label vectors, from the given ones on; with relations, their vectors too."""
        ...

"""What every engine does: turn a graph and a described instance into label vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from embedprop.graph.arrays import Vectors
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.epb import EPBInstance
from embedprop.methods.epb.epochs import learn, never
from embedprop.methods.epb.plan import TrainingPlan

if TYPE_CHECKING:  # what answers queries needs the results here, and neither Numba nor a drawer
    from embedprop.kernels.epb.batch import Draws
    from embedprop.methods.epb.draws import Drawer
    from embedprop.methods.epb.partitions import Ranges

NOTHING: Mapping[str, Vectors] = MappingProxyType({})


@dataclass(frozen=True)
class TrainingResult:
    """What was learned.

    label_vectors: per label type, (labels + dummy labels, dim). loss_history: per label type, the
    mean loss per visit of each epoch that was finished. interrupted: stopped before the end.
    relation_vectors: per label type, (relations, dim). embeddings: per label type, h of every node
    (nodes, dim), where it is more than the mean of label vectors; else None. modules: per label
    type, the torch modules that compute it; head: that of the targets.
    """

    label_vectors: Mapping[str, Vectors]
    loss_history: Mapping[str, list[float]] = field(default_factory=dict)
    interrupted: bool = False
    relation_vectors: Mapping[str, Vectors] = field(default_factory=dict)
    embeddings: Mapping[str, Vectors] | None = None
    modules: Mapping[str, Any] | None = None
    head: Any = None


class EpochReport(Protocol):
    """Hears of progress; engines call it often, so it must be cheap."""

    def __call__(self, epoch: int, share: float, losses: Mapping[str, float]) -> None:
        """Epoch `epoch` (from 0) is done to `share` (0 to 1), with these mean losses so far."""
        ...


class Learner(Protocol):
    """A run of an engine: its vectors in the middle of learning, moved a step at a time.

    drawer: what chance decides. visits_per_step: how many one step may take, a multiple of the
    batch size. highest_losses: what there is a loss for, and the mean that says that learning runs
    away.
    """

    drawer: Drawer
    visits_per_step: int
    highest_losses: Mapping[str, float]

    def begin_epoch(self, rate: float) -> None:
        """Go on with this learning rate."""
        ...

    def turn_to(self, ranges: Ranges) -> None:
        """Make ready for visits that meet only nodes with ids in these ranges."""
        ...

    def step(self, draws: Draws) -> Mapping[str, float]:
        """Move the vectors, batch by batch; return the summed losses."""
        ...

    def finished(self) -> TrainingResult:
        """Return the vectors after the last step; learning is over."""
        ...

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that the rest of the run depends on, between two epochs.

        Some of the arrays are the run's own: write or copy them before the next step.
        """
        ...

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from the state of another run with the same graph, instance and plan."""
        ...


class Engine(ABC):
    """One way to compute an instance."""

    def train(
        self,
        learnable: LearnableGraph,
        instance: EPBInstance,
        plan: TrainingPlan,
        start: Mapping[str, Vectors],
        report: EpochReport,
        start_relations: Mapping[str, Vectors] = NOTHING,
        stop: Callable[[], bool] = never,
    ) -> TrainingResult:
        """Learn label vectors, from `start` on; with relations, their vectors too.

        stop: asked after each step; once True, it stays so.
        """
        with self.learner(learnable, instance, plan, start, start_relations) as learner:
            return learn(learner, instance, plan, report, stop)

    @abstractmethod
    def learner(
        self,
        learnable: LearnableGraph,
        instance: EPBInstance,
        plan: TrainingPlan,
        start: Mapping[str, Vectors],
        start_relations: Mapping[str, Vectors] = NOTHING,
    ) -> AbstractContextManager[Learner]:
        """Return a run that stands at the start, in a context that frees what it holds."""

"""What every engine does: go through a task step by step, and give vectors back."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from numpy.typing import NDArray

from embedprop.graph.arrays import Vectors
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.epb import EPBInstance
from embedprop.methods.epb.tables.place import Place
from embedprop.methods.epb.task import Task

if TYPE_CHECKING:  # what answers queries needs the results here, and neither Numba nor a drawer
    from embedprop.kernels.epb.batch import Draws
    from embedprop.methods.epb.draws import Drawer
    from embedprop.methods.epb.partitions import Ranges


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


class Engine(Protocol):
    """One way to compute an instance, with its parameters; made before anything of it is loaded."""

    name: ClassVar[str]

    def why_not(self, instance: EPBInstance, supervised: bool) -> str | None:
        """Return why the engine cannot compute an instance and what to do; None if it can."""
        ...

    def place(self, graph: LearnableGraph, instance: EPBInstance) -> Place:
        """Return where the tables of a run go."""
        ...

    def learner(self, task: Task) -> AbstractContextManager[Learner]:
        """Return a run that stands at the start, in a context that frees what it holds."""
        ...

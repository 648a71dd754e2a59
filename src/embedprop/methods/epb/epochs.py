"""The loop over epochs, the same for every engine, and the learner that it moves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from embedprop.errors import TrainingError
from embedprop.graph.arrays import Vectors
from embedprop.methods.epb.tables.storage import all_finite
from embedprop.methods.epb.task import Task

if TYPE_CHECKING:  # what answers queries needs the results here, and neither Numba nor a drawer
    from embedprop.kernels.epb.batch import Draws
    from embedprop.methods.epb.draws import Drawer
    from embedprop.methods.epb.neighborhoods import Ranges

History = dict[str, list[float]]


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


def learn(
    learner: Learner,
    task: Task,
    report: EpochReport,
    stop: Callable[[], bool] = lambda: False,
    history: Mapping[str, list[float]] | None = None,
) -> TrainingResult:
    """Go through the epochs of a plan and return what was learned.

    report is called after every step; at the end of an epoch (share 1) `learner.state()` may be
    kept. A learner with such a state restored goes on where the `history` of losses ends.
    """
    losses_so_far = {name: list((history or {}).get(name, [])) for name in learner.highest_losses}
    for epoch, share, losses in _steps(learner, task, losses_so_far):
        report(epoch, share, losses)
        if stop():
            break
    result = replace(learner.finished(), loss_history=losses_so_far)
    _require_finite(result, task)
    return replace(result, interrupted=stop())


def _steps(
    learner: Learner, task: Task, history: History
) -> Iterator[tuple[int, float, Mapping[str, float]]]:
    """Yield after each step the epoch, the share of it that is done, and its mean losses."""
    # Draws and rates depend on the number of the epoch alone, so that a run can begin anywhere.
    n_done_before = max(map(len, history.values()), default=0)
    for epoch in range(n_done_before, task.plan.epochs):
        learner.begin_epoch(task.plan.rate(epoch))
        sums, n_visits = dict.fromkeys(history, 0.0), 0
        losses = sums
        for part in learner.drawer.rounds(task.plan.first_epoch + epoch):
            learner.turn_to(part.ranges)
            for low in range(0, len(part.order), learner.visits_per_step):
                draws = part.draw(part.order[low : low + learner.visits_per_step])
                for name, loss in learner.step(draws).items():
                    sums[name] += loss
                n_visits += len(draws.nodes)
                losses = {name: total / n_visits for name, total in sums.items()}
                for name, loss in losses.items():
                    if not loss <= learner.highest_losses[name]:  # so that NaN is refused, too
                        what = f"has grown to {loss:.3g}" if math.isfinite(loss) else f"is {loss}"
                        raise _diverged("The loss", name, what, task, epoch)
                # The end of an epoch is told once, when its losses are in the history.
                share = part.share(low + len(draws.nodes))
                if share < 1:
                    yield epoch, share, losses
        for name, loss in losses.items():
            history[name].append(loss)
        yield epoch, 1.0, losses


def _require_finite(result: TrainingResult, task: Task) -> None:
    """Refuse vectors that the last step, which no loss shows, has made infinite."""
    epoch = max(0, max(map(len, result.loss_history.values()), default=0) - 1)
    for tables in (result.label_vectors, result.relation_vectors, result.embeddings or {}):
        for name, table in tables.items():
            if not all_finite(table):
                raise _diverged("The vectors", name, "are not finite", task, epoch)


def _diverged(subject: str, name: str, what: str, task: Task, epoch: int) -> TrainingError:
    settings, plan = task.instance.label_types.get(name), task.plan
    owner = "the targets" if settings is None else f"label type {name!r}"
    margin = None if settings is None else settings.margin
    with_margin = "" if margin is None else f" and margin={margin:g}"
    return TrainingError(
        f"{subject} of {owner} {what} in epoch {epoch + 1} of {plan.epochs}, with "
        f"learning_rate={plan.learning_rate:g}{with_margin}. Lower learning_rate (the default is "
        f"0.001), or look for extreme weights."
    )

"""The loop over epochs, the same for every engine: draws, steps, losses, reports, interrupts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from embedprop.errors import TrainingError
from embedprop.methods.epb.engines.engine import EpochReport, Learner, TrainingResult
from embedprop.methods.epb.tables.storage import all_finite
from embedprop.methods.epb.task import Task

History = dict[str, list[float]]


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

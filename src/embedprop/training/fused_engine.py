"""EP-B by fused Numba kernels: the default engine, without torch."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, TrainingError
from embedprop.graph import Graph
from embedprop.instance import Instance
from embedprop.kernels.adam import AdamTables, adam_tables
from embedprop.kernels.epb import epb_batches
from embedprop.training.batches import Drawer
from embedprop.training.engine import Report, TrainingResult, Vectors
from embedprop.training.fused_state import FusedState
from embedprop.training.interrupt import InterruptWatch
from embedprop.training.labels import learned_labels
from embedprop.training.plan import TrainingPlan
from embedprop.training.random_streams import RandomStreams
from embedprop.training.threads import ThreadChoice, launch_threads

logger = logging.getLogger(__name__)

# Multiplications between two looks at the keyboard and the progress bar: about a tenth of a second.
_WORK_PER_RUN = 2**27
# A mean loss this many times the margin, and the first epoch's, means that learning runs away.
_EXPLODED = 1000.0


class FusedEngine:
    """Lays out arrays, calls the kernels batch by batch, and watches the loss."""

    name = "fused"

    def __init__(self, dtype: type[np.floating] = np.float32) -> None:
        self._dtype = dtype

    @staticmethod
    def can_compute(instance: Instance) -> bool:
        """Return whether the kernels know this instance."""
        return instance.name == "epb"

    def train(
        self,
        graph: Graph,
        instance: Instance,
        plan: TrainingPlan,
        start: Mapping[str, Vectors],
        report: Report,
    ) -> TrainingResult:
        """Learn label vectors by EP-B, from `start` on."""
        if graph.n_nodes < 2:
            raise InvalidGraphError(
                "EP-B compares each node with another one: the graph needs at least 2 nodes, got 1."
            )
        drawer = Drawer(graph, instance, RandomStreams(plan.seed), self._dtype)
        threads = ThreadChoice(plan.n_threads)
        tables = adam_tables(np.dtype(self._dtype))
        states = {
            label_type: FusedState(
                np.array(start[label_type], self._dtype, order="C"),
                learned_labels(graph, label_type).sets,
                settings,
                plan,
                drawer.sizes[drawer.visited],
                graph.neighbors.weights is not None,
                instance.n_negatives,
                threads.most,
            )
            for label_type, settings in instance.label_types.items()
        }
        _compile(states, drawer, tables)
        with InterruptWatch() as watch:
            run = _Run(instance, plan, drawer, states, threads, tables)
            for epoch in range(plan.epochs):
                for share in run.epoch(epoch):
                    report(epoch, share, run.losses())
                    if watch.pressed:
                        break
                if watch.pressed:
                    break
                run.close_epoch(epoch)
        vectors = {name: state.finished(tables, threads.most) for name, state in states.items()}
        return TrainingResult(vectors, run.history, interrupted=watch.pressed)


class _Run:
    """The loss of the running epoch, and those of all before."""

    def __init__(
        self,
        instance: Instance,
        plan: TrainingPlan,
        drawer: Drawer,
        states: Mapping[str, FusedState],
        threads: ThreadChoice,
        tables: AdamTables,
    ) -> None:
        self._instance, self._plan, self._drawer = instance, plan, drawer
        self._states, self._threads, self._tables = states, threads, tables
        self._sums = dict.fromkeys(states, 0.0)
        self._n_done = 0
        self.history: dict[str, list[float]] = {name: [] for name in states}
        n_visited = len(drawer.visited)
        work = sum(state.work_per_node(drawer.sizes.sum() / n_visited) for state in states.values())
        n_batches = max(1, int(_WORK_PER_RUN / work / plan.batch_size))
        self._positions_per_run = n_batches * plan.batch_size

    def losses(self) -> dict[str, float]:
        """Return the mean loss per visited node of the running epoch."""
        return {name: total / max(1, self._n_done) for name, total in self._sums.items()}

    def epoch(self, epoch: int) -> Iterator[float]:
        """Go through an epoch in runs of some batches; yield the share that is done."""
        self._sums, self._n_done = dict.fromkeys(self._sums, 0.0), 0
        counter = self._plan.first_epoch + epoch
        order = self._drawer.order(counter)
        for low in range(0, len(order), self._positions_per_run):
            nodes: NDArray[np.int32] = order[low : low + self._positions_per_run]
            draws = self._drawer.draw(counter, nodes)
            with self._threads.run(float((draws.ends - draws.starts).sum())) as n_threads:
                for name, state in self._states.items():
                    self._sums[name] += state.run(draws, self._tables, n_threads)
            self._n_done += len(nodes)
            self._check(epoch)
            yield self._n_done / len(order)

    def close_epoch(self, epoch: int) -> None:
        """Note the losses of a finished epoch."""
        for name, loss in self.losses().items():
            self.history[name].append(loss)
            margin = self._instance.label_types[name].margin
            if loss > _EXPLODED * max(margin, self.history[name][0]):
                raise TrainingError(self._message(name, epoch, f"has grown to {loss:.3g}"))

    def _check(self, epoch: int) -> None:
        for name, total in self._sums.items():
            if not np.isfinite(total):
                raise TrainingError(self._message(name, epoch, f"is {total}"))

    def _message(self, name: str, epoch: int, what: str) -> str:
        return (
            f"The loss of label type {name!r} {what} in epoch {epoch + 1} of {self._plan.epochs}, "
            f"with learning_rate={self._plan.learning_rate:g} and "
            f"margin={self._instance.label_types[name].margin:g}. "
            f"Lower learning_rate (the default is 0.001), or look for extreme weights."
        )


def _compile(states: Mapping[str, FusedState], drawer: Drawer, tables: AdamTables) -> None:
    """Compile the kernels before the clock and the progress bar start; tell when it takes long."""
    if not epb_batches.signatures and not _is_cached():
        logger.warning(
            "Compiling the kernels: once, about half a minute; later runs start at once."
        )
    launch_threads()
    nothing = drawer.draw(0, drawer.visited[:0])
    for state in states.values():
        state.run(nothing, tables, 1)


def _is_cached() -> bool:
    """Return whether Numba has compiled kernels on disk; only a message hangs on it."""
    try:
        folder = Path(epb_batches.stats.cache_path or "")
        return any(folder.glob("epb.epb_batches-*.nbi"))
    except (AttributeError, OSError, TypeError):
        return False

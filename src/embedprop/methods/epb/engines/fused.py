"""EP-B by fused Numba kernels: the default engine, without torch."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from embedprop.errors import TrainingError
from embedprop.graph.arrays import Vectors
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.epb import EPBInstance
from embedprop.kernels.epb.adam import AdamTables, adam_tables
from embedprop.kernels.epb.batches import epb_batches
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.engines.engine import NOBODY, NOTHING, EpochReport, TrainingResult, Watch
from embedprop.methods.epb.engines.fused_state import FusedState, is_identity
from embedprop.methods.epb.engines.threads import Crew, ThreadChoice
from embedprop.methods.epb.plan import TrainingPlan
from embedprop.methods.epb.tables.resident import ResidentTable
from embedprop.methods.epb.tables.storage import MEMORY, Tables, all_finite, chunks
from embedprop.methods.random_streams import RandomStreams

logger = logging.getLogger(__name__)

# Multiplications between two looks at the keyboard and the progress bar: about a tenth of a second.
_WORK_PER_RUN = 2**27
# A mean loss this many times what the start vectors can give means that learning runs away.
_EXPLODED = 100.0


class FusedEngine:
    """Lays out arrays, calls the kernels batch by batch, and watches the loss."""

    def __init__(self, dtype: type[np.floating] = np.float32, tables: Tables = MEMORY) -> None:
        self._dtype, self._tables = dtype, tables

    def train(
        self,
        learnable: LearnableGraph,
        instance: EPBInstance,
        plan: TrainingPlan,
        start: Mapping[str, Vectors],
        report: EpochReport,
        start_relations: Mapping[str, Vectors] = NOTHING,
        watch: Watch = NOBODY,
    ) -> TrainingResult:
        """Learn label vectors by EP-B, from `start` on; with relations, their vectors too."""
        graph = learnable.graph
        streams = RandomStreams(plan.seed)
        drawer = Drawer(graph, instance, streams, self._dtype, plan.batch_size, plan.n_partitions)
        threads = ThreadChoice(plan.n_threads)
        crew = Crew()
        sums = adam_tables(np.dtype(self._dtype))
        states = {}
        for name in instance.label_types:
            sets = learnable.labels(name).sets
            partitioned = plan.n_partitions > 2 and is_identity(sets)
            rows = ResidentTable(
                start[name],
                start_relations.get(name),
                self._dtype,
                self._tables,
                partitioned,
                threads.most,
            )
            states[name] = FusedState(rows, sets, instance.label_types[name], plan, drawer, crew)
        with crew:
            _compile(states, drawer, sums)
            largest = {
                name: _largest_distance(start[name], start_relations.get(name)) for name in states
            }
            run = _Run(instance, plan, drawer, states, threads, sums, largest)
            for epoch, share in run.all_epochs():
                report(epoch, share, run.losses())
                if watch.pressed:
                    break
            vectors, relations = run.finished()
        return TrainingResult(vectors, run.history, watch.pressed, relations)


class _Run:
    """The loss of the running epoch, and those of all before."""

    def __init__(
        self,
        instance: EPBInstance,
        plan: TrainingPlan,
        drawer: Drawer,
        states: Mapping[str, FusedState],
        threads: ThreadChoice,
        sums: AdamTables,
        largest_distance: Mapping[str, float],
    ) -> None:
        self._instance, self._plan, self._drawer = instance, plan, drawer
        self._states, self._threads, self._adam = states, threads, sums
        self._sums = dict.fromkeys(states, 0.0)
        self._n_done = 0
        self.history: dict[str, list[float]] = {name: [] for name in states}
        self._usual = {
            name: instance.n_negatives
            * ((settings.margin or 0.0) + largest_distance[name] ** (1 + settings.is_squared))
            for name, settings in instance.label_types.items()
        }
        work = sum(state.work_per_visit() for state in states.values())
        n_batches = max(1, int(_WORK_PER_RUN / work / plan.batch_size))
        self._positions_per_run = n_batches * plan.batch_size

    def losses(self) -> dict[str, float]:
        """Return the mean loss per visit of the running epoch."""
        return {name: total / max(1, self._n_done) for name, total in self._sums.items()}

    def all_epochs(self) -> Iterator[tuple[int, float]]:
        """Go through all epochs in runs of some batches; yield epoch and share that is done."""
        for epoch in range(self._plan.epochs):
            self._sums, self._n_done = dict.fromkeys(self._sums, 0.0), 0
            for state in self._states.values():
                state.use_rate(self._plan.rate(epoch), self._adam)
            for share in self._rounds(epoch):
                yield epoch, share

    def _rounds(self, epoch: int) -> Iterator[float]:
        """Go through an epoch, a round after the other; yield the share that is done."""
        for part in self._drawer.rounds(self._plan.first_epoch + epoch):
            for state in self._states.values():
                state.rows.turn_to(part.ranges)
            for low in range(0, len(part.order), self._positions_per_run):
                draws = part.draw(part.order[low : low + self._positions_per_run])
                with self._threads.run(float((draws.ends - draws.starts).sum())) as n_threads:
                    for name, state in self._states.items():
                        self._sums[name] += state.run(draws, self._adam, n_threads)
                self._n_done += len(draws.nodes)
                self._check(epoch)
                share = part.share(low + len(draws.nodes))
                if share < 1:
                    yield share
        for name, loss in self.losses().items():
            self.history[name].append(loss)
        yield 1.0

    def finished(self) -> tuple[dict[str, Vectors], dict[str, Vectors]]:
        """Return the vectors of labels and of relations after the last step."""
        vectors, relations = {}, {}
        for name, state in self._states.items():
            learned = state.finished(self._adam)
            if not all_finite(learned):
                epoch = max(0, len(self.history[name]) - 1)
                raise TrainingError(self._message("The vectors", name, epoch, "are not finite"))
            vectors[name] = learned[: state.rows.n_labels]
            if self._instance.n_relations:
                relations[name] = learned[state.rows.n_labels :]
        return vectors, relations

    def _check(self, epoch: int) -> None:
        for name, loss in self.losses().items():
            if not np.isfinite(loss):
                raise TrainingError(self._message("The loss", name, epoch, f"is {loss}"))
            if loss > _EXPLODED * self._usual[name]:
                what = f"has grown to {loss:.3g}"
                raise TrainingError(self._message("The loss", name, epoch, what))

    def _message(self, subject: str, name: str, epoch: int, what: str) -> str:
        return (
            f"{subject} of label type {name!r} {what} in epoch {epoch + 1} of {self._plan.epochs}, "
            f"with learning_rate={self._plan.learning_rate:g} and "
            f"margin={self._instance.label_types[name].margin:g}. "
            f"Lower learning_rate (the default is 0.001), or look for extreme weights."
        )


def _compile(states: Mapping[str, FusedState], drawer: Drawer, tables: AdamTables) -> None:
    """Compile the kernels before the clock and the progress bar start; tell when it takes long."""
    # A function that is not compiled at all (NUMBA_DISABLE_JIT) has no signatures.
    if not getattr(epb_batches, "signatures", True) and not _is_cached():
        logger.warning("Compiling the kernels: once, a minute or so; later runs start at once.")
    nothing = drawer.draw(0, drawer.visits[:0])
    for state in states.values():
        state.run(nothing, tables, 1)


def _largest_distance(vectors: Vectors, relations: Vectors | None) -> float:
    """Return a bound of the distance between a reconstruction and an embedding."""
    longest_relation = 0.0 if relations is None else _longest(relations)
    return 2.0 * _longest(vectors) + longest_relation


def _longest(vectors: Vectors) -> float:
    squares = (np.einsum("ij,ij->i", some, some).max(initial=0.0) for some in chunks(vectors))
    return float(np.sqrt(max(squares, default=0.0)))


def _is_cached() -> bool:
    """Return whether Numba has compiled kernels on disk; only a message hangs on it."""
    try:
        folder = Path(epb_batches.stats.cache_path or "")
        return any(folder.glob("epb.epb_batches-*.nbi"))
    except (AttributeError, OSError, TypeError):
        return False

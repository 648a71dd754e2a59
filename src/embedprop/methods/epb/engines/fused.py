"""EP-B by fused Numba kernels: the default engine, without torch."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from embedprop.graph.arrays import Vectors
from embedprop.kernels.epb.batch import Draws
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.engines.fused_state import FusedState
from embedprop.methods.epb.engines.threads import Crew, ThreadChoice
from embedprop.methods.epb.epochs import TrainingResult
from embedprop.methods.epb.neighborhoods import Ranges
from embedprop.methods.epb.tables.storage import Array, chunks
from embedprop.methods.epb.task import Task

logger = logging.getLogger(__name__)

# Multiplications of one step, between two looks at the keyboard: about a tenth of a second.
_WORK_PER_STEP = 2**27
# A mean loss this many times what the start vectors can give means that learning runs away.
_EXPLODED = 100.0


@contextmanager
def fused_learner(task: Task) -> Iterator[FusedLearner]:
    """Lay out the arrays of every label type; threads live as long as the context is open."""
    instance, plan, start = task.instance, task.plan, task.start
    drawer = Drawer(task.learnable.graph, instance, plan, task.dtype)
    threads = ThreadChoice(plan.n_threads)
    states, highest = {}, {}
    with Crew() as crew:
        for name, settings in instance.label_types.items():
            states[name] = FusedState(task, name, drawer, crew, threads.most)
            vectors, relations = start.labels[name], start.relations.get(name)
            # Of a reconstruction and an embedding, at most.
            distance = 2 * _longest(vectors) + (0 if relations is None else _longest(relations))
            usual = (settings.margin or 0.0) + distance ** (1 + settings.is_squared)
            highest[name] = _EXPLODED * instance.n_negatives * usual
        _compile(states, drawer)
        work = sum(state.work_per_visit for state in states.values())
        n_batches = max(1, int(_WORK_PER_STEP / work / plan.batch_size))
        yield FusedLearner(drawer, highest, states, threads, n_batches * plan.batch_size)


@dataclass
class FusedLearner:
    """One run: the vectors of every label type, moved by the kernels."""

    drawer: Drawer
    highest_losses: Mapping[str, float]
    states: Mapping[str, FusedState]
    threads: ThreadChoice
    visits_per_step: int

    def begin_epoch(self, rate: float) -> None:
        """Go on with this learning rate."""
        for state in self.states.values():
            state.use_rate(rate)

    def turn_to(self, ranges: Ranges) -> None:
        """Bring the rows of these nodes into memory."""
        for state in self.states.values():
            state.rows.turn_to(ranges)

    def step(self, draws: Draws) -> dict[str, float]:
        """Move the vectors, batch by batch; return the summed losses."""
        with self.threads.run(float((draws.ends - draws.starts).sum())) as n_threads:
            return {name: state.run(draws, n_threads) for name, state in self.states.items()}

    def finished(self) -> TrainingResult:
        """Return the vectors of labels and of relations after the last step."""
        vectors, relations = {}, {}
        for name, state in self.states.items():
            learned = state.finished()
            vectors[name] = learned[: state.rows.n_labels]
            if state.rows.n_relations:
                relations[name] = learned[state.rows.n_labels :]
        return TrainingResult(vectors, relation_vectors=relations)

    def state(self) -> dict[str, Array]:
        """Return the tables of every label type, and how far each has come."""
        return {
            f"{part} of {name}": array
            for name, state in self.states.items()
            for part, array in state.state().items()
        }

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from the state of another run, of any number of threads."""
        for name, one in self.states.items():
            one.restore({part: state[f"{part} of {name}"] for part in FusedState.PARTS})


def _compile(states: Mapping[str, FusedState], drawer: Drawer) -> None:
    """Compile the kernels before the clock and the progress bar start; tell when it takes long."""
    if not all(_is_ready(state.kernel) for state in states.values()):
        logger.warning(
            "Compiling the kernels takes about a minute, once; later runs start at once."
        )
    # A run without a visit has all the types of one with many.
    nothing = drawer.draw(0, drawer.visits[:0])
    for state in states.values():
        state.run(nothing, 1)


def _longest(vectors: Vectors) -> float:
    squares = (np.einsum("ij,ij->i", some, some).max(initial=0.0) for some in chunks(vectors))
    return float(np.sqrt(max(squares, default=0.0)))


def _is_ready(kernel: Any) -> bool:
    """Return whether a kernel is compiled, or on disk; only a message hangs on it."""
    # A function that is not compiled at all (NUMBA_DISABLE_JIT) has no signatures.
    if getattr(kernel, "signatures", True):
        return True
    try:
        folder = Path(kernel.stats.cache_path or "")
        return any(folder.glob(f"*.{kernel.__name__}-*.nbi"))
    except (AttributeError, OSError, TypeError):
        return False

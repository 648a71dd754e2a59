"""The arrays of one label type as the EP-B kernels want them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from embedprop.graph.multisets import Multisets
from embedprop.instance.epb import TypeInstance
from embedprop.kernels.epb.adam import Table, adam_tables
from embedprop.kernels.epb.batch import Draws, Labels, Problem
from embedprop.kernels.epb.ids import epb_ids
from embedprop.kernels.epb.pipeline import Share
from embedprop.kernels.epb.relations import with_relations
from embedprop.kernels.epb.rows import catch_up_rows
from embedprop.kernels.epb.shared_labels import epb_shared_labels
from embedprop.methods.epb.draws import Drawer, read_only
from embedprop.methods.epb.engines.threads import Crew
from embedprop.methods.epb.engines.workspace import BatchSizes, node_space, workspace
from embedprop.methods.epb.plan import TrainingPlan
from embedprop.methods.epb.tables.columns import Array, apart
from embedprop.methods.epb.tables.resident import ResidentTable


class FusedState:
    """Label vectors, their Adam state and working memory for one label type.

    Relations are further labels, after the others, each of a node of its own.
    """

    PARTS = (*Table._fields, "steps", "rate")

    def __init__(
        self,
        rows: ResidentTable,
        sets: Multisets,
        settings: TypeInstance,
        plan: TrainingPlan,
        drawer: Drawer,
        crew: Crew,
    ) -> None:
        self.steps, self.rows, self._crew = 0, rows, crew
        self._rate, self._margin = plan.learning_rate, settings.margin
        self._squared, self._n_nodes = settings.is_squared, sets.n_sets
        self._reads_per_edge = 2 if rows.n_relations else 1
        n_parts, _, width = shape = rows.table.vectors.shape
        self._dtype = rows.table.vectors.dtype
        self._adam = adam_tables(self._dtype)
        self._batch_size = min(plan.batch_size, len(drawer.visits))
        # Each relation stands for a further node.
        n_nodes = self._n_nodes + rows.n_relations
        sizes = BatchSizes.of(drawer, self._batch_size, n_nodes, self._reads_per_edge, self._dtype)
        self._arrived, self._loss = apart(1, 1, np.int64)[0], apart(1, 1, np.float64)[0]
        self._places = apart(n_parts, 2, np.int64)
        self.kernel: Any
        self.memory: tuple[Any, ...]
        labels_per_node = 0.0  # to be summed
        if is_identity(sets):
            self.kernel, self.memory = epb_ids, (workspace(sizes, shape, None),)
        else:
            sets, self.kernel = _with_relations(sets, rows), epb_shared_labels
            space = node_space(sizes, n_parts, width, n_nodes)
            self.memory = workspace(sizes, shape, sets), _labels(sets, self._dtype), space
            labels_per_node = sets.n_values / max(1, sets.n_sets)
        n_rows = float(drawer.sizes.mean()) * self._reads_per_edge + 3 + drawer.n_negatives
        # Multiplications, about.
        self.work_per_visit = rows.dim * n_rows * (1 + labels_per_node)

    def run(self, draws: Draws, n_threads: int) -> float:
        """Move the vectors by the batches of `draws`; return the summed loss."""
        n_parts = len(self.rows.table.vectors)
        n_threads = min(n_threads, n_parts)
        for counted in (self._arrived, self._places, self._loss):
            counted[:] = 0
        # Relations become neighbors here, once per run, so that kernels know lists of rows alone.
        problem = self._problem(draws)

        def go_on(thread: int) -> bool:
            low, high = (i * n_parts // n_threads for i in (thread, thread + 1))
            place = self._places[thread]
            share = Share(low, high, n_threads, self._arrived, place, self._loss)
            done: bool = self.kernel(share, problem, *self.memory)
            return done

        # Adam counts batches, whoever makes them.
        self._crew.run(go_on, n_threads)
        self.steps += -(-len(draws.nodes) // self._batch_size)
        return float(self._loss[0])

    def _problem(self, draws: Draws) -> Problem:
        if self.rows.n_relations:
            ids, weights, starts, ends = with_relations(draws, self._n_nodes)
            draws = draws._replace(
                starts=starts,
                ends=ends,
                neighbor_ids=read_only(ids, np.int32),
                neighbor_weights=read_only(weights, self._dtype),
            )
        return Problem(
            self.rows.table,
            draws,
            self._adam,
            self._batch_size,
            self._reads_per_edge,
            self._dtype.type(self._margin),
            self._squared,
            self._rate,
            self.steps,
        )

    def use_rate(self, rate: float) -> None:
        """Go on with another learning rate; moves that rows have missed so far keep the old one."""
        # A missed move is one scalar times a rate: the old one has to be used up first.
        if rate != self._rate:
            self._catch_up()
            self._rate = rate

    def finished(self) -> NDArray[np.floating]:
        """Move every row to where dense Adam would have it by now; return labels and relations."""
        self._catch_up()
        return self.rows.vectors()

    def state(self) -> dict[str, Array]:
        """Return the table and how far it has come."""
        return self.rows.state() | {"steps": np.array(self.steps), "rate": np.array(self._rate)}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from the state of another run."""
        self.rows.restore(state)
        self.steps, self._rate = int(state["steps"]), float(state["rate"])

    def _catch_up(self) -> None:
        table = self.rows.table
        for rows in self.rows.pieces():

            def go_on(part: int, rows: NDArray[np.int32] = rows) -> bool:
                catch_up_rows(table, part, rows, self.steps, self._rate, self._adam)
                return True

            self._crew.run(go_on, len(table.vectors))


def _with_relations(sets: Multisets, rows: ResidentTable) -> Multisets:
    """Return `sets` and a further one for each relation, whose only label is its vector's row."""
    if not rows.n_relations:
        return sets
    numbers = np.arange(rows.n_relations, dtype=np.int32)
    ptr = np.concatenate([sets.ptr, sets.n_values + 1 + numbers])
    ids = np.concatenate([sets.ids, rows.n_labels + numbers])
    ones = np.ones(rows.n_relations, np.float32)
    weights = None if sets.weights is None else np.concatenate([sets.weights, ones])
    return Multisets(ptr, ids.astype(np.int32), weights)


def _labels(sets: Multisets, dtype: DTypeLike) -> Labels:
    weights = np.ones(sets.n_values) if sets.weights is None else sets.weights.astype(np.float64)
    totals = np.add.reduceat(weights, sets.ptr[:-1])
    weights /= np.repeat(totals, sets.sizes)
    ptr, ids = sets.ptr.copy(), sets.ids.copy()
    return Labels(ptr, ids, weights.astype(dtype), totals.astype(dtype))


def is_identity(sets: Multisets) -> bool:
    """Return whether every set i holds just i, with weight 1: each node is its own label."""
    return (
        sets.weights is None
        and sets.n_values == sets.n_sets
        and bool((sets.ids == np.arange(sets.n_sets)).all())
        and bool((sets.sizes == 1).all())
    )

"""The arrays of one label type as the EP-B kernels want them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import DTypeLike, NDArray

from embedprop.graph.multisets import Multisets
from embedprop.instance.description import LabelTypeInstance
from embedprop.kernels.epb.adam import Table, adam_tables
from embedprop.kernels.epb.batch import SIDES, Draws, Labels, Lists, Reads, Scratch, Senders
from embedprop.kernels.epb.batches import Buffers, Settings, Share, epb_batches
from embedprop.kernels.epb.rows import catch_up_rows
from embedprop.kernels.machine.arrays import BLOCK
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.engines.threads import Crew
from embedprop.methods.epb.plan import TrainingPlan
from embedprop.methods.epb.tables.columns import BETWEEN, Array, aligned_zeros, apart
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
        settings: LabelTypeInstance,
        plan: TrainingPlan,
        drawer: Drawer,
        crew: Crew,
    ) -> None:
        self.steps, self.rows, self._crew = 0, rows, crew
        self._rate, self._margin, self._n_nodes = plan.learning_rate, settings.margin, sets.n_sets
        self._squared = settings.is_squared
        self._batch_size = min(plan.batch_size, len(drawer.visits))
        self._n_negatives, self._dtype = drawer.n_negatives, rows.table.vectors.dtype
        self._reads_per_edge = 2 if rows.n_relations else 1
        if rows.n_relations:
            sets = _with_relations(sets, rows.n_labels, rows.n_relations)
        self._labels = _labels(sets, self._dtype)
        self._adam = adam_tables(self._dtype)
        self._mean_size = float(drawer.sizes.mean())
        self._allocate(sets, drawer)

    def _allocate(self, sets: Multisets, drawer: Drawer) -> None:
        """Make the working memory: enough for the largest possible batch."""
        n_parts, n_rows_in_all, width = self.rows.table.vectors.shape
        batch_size, dtype, n_negatives = self._batch_size, self._dtype, self._n_negatives
        single = self._labels.ptr.size == 0
        weighted = drawer.weighted or not single
        n_others = len(drawer.sizes) - batch_size
        n_reads = int(np.partition(drawer.sizes, n_others)[n_others:].sum()) * self._reads_per_edge
        n_entries = n_reads + batch_size * (1 + n_negatives)
        n_rows = min(sets.n_sets, n_entries)
        n_words = 0 if single else min(sets.n_values, n_rows * int(sets.sizes.max()))
        n_slots = 0 if single else n_rows_in_all
        n_listed = min(n_words, n_slots)
        # Where reads are direct (see `is_direct`), receivers are nodes, and nothing else is listed.
        direct = single and self._reads_per_edge == 1
        n_heard, n_offsets, n_own = (0, 0, 0) if direct else (n_reads, batch_size + 1, batch_size)
        n_possible = sets.n_sets if single else n_rows
        self._lists = Lists(
            Reads(
                apart(SIDES, n_offsets, np.int64),
                apart(SIDES, n_heard, np.int32),
                apart(SIDES, n_heard if weighted else 0, dtype),
                apart(SIDES, n_heard if self._reads_per_edge > 1 else 0, np.int32),
            ),
            apart(SIDES, n_rows + 1, np.int32),
            apart(SIDES, n_listed + 1, np.int32),
            apart(SIDES, n_own, np.int32),
            aligned_zeros((SIDES, n_own + BETWEEN, n_negatives), np.int32),
            apart(SIDES, 0 if single else n_rows, np.int64),
            apart(SIDES, 0 if single else n_rows, np.int64),
            apart(SIDES, 2, np.int64),
        )
        self._scratch = Scratch(
            apart(n_parts, sets.n_sets, np.int32),
            apart(n_parts, n_slots, np.int32),
            apart(n_parts, n_rows + 1, np.int32),
            apart(n_parts, n_listed + 1, np.int32),
            _senders(n_parts, n_rows, n_possible, n_entries, weighted, dtype),
            _senders(n_parts, n_listed, n_slots, n_words, not single, dtype),
        )
        for slot in self._scratch[:2]:
            slot[:] = -1
        self._arrived, self._loss = apart(1, 1, np.int64)[0], apart(1, 1, np.float64)[0]
        self._places = apart(n_parts, 2, np.int64)
        n_buffered = 0 if single else n_rows
        self._buffers = Buffers(
            aligned_zeros((n_parts, (2 + n_negatives) * batch_size, width), dtype),
            aligned_zeros((n_parts, width), dtype),
            aligned_zeros((n_parts, n_buffered, width), dtype),
            aligned_zeros((n_parts, n_buffered, width), dtype),
            aligned_zeros((2, n_parts * width // BLOCK, batch_size, 1 + n_negatives), dtype),
            np.zeros((n_parts, batch_size + BETWEEN, 1 + n_negatives), dtype),
            np.zeros((n_parts, batch_size + BETWEEN, n_negatives), dtype),
            apart(n_parts, batch_size, dtype),
        )

    def work_per_visit(self) -> float:
        """Estimate the multiplications for one visit."""
        labels_per_node = self._labels.ids.size / max(1, self._labels.totals.size)
        n_rows = self._mean_size * self._reads_per_edge + 3 + self._n_negatives
        return self.rows.dim * n_rows * (1 + labels_per_node)

    def run(self, draws: Draws, n_threads: int) -> float:
        """Move the vectors by the batches of `draws`; return the summed loss."""
        n_parts = len(self.rows.table.vectors)
        n_threads = min(n_threads, n_parts)
        for counted in (self._arrived, self._places, self._loss):
            counted[:] = 0
        shares = [
            Share(
                i * n_parts // n_threads,
                (i + 1) * n_parts // n_threads,
                n_threads,
                self._arrived,
                self._places[i],
                self._loss,
            )
            for i in range(n_threads)
        ]
        settings = Settings(
            self._batch_size,
            self._dtype.type(self._margin),
            self._squared,
            self._rate,
            self._n_nodes,
        )

        def go_on(thread: int) -> bool:
            done: bool = epb_batches(
                shares[thread],
                self.rows.table,
                self._labels,
                draws,
                settings,
                self.steps,
                self._adam,
                self._buffers,
                self._lists,
                self._scratch,
            )
            return done

        self._crew.run(go_on, n_threads)
        self.steps += -(-len(draws.nodes) // self._batch_size)
        return float(self._loss[0])

    def use_rate(self, rate: float) -> None:
        """Go on with another learning rate; moves that rows have missed so far keep the old one."""
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


def _with_relations(sets: Multisets, n_labels: int, n_relations: int) -> Multisets:
    """Return `sets` and a further one for each relation, whose only label is its vector's row."""
    ptr = np.concatenate([sets.ptr, sets.n_values + 1 + np.arange(n_relations)])
    ids = np.concatenate([sets.ids, n_labels + np.arange(n_relations, dtype=np.int32)])
    ones = np.ones(n_relations, np.float32)
    weights = None if sets.weights is None else np.concatenate([sets.weights, ones])
    return Multisets(ptr, ids.astype(np.int32), weights)


def _labels(sets: Multisets, dtype: DTypeLike) -> Labels:
    empty = np.empty(0, dtype)
    if is_identity(sets):
        return Labels(np.empty(0, np.int64), np.empty(0, np.int32), empty, empty)
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


def _senders(
    n_parts: int, n_rows: int, n_possible: int, n_entries: int, weighted: bool, dtype: DTypeLike
) -> Senders:
    return Senders(
        apart(n_parts, n_rows + 1, np.int64),
        apart(n_parts, n_possible, np.int32 if n_entries < 2**31 else np.int64),
        apart(n_parts, n_entries, np.int32),
        apart(n_parts, n_entries if weighted else 0, dtype),
    )

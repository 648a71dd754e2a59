"""The arrays of one label type as the EP-B kernels want them, and the memory they work in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from embedprop.graph.multisets import Multisets
from embedprop.kernels.epb.adam import Table, adam_tables, catch_up_rows
from embedprop.kernels.epb.batch import (
    SIDES,
    TO_NEGATIVES,
    Draws,
    Labels,
    NodeSpace,
    Problem,
    Senders,
    Workspace,
)
from embedprop.kernels.epb.epoch import Share, epb_ids, epb_shared_labels
from embedprop.kernels.epb.reads import with_relations
from embedprop.kernels.machine.arrays import BLOCK
from embedprop.methods.epb.draws import Drawer, read_only
from embedprop.methods.epb.engines.threads import Crew
from embedprop.methods.epb.tables.resident import ResidentTable
from embedprop.methods.epb.tables.storage import BETWEEN, Array, aligned_zeros, apart
from embedprop.methods.epb.task import Task


class FusedState:
    """Label vectors, their Adam state and working memory for one label type.

    Relations are further labels, after the others, each of a node of its own.
    """

    PARTS = (*Table._fields, "steps", "rate")

    def __init__(self, task: Task, name: str, drawer: Drawer, crew: Crew, n_threads: int) -> None:
        plan, settings = task.plan, task.instance.label_types[name]
        sets = task.learnable.labels(name).sets
        # Only the rows of ids belong to nodes, and so to partitions.
        partitioned = plan.n_partitions > 2 and is_identity(sets)
        rows = ResidentTable(task, name, partitioned, n_threads)
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


@dataclass(frozen=True)
class BatchSizes:
    """How large a batch can be.

    reads: edges, counted twice where they have relations; messages: those plus one to v and to
    each negative; nodes: distinct ones. weighted: whether edges have weights.
    """

    positions: int
    negatives: int
    reads: int
    nodes: int
    weighted: bool
    dtype: np.dtype[Any]

    @classmethod
    def of(
        cls, drawer: Drawer, batch_size: int, n_nodes: int, reads_per_edge: int, dtype: DTypeLike
    ) -> BatchSizes:
        """Return the sizes for batches of a drawer's visits; n_nodes counts relations, too."""
        # The largest batch that order can make: of the visits with most edges.
        n_others = len(drawer.sizes) - batch_size
        n_reads = int(np.partition(drawer.sizes, n_others)[n_others:].sum()) * reads_per_edge
        n_distinct = min(n_nodes, n_reads + batch_size * (1 + drawer.n_negatives))
        weighted, n_negatives = drawer.weighted, drawer.n_negatives
        return cls(batch_size, n_negatives, n_reads, n_distinct, weighted, np.dtype(dtype))

    @property
    def messages(self) -> int:
        """How many messages are received, at most."""
        return self.reads + self.positions * (1 + self.negatives)


def workspace(sizes: BatchSizes, shape: tuple[int, int, int], sets: Multisets | None) -> Workspace:
    """Return the memory for a table of (parts, rows, width).

    sets: the labels of each node; None where each is its own.
    """
    n_parts, n_table_rows, width = shape
    size, dtype, n_compared = sizes.positions, sizes.dtype, 1 + sizes.negatives
    n_rows, n_entries, weighted = sizes.nodes, sizes.messages, sizes.weighted
    if sets is not None:  # who sends to labels are nodes
        n_entries, weighted = min(sets.n_values, sizes.nodes * int(sets.sizes.max())), True
        n_rows = min(n_entries, n_table_rows)
    return Workspace(
        rows=apart(SIDES, n_rows + 1, np.int32),
        n_rows=apart(SIDES, 1, np.int64),
        slot=_slots(n_parts, n_table_rows),
        messages=aligned_zeros((n_parts, (TO_NEGATIVES + sizes.negatives) * size, width), dtype),
        squares=aligned_zeros((2, n_parts * width // BLOCK, size, n_compared), dtype),
        distances=np.zeros((n_parts, size + BETWEEN, n_compared), dtype),
        hinges=np.zeros((n_parts, size + BETWEEN, sizes.negatives), dtype),
        scales=apart(n_parts, size, dtype),
        gradient=aligned_zeros((n_parts, width), dtype),
        to_rows=_senders(n_parts, n_rows, n_table_rows, n_entries, weighted, dtype),
    )


def node_space(sizes: BatchSizes, n_parts: int, width: int, n_nodes: int) -> NodeSpace:
    """Return the further memory for labels that nodes share; n_nodes counts relations, too."""
    size, dtype = sizes.positions, sizes.dtype
    return NodeSpace(
        nodes=apart(SIDES, sizes.nodes + 1, np.int32),
        n_nodes=apart(SIDES, 1, np.int64),
        starts=apart(SIDES, sizes.nodes, np.int64),
        ends=apart(SIDES, sizes.nodes, np.int64),
        own=apart(SIDES, size, np.int32),
        negatives=aligned_zeros((SIDES, size + BETWEEN, sizes.negatives), np.int32),
        heard=apart(SIDES, sizes.reads, np.int32),
        weights=apart(SIDES, sizes.reads, dtype),
        offsets=apart(SIDES, size + 1, np.int64),
        slot=_slots(n_parts, n_nodes),
        to_nodes=_senders(n_parts, sizes.nodes, sizes.nodes, sizes.messages, True, dtype),
        embeddings=aligned_zeros((n_parts, sizes.nodes, width), dtype),
        gradients=aligned_zeros((n_parts, sizes.nodes, width), dtype),
    )


def _slots(n_parts: int, n_rows: int) -> np.ndarray:
    slots = apart(n_parts, n_rows, np.int32)
    slots[:] = -1
    return slots


def _senders(
    n_parts: int, n_receivers: int, n_possible: int, n_entries: int, weighted: bool, dtype: Any
) -> Senders:
    """Return room for n_entries to at most n_receivers of n_possible ones."""
    return Senders(
        receivers=apart(n_parts, n_receivers + 1, np.int32),
        offsets=apart(n_parts, n_receivers + 1, np.int64),
        # These count messages: 32 bits wherever they are enough.
        ends=apart(n_parts, n_possible, np.int32 if n_entries < 2**31 else np.int64),
        entries=apart(n_parts, n_entries, np.int32),
        weights=apart(n_parts, n_entries if weighted else 0, dtype),
    )

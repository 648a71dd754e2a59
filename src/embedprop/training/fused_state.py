"""The arrays of one label type as the EP-B kernels want them."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from embedprop.graph.multisets import Multisets
from embedprop.instance import LabelTypeInstance
from embedprop.kernels.adam import AdamTables, Table
from embedprop.kernels.batch import Draws, Labels, Reads, Scratch
from embedprop.kernels.epb import Buffers, Settings, catch_up_rows, epb_batches
from embedprop.training.plan import TrainingPlan


class FusedState:
    """Label vectors, their Adam state and working memory for one label type."""

    def __init__(
        self,
        vectors: NDArray[np.floating],
        sets: Multisets,
        settings: LabelTypeInstance,
        plan: TrainingPlan,
        sizes: NDArray[np.int64],
        weighted_edges: bool,
        n_negatives: int,
        n_threads: int,
    ) -> None:
        self.steps = 0
        self._plan, self._margin = plan, settings.margin
        dtype, dim = vectors.dtype, vectors.shape[1]
        self._dtype = dtype
        self._table = _table(vectors)
        self._labels = _labels(sets, dtype)
        single = self._labels.ptr.size == 0
        weighted = weighted_edges or not single
        n_nodes, batch_size = sets.n_sets, min(plan.batch_size, len(sizes))
        self._batch_size = batch_size
        largest = np.partition(sizes, len(sizes) - batch_size)[len(sizes) - batch_size :]
        n_reads = int(largest.sum())
        n_entries = n_reads + batch_size * (1 + n_negatives)
        n_rows = min(n_nodes, n_entries)
        self._reads = Reads(
            np.zeros(batch_size + 1, np.int64),
            np.zeros(n_reads, np.int32),
            np.zeros(n_reads if weighted else 0, dtype),
        )
        self._nodes = _scratch(n_nodes, n_rows, n_entries, weighted, dtype)
        n_words = 0 if single else min(sets.n_values, n_rows * int(sets.sizes.max()))
        self._words = _scratch(
            0 if single else len(vectors), min(n_words, len(vectors)), n_words, not single, dtype
        )
        n_buffered = 0 if single else n_rows
        self._buffers = Buffers(
            np.zeros(((2 + n_negatives) * batch_size, dim), dtype),
            np.zeros((n_threads, dim), dtype),
            np.zeros((n_buffered, dim), dtype),
            np.zeros((n_buffered, dim), dtype),
        )

    def largest_distance(self) -> float:
        """Return a bound of the distance between two means of the vectors."""
        squares = np.einsum("ij,ij->i", self._table.vectors, self._table.vectors)
        return 2.0 * float(np.sqrt(squares.max()))

    def work_per_node(self, mean_degree: float) -> float:
        """Estimate the multiplications for one visited node."""
        labels_per_node = self._labels.ids.size / max(1, self._labels.totals.size)
        dim: int = self._table.vectors.shape[1]
        return dim * (mean_degree + 4) * (1 + labels_per_node)

    def run(self, draws: Draws, tables: AdamTables, n_threads: int) -> float:
        """Move the vectors by the batches of `draws`; return the summed loss."""
        settings = Settings(
            self._batch_size,
            self._dtype.type(self._margin),
            self._plan.learning_rate,
            n_threads,
        )
        loss: float = epb_batches(
            self._table,
            self._labels,
            draws,
            settings,
            self.steps,
            tables,
            self._buffers,
            self._reads,
            self._nodes,
            self._words,
        )
        self.steps += -(-len(draws.nodes) // self._batch_size)
        return loss

    def finished(self, tables: AdamTables, n_threads: int) -> NDArray[np.floating]:
        """Move every row to where dense Adam would have it by now, and return the vectors."""
        vectors = self._table.vectors
        rows = np.arange(len(vectors), dtype=np.int32)
        rate = self._plan.learning_rate
        catch_up_rows(self._table, rows, len(rows), self.steps, rate, tables, n_threads)
        return vectors


def _table(vectors: NDArray[np.floating]) -> Table:
    steps = np.zeros((2, len(vectors)), np.int32)
    return Table(vectors, np.zeros_like(vectors), np.zeros_like(vectors), steps[0], steps[1])


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


def _scratch(
    n_slots: int, n_rows: int, n_entries: int, weighted: bool, dtype: DTypeLike
) -> Scratch:
    return Scratch(
        np.full(n_slots, -1, np.int32),
        np.zeros(n_rows, np.int32),
        np.zeros(n_rows, np.int64),
        np.zeros(n_rows, np.int64),
        np.zeros(n_entries, np.int32),
        np.zeros(n_entries if weighted else 0, dtype),
    )

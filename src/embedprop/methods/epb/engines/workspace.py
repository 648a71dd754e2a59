"""The memory in which the EP-B kernels work: enough for the largest possible batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from embedprop.graph.multisets import Multisets
from embedprop.kernels.epb.batch import SIDES, TO_NEGATIVES, NodeSpace, Senders, Workspace
from embedprop.kernels.machine.arrays import BLOCK
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.tables.columns import BETWEEN, aligned_zeros, apart


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

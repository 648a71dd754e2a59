"""Which rows one mini-batch reads, and who sends gradients to whom: integers only."""

from typing import NamedTuple

import numpy as np
from numba import njit


class Draws(NamedTuple):
    """What chance has decided for a run of positions: the same for every engine.

    Position i visits nodes[i], whose neighbors are neighbor_ids[starts[i]:ends[i]], with weights
    (an empty array: all 1), and compares it with negatives[i].
    """

    nodes: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    neighbor_ids: np.ndarray
    neighbor_weights: np.ndarray
    negatives: np.ndarray


class Reads(NamedTuple):
    """The slots of the neighbors of each position: local[offsets[b]:offsets[b + 1]].

    weights (an empty array: all 1) are w(x, v) T(x): edge weight times the label weight of x.
    """

    offsets: np.ndarray
    local: np.ndarray
    weights: np.ndarray


class Scratch(NamedTuple):
    """Working memory of one level (nodes, or labels): an index over the rows of a batch.

    slot[x] is the place of row x in `rows`, or -1. starts, ends, entries and weights are lists per
    slot: who sends a gradient there (no weights: all 1).
    """

    slot: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    entries: np.ndarray
    weights: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def _weight(weights, index):
    return weights[index] if weights.shape[0] > 0 else weights.dtype.type(1)


@njit(cache=True, nogil=True, error_model="numpy")
def _place(row, slot, rows, n_rows):
    if slot[row] < 0:
        slot[row] = n_rows
        rows[n_rows] = row
        return n_rows + 1
    return n_rows


@njit(cache=True, nogil=True, error_model="numpy")
def list_nodes(draws, low, high, totals, reads, scratch):
    """List the distinct nodes that positions low..high read: neighbors, v itself, negatives."""
    slot, rows = scratch.slot, scratch.rows
    n_rows, n_local = 0, 0
    for i in range(low, high):
        reads.offsets[i - low] = n_local
        for e in range(draws.starts[i], draws.ends[i]):
            node = draws.neighbor_ids[e]
            n_rows = _place(node, slot, rows, n_rows)
            reads.local[n_local] = slot[node]
            if reads.weights.shape[0] > 0:
                reads.weights[n_local] = _weight(draws.neighbor_weights, e) * _weight(totals, node)
            n_local += 1
        n_rows = _place(draws.nodes[i], slot, rows, n_rows)
        for j in range(draws.negatives.shape[1]):
            n_rows = _place(draws.negatives[i, j], slot, rows, n_rows)
    reads.offsets[high - low] = n_local
    return n_rows


@njit(cache=True, nogil=True, error_model="numpy")
def list_labels(labels, nodes, n_nodes, starts, ends, scratch):
    """List the distinct labels of nodes[:n_nodes], and where each node's labels stand."""
    n_rows = 0
    for i in range(n_nodes):
        starts[i], ends[i] = labels.ptr[nodes[i]], labels.ptr[nodes[i] + 1]
        for e in range(starts[i], ends[i]):
            n_rows = _place(labels.ids[e], scratch.slot, scratch.rows, n_rows)
    return n_rows


@njit(cache=True, nogil=True, error_model="numpy")
def clear(scratch, n_rows):
    """Forget the rows of a batch."""
    for i in range(n_rows):
        scratch.slot[scratch.rows[i]] = -1


@njit(cache=True, nogil=True, error_model="numpy")
def _start_lists(scratch, n_rows):
    """Turn the counts in `ends` into the starts of empty lists."""
    total = 0
    for i in range(n_rows):
        scratch.starts[i] = total
        total += scratch.ends[i]
        scratch.ends[i] = scratch.starts[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _append(scratch, slot, entry, weight):
    end = scratch.ends[slot]
    scratch.entries[end] = entry
    if scratch.weights.shape[0] > 0:
        scratch.weights[end] = weight
    scratch.ends[slot] = end + 1


@njit(cache=True, nogil=True, error_model="numpy")
def list_senders(draws, low, high, batch_size, active, reads, scratch, n_rows):
    """For each node of the batch, list the backward messages that it receives.

    Message b + kind * batch_size comes from position low + b: kind 0 goes to its neighbors, 1 to
    v itself, 2 + j to its negative j. A position whose margin is satisfied sends nothing.
    """
    slot, local, ends = scratch.slot, reads.local, scratch.ends
    n_negatives = draws.negatives.shape[1]
    one = scratch.weights.dtype.type(1)
    ends[:n_rows] = 0
    for i in range(low, high):
        b = i - low
        if active[b]:
            for e in range(reads.offsets[b], reads.offsets[b + 1]):
                ends[local[e]] += 1
            ends[slot[draws.nodes[i]]] += 1
            for j in range(n_negatives):
                ends[slot[draws.negatives[i, j]]] += 1
    _start_lists(scratch, n_rows)
    for i in range(low, high):
        b = i - low
        if active[b]:
            for e in range(reads.offsets[b], reads.offsets[b + 1]):
                _append(scratch, local[e], b, _weight(reads.weights, e))
            _append(scratch, slot[draws.nodes[i]], batch_size + b, one)
            for j in range(n_negatives):
                _append(scratch, slot[draws.negatives[i, j]], (2 + j) * batch_size + b, one)


@njit(cache=True, nogil=True, error_model="numpy")
def list_label_senders(labels, nodes, n_nodes, senders, scratch, n_rows):
    """For each label of the batch, list the nodes that have it and received a message."""
    scratch.ends[:n_rows] = 0
    for i in range(n_nodes):
        if senders.ends[i] > senders.starts[i]:
            for e in range(labels.ptr[nodes[i]], labels.ptr[nodes[i] + 1]):
                scratch.ends[scratch.slot[labels.ids[e]]] += 1
    _start_lists(scratch, n_rows)
    for i in range(n_nodes):
        if senders.ends[i] > senders.starts[i]:
            for e in range(labels.ptr[nodes[i]], labels.ptr[nodes[i] + 1]):
                _append(scratch, scratch.slot[labels.ids[e]], i, labels.weights[e])

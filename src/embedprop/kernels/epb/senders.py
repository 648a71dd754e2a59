"""Who sends gradients to whom in one mini-batch, and what they do to the rows of a table.

Each thread lists it for itself, once it knows which margins are violated: first how many messages
each receives, then which.
"""

from embedprop.kernels.epb.adam import AHEAD, AdamTables, Table, add_gradient
from embedprop.kernels.epb.batch import (
    TO_NEGATIVES,
    TO_NEIGHBORS,
    TO_OWN,
    Labels,
    Positions,
    Senders,
    address,
)
from embedprop.kernels.epb.segments import sum_rows, weight_at
from embedprop.kernels.machine.arrays import Float, Floats, Index, Ints
from embedprop.kernels.machine.compile import uncounted
from embedprop.kernels.machine.prefetch import prefetch_to_write


@uncounted()
def _count(senders: Senders, receiver: int, n_receivers: int) -> int:
    """Count a message; list who receives the first one. Without a branch, as `reads._place_all`."""
    count = senders.ends[Index(receiver)]
    senders.ends[Index(receiver)] = count + 1
    senders.receivers[Index(n_receivers)] = receiver
    return n_receivers + (1 if count == 0 else 0)


@uncounted()
def _start_lists(senders: Senders, n_receivers: int) -> None:
    """Turn the counts in `ends` into empty lists."""
    offsets, ends = senders.offsets, senders.ends
    total = 0
    for i in range(n_receivers):
        receiver = Index(senders.receivers[i])
        count = ends[receiver]
        offsets[i] = ends[receiver] = total
        total += count
    offsets[n_receivers] = total


@uncounted()
def _append(senders: Senders, receiver: int, entry: int, weight: Float) -> None:
    end = senders.ends[Index(receiver)]
    senders.entries[Index(end)] = entry
    if senders.weights.shape[0] > 0:
        senders.weights[Index(end)] = weight
    senders.ends[Index(receiver)] = end + 1


@uncounted()
def _forget_ends(senders: Senders, n_receivers: int) -> None:
    for i in range(n_receivers):
        senders.ends[Index(senders.receivers[i])] = 0


@uncounted()
def list_senders(
    positions: Positions, n_positions: int, batch_size: int, hinges: Floats, senders: Senders
) -> int:
    """List who receives messages of a batch, and which; return how many receive some.

    A negative receives one only if its margin is violated (its hinge is not 0). A position all of
    whose margins are kept sends nothing.
    """
    # The order of receivers is that of the first message; rows do not depend on each other.
    own, negatives, heard = positions.own, positions.negatives, positions.heard
    starts, ends, weights = positions.starts, positions.ends, positions.weights
    n = 0
    for b in range(n_positions):
        violated = False
        for j in range(hinges.shape[1]):
            if hinges[b, j] != 0:
                n = _count(senders, negatives[b, j], n)
                violated = True
        if violated:
            n = _count(senders, own[b], n)
            for e in range(starts[b], ends[b]):
                n = _count(senders, heard[e], n)
    _start_lists(senders, n)
    one = senders.weights.dtype.type(1)
    for b in range(n_positions):
        violated = False
        for j in range(hinges.shape[1]):
            if hinges[b, j] != 0:
                _append(senders, negatives[b, j], address(TO_NEGATIVES + j, b, batch_size), one)
                violated = True
        if violated:
            _append(senders, own[b], address(TO_OWN, b, batch_size), one)
            to_neighbors = address(TO_NEIGHBORS, b, batch_size)
            for e in range(starts[b], ends[b]):
                _append(senders, heard[e], to_neighbors, weight_at(weights, e))
    # What few have touched is cleaned one by one: all of it may be millions.
    _forget_ends(senders, n)
    return n


@uncounted()
def list_label_senders(
    labels: Labels, starts: Ints, ends: Ints, nodes: Ints, n_nodes: int, senders: Senders
) -> int:
    """List the labels of the first n_nodes of `nodes`, and for each who passes it a gradient."""
    n = 0
    for i in range(n_nodes):
        for e in range(starts[nodes[i]], ends[nodes[i]]):
            n = _count(senders, labels.ids[e], n)
    _start_lists(senders, n)
    for i in range(n_nodes):
        for e in range(starts[nodes[i]], ends[nodes[i]]):
            _append(senders, labels.ids[e], i, labels.weights[e])
    _forget_ends(senders, n)
    return n


@uncounted(forceinline=True)
def receive(
    part: Table,
    source: Floats,
    senders: Senders,
    n_rows: int,
    gradient: Floats,
    step: int,
    tables: AdamTables,
) -> None:
    """Add to the moments of each row the sum of the messages that it receives."""
    rows, offsets = senders.receivers, senders.offsets
    entries, weights = senders.entries, senders.weights
    weighted = weights.shape[0] > 0
    for i in range(n_rows):
        if i + AHEAD < n_rows:
            prefetch_to_write(part.direction, rows[i + AHEAD])
            prefetch_to_write(part.root, rows[i + AHEAD])
        row, message = Index(rows[i]), gradient
        start, end = offsets[i], offsets[i + 1]
        # Most rows of a batch hear one message only: it is read where it is.
        if end - start == 1 and not weighted:
            message = source[entries[start]]
        else:
            sum_rows(gradient, source, entries, weights, start, end, False)
        last = part.gradient_step[row]
        add_gradient(part.direction[row], part.root[row], message, last, step, tables)
        part.gradient_step[row] = step

"""What each position of a mini-batch computes: h~, its distances, and the messages backward.

`h` holds the embeddings that positions refer to: rows of the table where each node is its own
label, else means over labels. All is for one part of the columns.

Who sends gradients to whom, each thread lists for itself once it knows which margins are violated:
first how many messages each receives, then which.
"""

import numpy as np

from embedprop.kernels.epb.adam import AHEAD, AdamTables, Table, add_gradient
from embedprop.kernels.epb.batch import (
    TO_NEGATIVES,
    TO_NEIGHBORS,
    TO_OWN,
    Labels,
    Positions,
    Problem,
    Senders,
    Workspace,
    address,
    bounds_of,
)
from embedprop.kernels.epb.segments import squared_distance, sum_rows, weight_at
from embedprop.kernels.machine.arrays import BLOCK, Float, Floats, Index, Ints
from embedprop.kernels.machine.compile import uncounted
from embedprop.kernels.machine.lanes import lanes, put
from embedprop.kernels.machine.prefetch import prefetch_to_write


@uncounted(forceinline=True)
def _reconstruct(
    h_tilde: Floats, h: Floats, positions: Positions, b: int, reads_per_edge: int, far: bool
) -> Float:
    """Write h~ of position b; return 1 / sum of the weights."""
    weights, start, end = positions.weights, positions.starts[b], positions.ends[b]
    sum_rows(h_tilde, h, positions.heard, weights, start, end, far)
    total = 0.0
    if weights.shape[0] > 0:
        for e in range(start, end):
            total += weights[e]
    else:
        total = end - start
    # With relations each edge was read twice: h~ is the mean of h(x) + r.
    scale = h_tilde.dtype.type(1.0 / (total / reads_per_edge))
    for k in range(0, h_tilde.shape[0], BLOCK):
        put(h_tilde, k, lanes(h_tilde, k) * scale)
    return scale


@uncounted(forceinline=True)
def measure(
    squares: Floats, first_block: int, b: int, j: int, h_tilde: Floats, other: Floats
) -> None:
    """Write |h~ - other|^2 of each block of columns."""
    for block in range(h_tilde.shape[0] // BLOCK):
        squares[first_block + block, b, j] = squared_distance(h_tilde, other, block * BLOCK)


@uncounted(forceinline=True)
def reconstruct_and_measure(
    number: int,
    batch: int,
    problem: Problem,
    work: Workspace,
    positions: Positions,
    h: Floats,
    far: bool,
) -> None:
    """Write h~ of every position, and the part's share of its squared distances.

    far: whether `h` is more than the nearest caches hold.
    """
    messages, scales = work.messages[number], work.scales[number]
    squares, first_block = work.squares[batch % 2], number * (messages.shape[1] // BLOCK)
    first, last = bounds_of(batch, problem)
    # Backwards: what was written last is still in the nearest cache.
    for b in range(last - first - 1, -1, -1):
        h_tilde = messages[b]
        scales[b] = _reconstruct(h_tilde, h, positions, b, problem.reads_per_edge, far)
        measure(squares, first_block, b, 0, h_tilde, h[positions.own[b]])
        for j in range(positions.negatives.shape[1]):
            measure(squares, first_block, b, 1 + j, h_tilde, h[positions.negatives[b, j]])


@uncounted(forceinline=True)
def compare(number: int, batch: int, problem: Problem, work: Workspace) -> None:
    """Write [margin + d(h~, h(v)) - d(h~, h(u))]+ of every position, from all parts' squares."""
    squares, kind = work.squares[batch % 2], work.squares.dtype.type
    distances, hinges = work.distances[number], work.hinges[number]
    first, last = bounds_of(batch, problem)
    for b in range(last - first):
        for j in range(distances.shape[1]):
            # In this order in every thread: the bytes do not depend on how columns are shared.
            square = kind(0)
            for block in range(squares.shape[0]):
                square += squares[block, b, j]
            distances[b, j] = square if problem.squared else np.sqrt(square)
        for j in range(hinges.shape[1]):
            hinge = problem.margin + distances[b, 0] - distances[b, 1 + j]
            # Written so that NaN counts as a violation and shows in the loss.
            hinges[b, j] = kind(0) if hinge <= 0 else hinge


@uncounted(forceinline=True)
def _slope_of(distance: Float, squared: bool) -> float:
    """Return what a - b is multiplied with in the gradient of d(a, b).

    |a - b| has no gradient at 0; like autograd, take 0.
    """
    if squared:
        return 2.0
    return 1.0 / distance if distance > 0 else 0.0


@uncounted(forceinline=True)
def send(
    number: int, batch: int, problem: Problem, work: Workspace, positions: Positions, h: Floats
) -> None:
    """Write the messages of every position: to neighbors in place of h~, to v, to violating u."""
    messages, batch_size, squared = work.messages[number], problem.batch_size, problem.squared
    distances, hinges, kind = work.distances[number], work.hinges[number], messages.dtype.type
    width, n_negatives = messages.shape[1], hinges.shape[1]
    first, last = bounds_of(batch, problem)
    for b in range(last - first):
        h_tilde, n_violated = messages[address(TO_NEIGHBORS, b, batch_size)], 0
        for j in range(n_negatives):
            if hinges[b, j] != 0:
                n_violated += 1
                other = messages[address(TO_NEGATIVES + j, b, batch_size)]
                h_other = h[positions.negatives[b, j]]
                slope = kind(_slope_of(distances[b, 1 + j], squared))
                for k in range(0, width, BLOCK):
                    put(other, k, (lanes(h_tilde, k) - lanes(h_other, k)) * slope)
        if n_violated == 0:
            continue
        own, h_own = messages[address(TO_OWN, b, batch_size)], h[positions.own[b]]
        slope = kind(n_violated) * kind(_slope_of(distances[b, 0], squared))
        for k in range(0, width, BLOCK):
            put(own, k, (lanes(h_own, k) - lanes(h_tilde, k)) * slope)
        # All that is pushed pushes back on h~, and so on each neighbor by its share.
        for k in range(0, width, BLOCK):
            to_all = lanes(own, k)
            for j in range(n_negatives):
                if hinges[b, j] != 0:
                    to_all = to_all + lanes(messages[address(TO_NEGATIVES + j, b, batch_size)], k)
            put(h_tilde, k, to_all * -work.scales[number, b])


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

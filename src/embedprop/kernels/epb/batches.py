"""Mini-batches of EP-B: g = g~ = mean, Euclidean distance, margin ranking loss, Adam.

For every position v of a batch, with a negative u (or several):

    h~(v) = sum over x in N(v) of w(x, v) T(x) h(x) / sum of w(x, v) T(x)
    loss  = [margin + d(h~(v), h(v)) - d(h~(v), h(u))]+,  d(a, b) = |a - b|, or its square

where T(x) is the total label weight of x, so that h~ is the mean over all labels of all
neighbors. With relations h(x) + r takes the place of h(x) in h~, where r is the learned vector of
the edge's relation, a row of the same table after those of the labels.

h(x) is computed once per distinct node of the batch. What moves through memory: each distinct
label row once to catch up (vectors and direction), each edge reads one row forward; the backward
messages of a batch (about 100 KB) stay in the cache, and each row that receives some gathers them
and changes its moments in one pass (`rows`). A batch reads its rows in random order, so each is
asked for some rows ahead (`prefetch`).

Threads share the work by columns: each has a part of every vector, and the arrays of all parts have
the part for their first axis. Little goes from one core's cache to another's: the squared distances
of a batch, and the list of what it reads. Squares are summed by blocks of columns, the same for any
number of threads, so the bytes do not depend on it.
"""

from typing import NamedTuple

import numpy as np

from embedprop.kernels.epb.adam import AdamTables, Table, catch_up
from embedprop.kernels.epb.batch import (
    Draws,
    Labels,
    Lists,
    Reads,
    Scratch,
    is_direct,
    list_batch,
    lists_of,
    scratch_of,
)
from embedprop.kernels.epb.rows import part_of, receive
from embedprop.kernels.epb.segments import squared_distance, sum_rows, sum_segments
from embedprop.kernels.epb.senders import list_label_senders, list_senders
from embedprop.kernels.machine.arrays import BLOCK, Float, Floats, Ints
from embedprop.kernels.machine.compile import kernel, uncounted
from embedprop.kernels.machine.lanes import lanes, put
from embedprop.kernels.machine.meeting import arrive, have_arrived


class Settings(NamedTuple):
    """Numbers that hold for a whole run."""

    batch_size: int
    margin: Float
    squared: bool
    learning_rate: float
    n_nodes: int


class Share(NamedTuple):
    """What one thread does: the parts from low to high - 1 of all vectors; how far it has come.

    arrived (1,): how often any of the threads has come to a meeting; place (2,): the meeting that
    this one goes to, and whether it waits there; loss (1,) float64: the summed losses, written by
    the thread that has the first part.
    """

    low: int
    high: int
    n_threads: int
    arrived: Ints
    place: Ints
    loss: Floats


class Buffers(NamedTuple):
    """Working memory for vectors, and for one number per position of a batch and node compared.

    messages (n_parts, (2 + n_negatives) * batch_size, width): h~, then the backward messages of a
    batch; gradient (n_parts, width): of one row; embeddings and node_gradients (n_parts, nodes
    of a batch, width): h(x) and its gradient, empty for the type `node`.

    squares (2, blocks of columns, batch_size, 1 + n_negatives): squared distances of h~ to h(v),
    then to each h(u), in turns for even and odd steps; distances (n_parts, batch_size,
    1 + n_negatives); hinges (n_parts, batch_size, n_negatives): the losses, 0 where the margin is
    kept; scales (n_parts, batch_size): 1 / sum of the weights in h~.
    """

    messages: Floats
    gradient: Floats
    embeddings: Floats
    node_gradients: Floats
    squares: Floats
    distances: Floats
    hinges: Floats
    scales: Floats


@uncounted(forceinline=True)
def reconstruct(
    h: Floats, source: Floats, labels: Labels, draws: Draws, i: int, reads: Reads, b: int
) -> Float:
    """Write h~ of position i (the b-th of its batch) into `h`; return 1 / sum of the weights."""
    single, related = labels.ptr.shape[0] == 0, draws.neighbor_relations.shape[0] > 0
    if is_direct(labels, draws):
        ids, weights = draws.neighbor_ids, draws.neighbor_weights
        start, end = draws.starts[i], draws.ends[i]
    else:
        ids, weights = reads.rows if single else reads.local, reads.weights
        start, end = reads.offsets[b], reads.offsets[b + 1]
    sum_rows(h, source, ids, weights, start, end, single)
    total = 0.0
    if weights.shape[0] > 0:
        for e in range(start, end):
            total += weights[e]
    else:
        total = end - start
    if related:
        total *= 0.5  # each edge was read twice
    scale = h.dtype.type(1.0 / total)
    for k in range(0, h.shape[0], BLOCK):
        put(h, k, lanes(h, k) * scale)
    return scale


@uncounted(forceinline=True)
def measure(squares: Floats, first_block: int, b: int, j: int, h: Floats, other: Floats) -> None:
    """Write |h - other|^2 of each block of columns."""
    for block in range(h.shape[0] // BLOCK):
        squares[first_block + block, b, j] = squared_distance(h, other, block * BLOCK)


@uncounted(forceinline=True)
def bounds_of(batch: int, draws: Draws, settings: Settings) -> tuple[int, int]:
    """Return the first position of a batch, and the one after it; the last may be shorter."""
    first = batch * settings.batch_size
    return first, min(first + settings.batch_size, draws.nodes.shape[0])


@uncounted()
def list_for_all(
    batch: int,
    share: Share,
    table: Table,
    labels: Labels,
    draws: Draws,
    settings: Settings,
    all_lists: Lists,
    scratch: Scratch,
) -> None:
    """List what a batch reads, for all threads."""
    first, last = bounds_of(batch, draws, settings)
    lists, mine = lists_of(all_lists, batch), scratch_of(scratch, share.low)
    n_nodes, n_labels = settings.n_nodes, table.vectors.shape[1]
    list_batch(lists, mine, labels, draws, first, last, n_nodes, n_labels)


@uncounted()
def forward_part(
    number: int,
    table: Table,
    labels: Labels,
    draws: Draws,
    batch: int,
    settings: Settings,
    step: int,
    tables: AdamTables,
    buffers: Buffers,
    all_lists: Lists,
) -> None:
    """Catch up what a batch reads, reconstruct h~, and measure how far it is.

    All for one part of the vectors, which knows only its share of each squared distance.
    """
    first, last = bounds_of(batch, draws, settings)
    single = labels.ptr.shape[0] == 0
    part, h = part_of(table, number), buffers.messages[number]
    lists = lists_of(all_lists, batch)
    reads, n_nodes = lists.reads, lists.n_read[0]
    rows = lists.nodes if single else lists.words
    source = part.vectors if single else buffers.embeddings[number]
    catch_up(part, rows, lists.n_read[1], step - 1, settings.learning_rate, tables)
    if not single:
        starts, ends = lists.starts, lists.ends
        sum_segments(source, part.vectors, labels.ids, labels.weights, starts, ends, n_nodes)
    squares, first_block = buffers.squares[step % 2], number * (h.shape[1] // BLOCK)
    # Backwards: what was written last is still in the nearest cache.
    for i in range(last - 1, first - 1, -1):
        b = i - first
        buffers.scales[number, b] = reconstruct(h[b], source, labels, draws, i, reads, b)
        v = draws.nodes[i] if single else lists.own_places[b]
        measure(squares, first_block, b, 0, h[b], source[v])
        for j in range(draws.negatives.shape[1]):
            u = draws.negatives[i, j] if single else lists.negative_places[b, j]
            measure(squares, first_block, b, 1 + j, h[b], source[u])


@uncounted(forceinline=True)
def compare(
    squares: Floats, distances: Floats, hinges: Floats, n: int, n_blocks: int, settings: Settings
) -> None:
    """Write [margin + d(h~, h(v)) - d(h~, h(u))]+ of the first n positions, from the squares."""
    kind = squares.dtype.type
    for b in range(n):
        for j in range(distances.shape[1]):
            square = kind(0)
            for block in range(n_blocks):
                square += squares[block, b, j]
            distances[b, j] = square if settings.squared else np.sqrt(square)
        for j in range(hinges.shape[1]):
            hinge = settings.margin + distances[b, 0] - distances[b, 1 + j]
            # Written so that NaN counts as a violation and shows in the loss.
            hinges[b, j] = kind(0) if hinge <= 0 else hinge


@uncounted(forceinline=True)
def slope_of(distance: Float, squared: bool) -> float:
    """Return what a - b is multiplied with in the gradient of d(a, b).

    |a - b| has no gradient at 0; like autograd, take 0.
    """
    if squared:
        return 2.0
    return 1.0 / distance if distance > 0 else 0.0


@uncounted(forceinline=True)
def send(
    messages: Floats,
    b: int,
    batch_size: int,
    scale: Float,
    distances: Floats,
    hinges: Floats,
    source: Floats,
    v: int,
    negatives: Ints,
    squared: bool,
) -> None:
    """Turn h~ of position b into the messages to its neighbors, to v, and to each violating u."""
    h, kind = messages[b], messages.dtype.type
    n_violated = 0
    for j in range(negatives.shape[0]):
        if hinges[j] != 0:
            n_violated += 1
            other, h_other = messages[(2 + j) * batch_size + b], source[negatives[j]]
            slope = kind(slope_of(distances[1 + j], squared))
            for k in range(0, h.shape[0], BLOCK):
                put(other, k, (lanes(h, k) - lanes(h_other, k)) * slope)
    if n_violated == 0:
        return
    own, h_own = messages[batch_size + b], source[v]
    slope = kind(n_violated) * kind(slope_of(distances[0], squared))
    for k in range(0, h.shape[0], BLOCK):
        put(own, k, (lanes(h_own, k) - lanes(h, k)) * slope)
    for k in range(0, h.shape[0], BLOCK):
        to_all = lanes(own, k)
        for j in range(negatives.shape[0]):
            if hinges[j] != 0:
                to_all = to_all + lanes(messages[(2 + j) * batch_size + b], k)
        put(h, k, to_all * -scale)


@uncounted()
def backward_part(
    number: int,
    table: Table,
    labels: Labels,
    draws: Draws,
    batch: int,
    settings: Settings,
    step: int,
    tables: AdamTables,
    buffers: Buffers,
    all_lists: Lists,
    all_scratch: Scratch,
) -> None:
    """Compare the distances of a batch, send gradients, and add them to moments.

    All for one part of the vectors, after every part has measured its share of the distances.
    """
    first, last = bounds_of(batch, draws, settings)
    single = labels.ptr.shape[0] == 0
    part, messages = part_of(table, number), buffers.messages[number]
    lists, scratch = lists_of(all_lists, batch), scratch_of(all_scratch, number)
    batch_size = settings.batch_size
    distances, hinges = buffers.distances[number], buffers.hinges[number]
    n_blocks = table.vectors.shape[0] * (messages.shape[1] // BLOCK)
    compare(buffers.squares[step % 2], distances, hinges, last - first, n_blocks, settings)
    n_rows: int = list_senders(first, last, batch_size, hinges, labels, draws, lists, scratch)
    source = part.vectors if single else buffers.embeddings[number]
    for i in range(first, last):
        b = i - first
        v = draws.nodes[i] if single else lists.own_places[b]
        negatives = draws.negatives[i] if single else lists.negative_places[b]
        send(
            messages, b, batch_size, buffers.scales[number, b], distances[b], hinges[b],
            source, v, negatives, settings.squared,
        )  # fmt: skip
    rows, senders = scratch.nodes, scratch.to_nodes
    if single and not is_direct(labels, draws):  # what the table has are rows, not places
        for i in range(n_rows):
            rows[i] = lists.nodes[rows[i]]
    if not single:
        source = buffers.node_gradients[number]
        entries, weights, offsets = senders.entries, senders.weights, senders.offsets
        sum_segments(source, messages, entries, weights, offsets, offsets[1:], n_rows)
        n_rows = list_label_senders(labels, lists, scratch, n_rows)
        rows, senders, messages = scratch.words, scratch.to_words, source
    receive(part, messages, rows, senders, n_rows, buffers.gradient[number], step, tables)


@kernel()
def epb_batches(
    share: Share,
    table: Table,
    labels: Labels,
    draws: Draws,
    settings: Settings,
    step: int,
    tables: AdamTables,
    buffers: Buffers,
    lists: Lists,
    scratch: Scratch,
) -> bool:
    """Move one thread's share of `table` in place by one pass of EP-B over `draws`.

    Between two meetings a thread finishes one batch and begins the next: they come to meeting m
    when they have measured the distances of batch m - 1. Cores are now faster and now slower. So
    who comes first lists batch m + 1 for all, while the others catch up; nobody reads that before
    the next meeting. There are four lists in turns: late threads still read m - 2 and m - 1, and
    who came first to the meeting before may not be done with m.
    Returns whether it is done; if it is not, it has waited long for the others: call it again.

    Twin     tests/reference.py does the same by autograd and `torch.optim.Adam`.
    Arrays   see the named tuples; `step` is the number of steps done so far.
    Trusts   ids in range; every node in `draws` has a neighbor; every node has a label; all slots
             are -1, all `ends` of senders 0; the width of a part is a multiple of BLOCK.
    """
    place, n_threads = share.place, share.n_threads
    n_batches = -(-draws.nodes.shape[0] // settings.batch_size)
    while True:
        meeting = place[0]
        if place[1] == 0:
            if meeting == 0 and share.low == 0 and n_batches > 0:
                list_for_all(0, share, table, labels, draws, settings, lists, scratch)
            for part in range(share.low, share.high):
                if meeting > 1:
                    backward_part(
                        part, table, labels, draws, meeting - 2, settings, step + meeting - 1,
                        tables, buffers, lists, scratch,
                    )  # fmt: skip
                if 0 < meeting <= n_batches:
                    forward_part(
                        part, table, labels, draws, meeting - 1, settings, step + meeting,
                        tables, buffers, lists,
                    )  # fmt: skip
            if meeting > 1 and share.low == 0:
                first, last = bounds_of(meeting - 2, draws, settings)
                share.loss[0] += float(buffers.hinges[0, : last - first].sum())
            if meeting > n_batches:
                return True  # nobody reads what the last pass has written
            place[1] = 1
            is_first = arrive(share.arrived) == meeting * n_threads
            if is_first and meeting + 1 < n_batches:
                list_for_all(meeting + 1, share, table, labels, draws, settings, lists, scratch)
        if not have_arrived(share.arrived, (meeting + 1) * n_threads):
            return False
        place[0], place[1] = meeting + 1, 0

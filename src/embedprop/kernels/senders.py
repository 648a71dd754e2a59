"""Who sends gradients to whom in one mini-batch: integers only.

Each thread lists it for itself, once it knows which margins are violated.
"""

from embedprop.kernels.arrays import Float, Floats, Index, Ints
from embedprop.kernels.batch import Labels, Lists, Scratch, Senders, clear, place, weight_at
from embedprop.kernels.compile import uncounted


@uncounted()
def _start_lists(senders: Senders, n: int) -> None:
    """Turn the counts in `ends` into empty lists, one for each of n receivers."""
    offsets, ends = senders.offsets, senders.ends
    total = 0
    for i in range(n):
        offsets[i] = total
        total += ends[i]
        ends[i] = offsets[i]
    offsets[n] = total


@uncounted()
def _list_receivers(senders: Senders, n: int, receivers: Ints) -> int:
    """Do the same for those of n whose count is not 0; list them, and return how many there are.

    Nobody foresees which they are, so there is no branch, as in `batch._list_plain`.
    """
    offsets, ends = senders.offsets, senders.ends
    total, n_receivers = 0, 0
    for i in range(n):
        count = ends[Index(i)]
        receivers[Index(n_receivers)], offsets[Index(n_receivers)] = i, total
        ends[Index(i)] = total
        total += count
        n_receivers += 1 if count > 0 else 0
    offsets[n_receivers] = total
    return n_receivers


@uncounted()
def _append(senders: Senders, slot: int, entry: int, weight: Float) -> None:
    end = senders.ends[Index(slot)]
    senders.entries[Index(end)] = entry
    if senders.weights.shape[0] > 0:
        senders.weights[Index(end)] = weight
    senders.ends[Index(slot)] = end + 1


@uncounted()
def list_senders(n: int, batch_size: int, hinges: Floats, lists: Lists, scratch: Scratch) -> int:
    """List the nodes of a batch of n positions that receive backward messages, and which.

    Message b + kind * batch_size comes from position b: kind 0 goes to its neighbors, 1 to v
    itself, 2 + j to its negative j, if the margin to that one is violated (hinges[b, j] is not 0).
    A position all of whose margins are kept sends nothing.
    """
    local, offsets, read_weights = lists.reads.local, lists.reads.offsets, lists.reads.weights
    own, negatives, n_negatives = lists.own_places, lists.negative_places, hinges.shape[1]
    senders, n_nodes = scratch.to_nodes, lists.n_read[0]
    ends, one = senders.ends, senders.weights.dtype.type(1)
    ends[:n_nodes] = 0
    for b in range(n):
        violated = False
        for j in range(n_negatives):
            if hinges[b, j] != 0:
                ends[negatives[b, j]] += 1
                violated = True
        if violated:
            ends[own[b]] += 1
            for e in range(offsets[b], offsets[b + 1]):
                ends[Index(local[e])] += 1
    n_receivers: int = _list_receivers(senders, n_nodes, scratch.nodes)
    for b in range(n):
        violated = False
        for j in range(n_negatives):
            if hinges[b, j] != 0:
                _append(senders, negatives[b, j], (2 + j) * batch_size + b, one)
                violated = True
        if violated:
            _append(senders, own[b], batch_size + b, one)
            for e in range(offsets[b], offsets[b + 1]):
                _append(senders, local[e], b, weight_at(read_weights, e))
    return n_receivers


@uncounted()
def list_label_senders(labels: Labels, lists: Lists, scratch: Scratch, n_nodes: int) -> int:
    """List the labels of the first n_nodes of `scratch.nodes`, and for each who passes it on."""
    slot, rows, senders = scratch.word_slot, scratch.words, scratch.to_words
    ids, label_weights, nodes = labels.ids, labels.weights, scratch.nodes
    n_rows = 0
    for i in range(n_nodes):
        for e in range(lists.starts[nodes[i]], lists.ends[nodes[i]]):
            if slot[Index(ids[e])] < 0:
                senders.ends[Index(n_rows)] = 0
            n_rows = place(ids[e], slot, rows, n_rows)
            senders.ends[Index(slot[Index(ids[e])])] += 1
    _start_lists(senders, n_rows)
    for i in range(n_nodes):
        for e in range(lists.starts[nodes[i]], lists.ends[nodes[i]]):
            _append(senders, slot[Index(ids[e])], i, label_weights[e])
    clear(slot, rows, n_rows)
    return n_rows

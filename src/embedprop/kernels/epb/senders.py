"""Who sends gradients to whom in one mini-batch: integers only.

Each thread lists it for itself, once it knows which margins are violated: first how many messages
each receives, then which.
"""

from embedprop.kernels.epb.batch import Draws, Labels, Lists, Scratch, Senders, is_direct, weight_at
from embedprop.kernels.machine.arrays import Float, Floats, Index, Ints
from embedprop.kernels.machine.compile import uncounted


@uncounted()
def _count(counts: Ints, receiver: int, receivers: Ints, n_receivers: int) -> int:
    """Count a message; list who receives the first one. Without a branch, as `batch._list_ids`."""
    count = counts[Index(receiver)]
    counts[Index(receiver)] = count + 1
    receivers[Index(n_receivers)] = receiver
    return n_receivers + (1 if count == 0 else 0)


@uncounted()
def _start_lists(senders: Senders, receivers: Ints, n_receivers: int) -> None:
    """Turn the counts in `ends` into empty lists."""
    offsets, ends = senders.offsets, senders.ends
    total = 0
    for i in range(n_receivers):
        receiver = Index(receivers[i])
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
def _forget_ends(senders: Senders, receivers: Ints, n_receivers: int) -> None:
    for i in range(n_receivers):
        senders.ends[Index(receivers[i])] = 0


@uncounted()
def list_senders(
    first: int,
    last: int,
    batch_size: int,
    hinges: Floats,
    labels: Labels,
    draws: Draws,
    lists: Lists,
    scratch: Scratch,
) -> int:
    """List the nodes of a batch that receive backward messages, and which; return how many.

    Message b + kind * batch_size comes from position b: kind 0 goes to its neighbors, 1 to v
    itself, 2 + j to its negative j, if the margin to that one is violated (hinges[b, j] is not 0).
    A position all of whose margins are kept sends nothing.
    """
    reads, senders, n_negatives = lists.reads, scratch.to_nodes, hinges.shape[1]
    heard, weights, starts, ends = reads.local, reads.weights, reads.offsets, reads.offsets[1:]
    own, negatives = lists.own_places, lists.negative_places
    if is_direct(labels, draws):
        heard, weights = draws.neighbor_ids, draws.neighbor_weights
        starts, ends = draws.starts[first:last], draws.ends[first:last]
        own, negatives = draws.nodes[first:last], draws.negatives[first:last]
    counts, receivers, n = senders.ends, scratch.nodes, 0
    for b in range(last - first):
        violated = False
        for j in range(n_negatives):
            if hinges[b, j] != 0:
                n = _count(counts, negatives[b, j], receivers, n)
                violated = True
        if violated:
            n = _count(counts, own[b], receivers, n)
            for e in range(starts[b], ends[b]):
                n = _count(counts, heard[e], receivers, n)
    _start_lists(senders, receivers, n)
    one = senders.weights.dtype.type(1)
    for b in range(last - first):
        violated = False
        for j in range(n_negatives):
            if hinges[b, j] != 0:
                _append(senders, negatives[b, j], (2 + j) * batch_size + b, one)
                violated = True
        if violated:
            _append(senders, own[b], batch_size + b, one)
            for e in range(starts[b], ends[b]):
                _append(senders, heard[e], b, weight_at(weights, e))
    _forget_ends(senders, receivers, n)
    return n


@uncounted()
def list_label_senders(labels: Labels, lists: Lists, scratch: Scratch, n_nodes: int) -> int:
    """List the labels of the first n_nodes of `scratch.nodes`, and for each who passes it on."""
    ids, weights, starts, ends = labels.ids, labels.weights, lists.starts, lists.ends
    nodes, receivers, senders = scratch.nodes, scratch.words, scratch.to_words
    counts, n = senders.ends, 0
    for i in range(n_nodes):
        for e in range(starts[nodes[i]], ends[nodes[i]]):
            n = _count(counts, ids[e], receivers, n)
    _start_lists(senders, receivers, n)
    for i in range(n_nodes):
        for e in range(starts[nodes[i]], ends[nodes[i]]):
            _append(senders, ids[e], i, weights[e])
    _forget_ends(senders, receivers, n)
    return n

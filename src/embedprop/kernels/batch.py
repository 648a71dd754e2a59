"""Which rows one mini-batch reads, and who sends gradients to whom: integers only.

Each thread makes these lists for itself, so that none go from one core's cache to another's.
"""

from typing import NamedTuple

from embedprop.kernels.arrays import Float, Floats, Index, Ints
from embedprop.kernels.compile import uncounted


class Labels(NamedTuple):
    """l_i(v) as CSR with weights that add up to 1 per node, and totals T(v).

    Empty `ptr`: each node is its own only label, with weight 1 (the type `node`).
    """

    ptr: Ints
    ids: Ints
    weights: Floats
    totals: Floats


class Draws(NamedTuple):
    """What chance has decided for a run of positions: the same for every engine.

    Position i visits nodes[i], whose neighbors are neighbor_ids[starts[i]:ends[i]], with weights
    (an empty array: all 1), and compares it with negatives[i]. neighbor_relations is the relation
    of each of these edges (empty: without relations), places its place in the graph's own lists
    (empty: starts and ends are such places; of walks: there is none).
    """

    nodes: Ints
    starts: Ints
    ends: Ints
    neighbor_ids: Ints
    neighbor_weights: Floats
    negatives: Ints
    neighbor_relations: Ints
    places: Ints


class Reads(NamedTuple):
    """The slots of what each position hears: local[offsets[b]:offsets[b + 1]].

    weights (an empty array: all 1) are w(x, v) T(x): edge weight times the label weight of x. With
    relations every edge is two reads of the same weight: x, and the node n_nodes + relation, which
    stands for the relation and has its vector for a label. rows, only with relations: their ids.
    """

    offsets: Ints
    local: Ints
    weights: Floats
    rows: Ints


class Scratch(NamedTuple):
    """Working memory of one level (nodes, or labels): an index over the rows of a batch.

    slot[x] is the place of row x in `rows`, or -1; `rows` has one place to spare. starts, ends,
    entries and weights are lists per slot: who sends a gradient there (no weights: all 1).
    """

    slot: Ints
    rows: Ints
    starts: Ints
    ends: Ints
    entries: Ints
    weights: Floats


class Lists(NamedTuple):
    """All lists of one batch: what its positions read, and which nodes and labels these are.

    n_read (2,): how many nodes and labels. For the type `node`, whose nodes are their own labels,
    `words` is empty, and both numbers are the same.
    """

    reads: Reads
    nodes: Scratch
    words: Scratch
    n_read: Ints


@uncounted()
def _scratch_of(scratch: Scratch, side: int) -> Scratch:
    return Scratch(
        scratch.slot[side],
        scratch.rows[side],
        scratch.starts[side],
        scratch.ends[side],
        scratch.entries[side],
        scratch.weights[side],
    )


@uncounted()
def lists_of(lists: Lists, side: int) -> Lists:
    """Return those of one side, of arrays with an axis of sides in front."""
    reads = lists.reads
    return Lists(
        Reads(reads.offsets[side], reads.local[side], reads.weights[side], reads.rows[side]),
        _scratch_of(lists.nodes, side),
        _scratch_of(lists.words, side),
        lists.n_read[side],
    )


@uncounted()
def _weight(weights: Floats, index: int) -> Float:
    return weights[index] if weights.shape[0] > 0 else weights.dtype.type(1)


@uncounted()
def _place(row: int, slot: Ints, rows: Ints, n_rows: int) -> int:
    if slot[Index(row)] < 0:
        slot[Index(row)] = n_rows
        rows[Index(n_rows)] = row
        return n_rows + 1
    return n_rows


@uncounted()
def _list_plain(
    ids: Ints, start: int, end: int, slot: Ints, rows: Ints, n_rows: int, local: Ints, n_local: int
) -> int:
    """List neighbors without weights and relations.

    Half of them are new to the batch, which no branch prediction foresees: so there is no branch,
    and what is not new writes to the first free place, which the next one overwrites.
    """
    for e in range(start, end):
        node = ids[e]
        found = slot[Index(node)]
        is_new = found < 0
        place = n_rows if is_new else found
        slot[Index(node)] = place
        rows[Index(n_rows)] = node
        n_rows += 1 if is_new else 0
        local[Index(n_local + e - start)] = place
    return n_rows


@uncounted()
def _list_weighted(
    draws: Draws,
    i: int,
    totals: Floats,
    first_relation: int,
    reads: Reads,
    scratch: Scratch,
    n_rows: int,
    n_local: int,
) -> int:
    """List the neighbors of position i, their weights, and their relations if there are any."""
    slot, rows, local, weights = scratch.slot, scratch.rows, reads.local, reads.weights
    edge_weights, relations, read_rows = (
        draws.neighbor_weights,
        draws.neighbor_relations,
        reads.rows,
    )
    neighbor_ids = draws.neighbor_ids
    weighted, related = weights.shape[0] > 0, relations.shape[0] > 0
    for e in range(draws.starts[i], draws.ends[i]):
        node = neighbor_ids[e]
        n_rows = _place(node, slot, rows, n_rows)
        local[n_local] = slot[node]
        if weighted:
            weights[n_local] = _weight(edge_weights, e) * _weight(totals, node)
        n_local += 1
        if related:
            relation = first_relation + relations[e]
            n_rows = _place(relation, slot, rows, n_rows)
            local[n_local] = slot[relation]
            read_rows[n_local - 1], read_rows[n_local] = node, relation
            if weighted:
                weights[n_local] = weights[n_local - 1]
            n_local += 1
    return n_rows


@uncounted()
def list_nodes(
    draws: Draws,
    low: int,
    high: int,
    totals: Floats,
    first_relation: int,
    reads: Reads,
    scratch: Scratch,
) -> int:
    """List the distinct nodes that positions low..high read: neighbors, v itself, negatives."""
    slot, rows, local, offsets = scratch.slot, scratch.rows, reads.local, reads.offsets
    neighbor_ids, negatives, nodes = draws.neighbor_ids, draws.negatives, draws.nodes
    starts, ends = draws.starts, draws.ends
    related = draws.neighbor_relations.shape[0] > 0
    plain = reads.weights.shape[0] == 0 and not related
    n_rows = 0
    offsets[0] = 0
    for i in range(low, high):
        b = i - low
        if plain:
            n_rows = _list_plain(
                neighbor_ids, starts[i], ends[i], slot, rows, n_rows, local, offsets[b]
            )
        else:
            n_rows = _list_weighted(
                draws, i, totals, first_relation, reads, scratch, n_rows, offsets[b]
            )
        offsets[b + 1] = offsets[b] + (ends[i] - starts[i]) * (2 if related else 1)
        n_rows = _place(nodes[i], slot, rows, n_rows)
        for j in range(negatives.shape[1]):
            n_rows = _place(negatives[i, j], slot, rows, n_rows)
    return n_rows


@uncounted()
def list_labels(
    labels: Labels,
    nodes: Ints,
    n_nodes: int,
    starts: Ints,
    ends: Ints,
    scratch: Scratch,
    n_all: int,
) -> int:
    """List the distinct labels of nodes[:n_nodes], and where each node's labels stand.

    If these come to far more than n_all, which is how many there are, nearly all are among them:
    then list them all.
    """
    slot, rows, ids, ptr = scratch.slot, scratch.rows, labels.ids, labels.ptr
    n_read = 0
    for i in range(n_nodes):
        starts[i], ends[i] = ptr[nodes[i]], ptr[nodes[i] + 1]
        n_read += ends[i] - starts[i]
    n_rows = 0
    if n_read > 2 * n_all:
        for label in range(n_all):
            n_rows = _place(label, slot, rows, n_rows)
        return n_rows
    for i in range(n_nodes):
        for e in range(starts[i], ends[i]):
            n_rows = _place(ids[e], slot, rows, n_rows)
    return n_rows


@uncounted()
def _clear(scratch: Scratch, n_rows: int) -> None:
    for i in range(n_rows):
        scratch.slot[Index(scratch.rows[i])] = -1


@uncounted()
def list_batch(
    all_lists: Lists,
    side: int,
    labels: Labels,
    draws: Draws,
    low: int,
    high: int,
    n_nodes: int,
    n_labels: int,
) -> None:
    """List what positions low..high read, instead of what was listed on that side before.

    n_nodes and n_labels are how many there are in all.
    """
    lists = lists_of(all_lists, side)
    nodes, words, n_read = lists.nodes, lists.words, lists.n_read
    single = labels.ptr.shape[0] == 0
    _clear(nodes, n_read[0])
    if not single:
        _clear(words, n_read[1])
    n_read[0] = list_nodes(draws, low, high, labels.totals, n_nodes, lists.reads, nodes)
    n_read[1] = n_read[0]
    if not single:
        n_read[1] = list_labels(
            labels, nodes.rows, n_read[0], nodes.starts, nodes.ends, words, n_labels
        )


@uncounted()
def _start_lists(starts: Ints, ends: Ints, n_rows: int) -> None:
    """Turn the counts in `ends` into the starts of empty lists."""
    total = 0
    for i in range(n_rows):
        starts[i] = total
        total += ends[i]
        ends[i] = starts[i]


@uncounted()
def _append(
    ends: Ints, entries: Ints, weights: Floats, slot: int, entry: int, weight: Float
) -> None:
    end = ends[Index(slot)]
    entries[Index(end)] = entry
    if weights.shape[0] > 0:
        weights[Index(end)] = weight
    ends[Index(slot)] = end + 1


@uncounted()
def list_senders(
    draws: Draws,
    low: int,
    high: int,
    batch_size: int,
    hinges: Floats,
    reads: Reads,
    scratch: Scratch,
    n_rows: int,
) -> None:
    """For each node of the batch, list the backward messages that it receives.

    Message b + kind * batch_size comes from position low + b: kind 0 goes to its neighbors, 1 to
    v itself, 2 + j to its negative j, if the margin to that one is violated (hinges[b, j] is not
    0). A position all of whose margins are kept sends nothing.
    """
    slot, local, starts, offsets = scratch.slot, reads.local, scratch.starts, reads.offsets
    ends, entries, weights = scratch.ends, scratch.entries, scratch.weights
    nodes, negatives, read_weights = draws.nodes, draws.negatives, reads.weights
    n_negatives = negatives.shape[1]
    one = weights.dtype.type(1)
    ends[:n_rows] = 0
    for i in range(low, high):
        b, violated = i - low, False
        for j in range(n_negatives):
            if hinges[b, j] != 0:
                ends[slot[negatives[i, j]]] += 1
                violated = True
        if violated:
            ends[slot[nodes[i]]] += 1
            for e in range(offsets[b], offsets[b + 1]):
                ends[Index(local[e])] += 1
    _start_lists(starts, ends, n_rows)
    for i in range(low, high):
        b, violated = i - low, False
        for j in range(n_negatives):
            if hinges[b, j] != 0:
                message = (2 + j) * batch_size + b
                _append(ends, entries, weights, slot[negatives[i, j]], message, one)
                violated = True
        if violated:
            _append(ends, entries, weights, slot[nodes[i]], batch_size + b, one)
            for e in range(offsets[b], offsets[b + 1]):
                _append(ends, entries, weights, local[e], b, _weight(read_weights, e))


@uncounted()
def list_label_senders(
    labels: Labels, nodes: Ints, n_nodes: int, senders: Scratch, scratch: Scratch, n_rows: int
) -> None:
    """For each label of the batch, list the nodes that have it and received a message."""
    slot, starts, ends = scratch.slot, scratch.starts, scratch.ends
    entries, weights = scratch.entries, scratch.weights
    ptr, ids, label_weights = labels.ptr, labels.ids, labels.weights
    ends[:n_rows] = 0
    for i in range(n_nodes):
        if senders.ends[i] > senders.starts[i]:
            for e in range(ptr[nodes[i]], ptr[nodes[i] + 1]):
                ends[Index(slot[Index(ids[e])])] += 1
    _start_lists(starts, ends, n_rows)
    for i in range(n_nodes):
        if senders.ends[i] > senders.starts[i]:
            for e in range(ptr[nodes[i]], ptr[nodes[i] + 1]):
                _append(ends, entries, weights, slot[Index(ids[e])], i, label_weights[e])

"""Which rows one mini-batch reads: integers only.

What a batch reads is listed once for all threads, by the one who has time (`Lists`); who sends to
whom each thread lists for itself (`Scratch`, see `senders`).
"""

from typing import NamedTuple

from embedprop.kernels.machine.arrays import Float, Floats, Index, Ints
from embedprop.kernels.machine.compile import uncounted
from embedprop.kernels.machine.prefetch import prefetch_number, prefetch_number_to_write


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
    """The slots of what each position hears: local[offsets[b]:offsets[b + 1]]; see `is_direct`.

    weights (an empty array: all 1) are w(x, v) T(x): edge weight times the label weight of x. With
    relations every edge is two reads of the same weight: x, and the node n_nodes + relation, which
    stands for the relation and has its vector for a label. rows, only with relations: their ids.
    """

    offsets: Ints
    local: Ints
    weights: Floats
    rows: Ints


class Lists(NamedTuple):
    """What the positions of a batch read, for all threads.

    nodes, words: the distinct nodes and labels; each has one place to spare. own_places
    (batch_size,) and negative_places (batch_size, n_negatives): where v and each u are in `nodes`.
    starts, ends: where each node's labels stand. n_read (2,): how many nodes and labels there are.
    For the type `node`, whose nodes are their own labels, words, starts and ends are empty. Where
    reads are direct (`is_direct`), only nodes and n_read are made.
    """

    reads: Reads
    nodes: Ints
    words: Ints
    own_places: Ints
    negative_places: Ints
    starts: Ints
    ends: Ints
    n_read: Ints


class Senders(NamedTuple):
    """Who sends a gradient to the i-th receiver: entries[offsets[i]:offsets[i + 1]], with weights.

    weights: an empty array: all 1. ends: while the lists are made, how many send to a receiver,
    then where its list ends, by the number that it has in `Scratch.nodes` or `Scratch.words`; at
    all other times all are 0.
    """

    offsets: Ints
    ends: Ints
    entries: Ints
    weights: Floats


class Scratch(NamedTuple):
    """Working memory that each thread has for itself.

    node_slot, word_slot: the place of a node or label in a list that is being made (of a node whose
    place nobody asks for, any number), -1 if it is not there; at all other times all are -1.
    nodes, words: those that receive something, one place to spare. Nodes have the number of their
    place in `Lists.nodes`, and their own where reads are direct. to_nodes, to_words: who sends to
    each of them.
    """

    node_slot: Ints
    word_slot: Ints
    nodes: Ints
    words: Ints
    to_nodes: Senders
    to_words: Senders


# Visits between asking for a list of neighbors and reading it.
VISITS_AHEAD = 4
# Places in a list between asking for one and writing to it, and how many come together.
PLACES_AHEAD, _PLACES_PER_LINE = 512, 16
# Lists that are in use at the same time (see `epb_batches`).
SIDES = 4


@uncounted()
def lists_of(lists: Lists, batch: int) -> Lists:
    """Return the lists of one batch, of arrays with an axis of sides in front."""
    reads, side = lists.reads, batch % SIDES
    return Lists(
        Reads(reads.offsets[side], reads.local[side], reads.weights[side], reads.rows[side]),
        lists.nodes[side],
        lists.words[side],
        lists.own_places[side],
        lists.negative_places[side],
        lists.starts[side],
        lists.ends[side],
        lists.n_read[side],
    )


@uncounted()
def _senders_of(senders: Senders, part: int) -> Senders:
    return Senders(
        senders.offsets[part], senders.ends[part], senders.entries[part], senders.weights[part]
    )


@uncounted()
def scratch_of(scratch: Scratch, part: int) -> Scratch:
    """Return that of one part, of arrays with an axis of parts in front."""
    return Scratch(
        scratch.node_slot[part],
        scratch.word_slot[part],
        scratch.nodes[part],
        scratch.words[part],
        _senders_of(scratch.to_nodes, part),
        _senders_of(scratch.to_words, part),
    )


@uncounted()
def weight_at(weights: Floats, index: int) -> Float:
    """Return one of the weights, of which an empty array stands for ones."""
    return weights[index] if weights.shape[0] > 0 else weights.dtype.type(1)


@uncounted()
def _place(row: int, slot: Ints, rows: Ints, n_rows: int) -> int:
    """Put `row` at the end of a list of n_rows, unless it is there; return how many there are."""
    if slot[Index(row)] < 0:
        slot[Index(row)] = n_rows
        rows[Index(n_rows)] = row
        return n_rows + 1
    return n_rows


@uncounted(forceinline=True)
def is_direct(labels: Labels, draws: Draws) -> bool:
    """Return whether each node is its own label, and edges have no relation.

    Then what a position hears are rows of the table, neighbor_ids[starts[i]:ends[i]], with the
    weights of these edges, and nothing more needs to be listed for each.
    """
    direct: bool = labels.ptr.shape[0] == 0 and draws.neighbor_relations.shape[0] == 0
    return direct


@uncounted()
def _list_ids(ids: Ints, start: int, end: int, slot: Ints, rows: Ints, n_rows: int) -> int:
    """List the distinct of some nodes.

    Half of them are new to the batch, which no branch prediction foresees: so there is no branch,
    and what is not new writes to the first free place, which the next one overwrites.
    """
    # The other threads have read what was here before: where cores share no cache, to call it back
    # takes as long as to list 100 nodes.
    for ahead in range(PLACES_AHEAD, PLACES_AHEAD + end - start, _PLACES_PER_LINE):
        prefetch_number_to_write(rows, n_rows + ahead)
    for e in range(start, end):
        node = ids[e]
        is_new = slot[Index(node)] < 0
        slot[Index(node)] = 0
        rows[Index(n_rows)] = node
        n_rows += 1 if is_new else 0
    return n_rows


@uncounted()
def _list_direct(draws: Draws, low: int, high: int, rows: Ints, slot: Ints) -> int:
    """List the distinct nodes that positions low..high read: neighbors, v itself, negatives."""
    n_rows = 0
    for i in range(low, high):
        if i + VISITS_AHEAD < high:
            prefetch_number(draws.neighbor_ids, draws.starts[i + VISITS_AHEAD])
        start, end = draws.starts[i], draws.ends[i]
        n_rows = _list_ids(draws.neighbor_ids, start, end, slot, rows, n_rows)
        n_rows = _place(draws.nodes[i], slot, rows, n_rows)
        for j in range(draws.negatives.shape[1]):
            n_rows = _place(draws.negatives[i, j], slot, rows, n_rows)
    _clear(slot, rows, n_rows)
    return n_rows


@uncounted()
def _list_heard(
    draws: Draws,
    i: int,
    totals: Floats,
    first_relation: int,
    reads: Reads,
    slot: Ints,
    rows: Ints,
    n_rows: int,
    n_local: int,
) -> int:
    """List what position i hears: neighbors, with weights, and relations if there are any."""
    local, weights, read_rows = reads.local, reads.weights, reads.rows
    edge_weights, relations = draws.neighbor_weights, draws.neighbor_relations
    neighbor_ids = draws.neighbor_ids
    weighted, related = weights.shape[0] > 0, relations.shape[0] > 0
    for e in range(draws.starts[i], draws.ends[i]):
        node = neighbor_ids[e]
        n_rows = _place(node, slot, rows, n_rows)
        local[n_local] = slot[node]
        if weighted:
            weights[n_local] = weight_at(edge_weights, e) * weight_at(totals, node)
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
def _list_nodes(
    draws: Draws, low: int, high: int, totals: Floats, first_relation: int, lists: Lists, slot: Ints
) -> int:
    """Do the same as `_list_direct`, and list for each position what it reads."""
    rows, reads, offsets = lists.nodes, lists.reads, lists.reads.offsets
    nodes, negatives = draws.nodes, draws.negatives
    reads_per_edge = 2 if draws.neighbor_relations.shape[0] > 0 else 1
    n_rows = 0
    offsets[0] = 0
    for i in range(low, high):
        b = i - low
        n_rows = _list_heard(
            draws, i, totals, first_relation, reads, slot, rows, n_rows, offsets[b]
        )
        offsets[b + 1] = offsets[b] + (draws.ends[i] - draws.starts[i]) * reads_per_edge
        n_rows = _place(nodes[i], slot, rows, n_rows)
        lists.own_places[b] = slot[nodes[i]]
        for j in range(negatives.shape[1]):
            n_rows = _place(negatives[i, j], slot, rows, n_rows)
            lists.negative_places[b, j] = slot[negatives[i, j]]
    _clear(slot, rows, n_rows)
    return n_rows


@uncounted()
def _list_labels(labels: Labels, lists: Lists, n_nodes: int, slot: Ints, n_all: int) -> int:
    """List the distinct labels of the nodes of a batch, and where each node's labels stand.

    If these come to far more than n_all, which is how many there are, nearly all are among them:
    then list them all.
    """
    nodes, rows, starts, ends = lists.nodes, lists.words, lists.starts, lists.ends
    ids, ptr = labels.ids, labels.ptr
    n_read = 0
    for i in range(n_nodes):
        starts[i], ends[i] = ptr[nodes[i]], ptr[nodes[i] + 1]
        n_read += ends[i] - starts[i]
    if n_read > 2 * n_all:
        for label in range(n_all):
            rows[label] = label
        return n_all
    n_rows = 0
    for i in range(n_nodes):
        for e in range(starts[i], ends[i]):
            n_rows = _place(ids[e], slot, rows, n_rows)
    _clear(slot, rows, n_rows)
    return n_rows


@uncounted()
def _clear(slot: Ints, rows: Ints, n_rows: int) -> None:
    """Take the rows of a list out of `slot`."""
    for i in range(n_rows):
        slot[Index(rows[i])] = -1


@uncounted()
def list_batch(
    lists: Lists,
    scratch: Scratch,
    labels: Labels,
    draws: Draws,
    low: int,
    high: int,
    n_nodes: int,
    n_labels: int,
) -> None:
    """List what positions low..high read; n_nodes and n_labels are how many there are in all."""
    n_read, slot = lists.n_read, scratch.node_slot
    if is_direct(labels, draws):
        n_read[0] = _list_direct(draws, low, high, lists.nodes, slot)
    else:
        n_read[0] = _list_nodes(draws, low, high, labels.totals, n_nodes, lists, slot)
    n_read[1] = n_read[0]
    if labels.ptr.shape[0] > 0:
        n_read[1] = _list_labels(labels, lists, n_read[0], scratch.word_slot, n_labels)

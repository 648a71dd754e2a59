"""Which rows one mini-batch reads: integers only, listed once for all threads."""

import numpy as np

from embedprop.kernels.epb.batch import (
    SIDES,
    Draws,
    Labels,
    NodeSpace,
    Problem,
    Workspace,
    bounds_of,
)
from embedprop.kernels.epb.segments import weight_at
from embedprop.kernels.machine.arrays import Floats, Index, Ints
from embedprop.kernels.machine.compile import kernel, uncounted
from embedprop.kernels.machine.prefetch import prefetch_number, prefetch_number_to_write

# Visits between asking for a list of neighbors and reading it.
VISITS_AHEAD = 4
# Places in a list between asking for one and writing to it, and how many come together.
PLACES_AHEAD, _PLACES_PER_LINE = 512, 16


@uncounted()
def _place(row: int, slot: Ints, rows: Ints, n_rows: int) -> int:
    """Put `row` at the end of a list of n_rows, unless it is there; return how many there are."""
    if slot[Index(row)] < 0:
        slot[Index(row)] = n_rows
        rows[Index(n_rows)] = row
        return n_rows + 1
    return n_rows


@uncounted()
def _place_all(ids: Ints, start: int, end: int, slot: Ints, rows: Ints, n_rows: int) -> int:
    """Do the same for ids[start:end], whose places nobody asks for.

    Half of them are new to the batch, which no branch prediction foresees: so there is no branch,
    and what is not new writes to the first free place, which the next one overwrites.
    """
    # The other threads have read what was here before: where cores share no cache, to call it back
    # takes as long as to list 100 nodes.
    for ahead in range(PLACES_AHEAD, PLACES_AHEAD + end - start, _PLACES_PER_LINE):
        prefetch_number_to_write(rows, n_rows + ahead)
    for e in range(start, end):
        row = ids[e]
        is_new = slot[Index(row)] < 0
        slot[Index(row)] = 0
        rows[Index(n_rows)] = row
        n_rows += 1 if is_new else 0
    return n_rows


@uncounted()
def _clear(slot: Ints, rows: Ints, n_rows: int) -> None:
    """Take the rows of a list out of `slot`."""
    for i in range(n_rows):
        slot[Index(rows[i])] = -1


@uncounted()
def list_ids(batch: int, part: int, problem: Problem, work: Workspace) -> None:
    """List the rows that a batch reads: neighbors, v itself, negatives; `part` lends its slots."""
    draws, side = problem.draws, batch % SIDES
    slot, rows, n_rows = work.slot[part], work.rows[side], 0
    first, last = bounds_of(batch, problem)
    for i in range(first, last):
        if i + VISITS_AHEAD < last:
            prefetch_number(draws.neighbor_ids, draws.starts[i + VISITS_AHEAD])
        n_rows = _place_all(draws.neighbor_ids, draws.starts[i], draws.ends[i], slot, rows, n_rows)
        n_rows = _place(draws.nodes[i], slot, rows, n_rows)
        for j in range(draws.negatives.shape[1]):
            n_rows = _place(draws.negatives[i, j], slot, rows, n_rows)
    _clear(slot, rows, n_rows)
    work.n_rows[side, 0] = n_rows


@uncounted()
def list_nodes(
    batch: int, part: int, problem: Problem, work: Workspace, labels: Labels, space: NodeSpace
) -> None:
    """List the distinct nodes of a batch, where each position finds its own, and their labels."""
    draws, side = problem.draws, batch % SIDES
    slot, nodes, n_nodes = space.slot[part], space.nodes[side], 0
    own, negatives = space.own[side], space.negatives[side]
    heard, weights, offsets = space.heard[side], space.weights[side], space.offsets[side]
    first, last = bounds_of(batch, problem)
    offsets[0] = n_heard = 0
    for b in range(last - first):
        i = first + b
        for e in range(draws.starts[i], draws.ends[i], problem.reads_per_edge):
            weight = weight_at(draws.neighbor_weights, e) * labels.totals[draws.neighbor_ids[e]]
            # A relation comes after the node x that speaks, and counts as much.
            for read in range(e, e + problem.reads_per_edge):
                node = draws.neighbor_ids[read]
                n_nodes = _place(node, slot, nodes, n_nodes)
                heard[n_heard], weights[n_heard] = slot[node], weight
                n_heard += 1
        offsets[b + 1] = n_heard
        n_nodes = _place(draws.nodes[i], slot, nodes, n_nodes)
        own[b] = slot[draws.nodes[i]]
        for j in range(draws.negatives.shape[1]):
            n_nodes = _place(draws.negatives[i, j], slot, nodes, n_nodes)
            negatives[b, j] = slot[draws.negatives[i, j]]
    _clear(slot, nodes, n_nodes)
    space.n_nodes[side, 0] = n_nodes
    n_labels = problem.table.vectors.shape[1]
    work.n_rows[side, 0] = _list_labels(
        side, labels, space, n_labels, work.slot[part], work.rows[side]
    )


@uncounted()
def _list_labels(
    side: int, labels: Labels, space: NodeSpace, n_labels: int, slot: Ints, rows: Ints
) -> int:
    """List the distinct labels of the nodes of a batch, and where each node's labels stand.

    If these come to far more than n_labels, which is how many there are, nearly all are among
    them: then list them all.
    """
    # Gradients go back the same way: where labels stand is looked up once for both.
    nodes, starts, ends = space.nodes[side], space.starts[side], space.ends[side]
    n_nodes, n_read = space.n_nodes[side, 0], 0
    for i in range(n_nodes):
        starts[i], ends[i] = labels.ptr[nodes[i]], labels.ptr[nodes[i] + 1]
        n_read += ends[i] - starts[i]
    if n_read > 2 * n_labels:
        for label in range(n_labels):
            rows[label] = label
        return n_labels
    n_rows = 0
    for i in range(n_nodes):
        for e in range(starts[i], ends[i]):
            n_rows = _place(labels.ids[e], slot, rows, n_rows)
    _clear(slot, rows, n_rows)
    return n_rows


@kernel()
def with_relations(draws: Draws, n_nodes: int) -> tuple[Ints, Floats, Ints, Ints]:
    """Return lists in which each neighbor is followed by its edge's relation, n_nodes + relation.

    Both have the edge's weight (an empty array: all 1). Returns ids, weights, starts, ends.
    """
    starts, ends, relations = draws.starts, draws.ends, draws.neighbor_relations
    ids, weights = draws.neighbor_ids, draws.neighbor_weights
    new_starts, new_ends = np.empty_like(starts), np.empty_like(ends)
    # Only of these positions: the graph's own lists may be far longer.
    n_edges = (ends - starts).sum()
    new_ids = np.empty(2 * n_edges, np.int32)
    new_weights = np.empty(2 * n_edges if weights.shape[0] > 0 else 0, weights.dtype)
    n = 0
    for i in range(starts.shape[0]):
        new_starts[i] = n
        for e in range(starts[i], ends[i]):
            new_ids[n], new_ids[n + 1] = ids[e], n_nodes + relations[e]
            if weights.shape[0] > 0:
                new_weights[n] = new_weights[n + 1] = weights[e]
            n += 2
        new_ends[i] = n
    return new_ids, new_weights, new_starts, new_ends

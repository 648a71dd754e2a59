"""Mini-batches of EP-B: g~ = mean, margin ranking loss, Adam.

For every position v of a batch, with a negative u (or several):

    h~(v) = sum over x in N(v) of w(x, v) h(x) / sum of w(x, v)
    loss  = [margin + d(h~(v), h(v)) - d(h~(v), h(u))]+,  d(a, b) = |a - b|, or its square

where h(x) is the row of x in the table. With relations h(x) + r takes the place of h(x) in h~,
where r is the learned vector of the edge's relation, a row of the same table after those of nodes.

What moves through memory: each distinct row once to catch up (vectors and direction), each edge
reads one row forward; the backward messages of a batch (about 100 KB) stay in the cache, and each
row that receives some gathers them and changes its moments in one pass (`receive`). A batch reads
its rows in random order, so each is asked for some rows ahead (`prefetch`).

`epb_ids` is for a table where each node is its own label, `epb_shared_labels` for one where nodes
share labels: there h(x) is a mean over labels, and

    h~(v) = sum over x in N(v) of w(x, v) T(x) h(x) / sum of w(x, v) T(x)

where T(x) is the total label weight of x, so that h~ is the mean over all labels of all neighbors.
A relation is a further node, whose only label is a row of the table after those of the labels, and
which counts as much as the node x that it comes with.

h(x) is computed once per distinct node of the batch, and its gradient is summed before it goes on
to the labels of x.

Threads go through the batches of a run side by side. They share the work by columns: each has a
part of every vector, and the arrays of all parts have the part for their first axis. Little goes
from one core's cache to another's: the squared distances of a batch, and the list of what it reads.

Between two meetings a thread finishes one batch and begins the next: they come to meeting m when
they have measured the distances of batch m - 1. Cores are now faster and now slower. So who comes
first lists batch m + 1 for all, while the others catch up; nobody reads that before the next
meeting. There are four lists in turns (SIDES): late threads still read m - 2 and m - 1, and who
came first to the meeting before may not be done with m.
"""

from typing import NamedTuple

from embedprop.kernels.epb.adam import catch_up, part_of
from embedprop.kernels.epb.batch import (
    SIDES,
    Labels,
    NodeSpace,
    Positions,
    Problem,
    Workspace,
    bounds_of,
    senders_of,
)
from embedprop.kernels.epb.positions import (
    compare,
    list_label_senders,
    list_senders,
    receive,
    reconstruct_and_measure,
    send,
)
from embedprop.kernels.epb.reads import list_ids, list_nodes
from embedprop.kernels.epb.segments import sum_segments
from embedprop.kernels.machine.arrays import Floats, Ints
from embedprop.kernels.machine.compile import kernel, uncounted
from embedprop.kernels.machine.meeting import arrive, have_arrived

# Numbers in `Share.place`.
MEETING, IS_WAITING = 0, 1


class Share(NamedTuple):
    """What one thread does: the parts from low to high - 1 of all vectors; how far it has come.

    arrived (1,): how often any of the threads has come to a meeting; place (2,): the MEETING that
    this one goes to, and whether it IS_WAITING there; loss (1,) float64: the summed losses, written
    by the thread that has the first part.
    """

    low: int
    high: int
    n_threads: int
    arrived: Ints
    place: Ints
    loss: Floats


@uncounted(forceinline=True)
def n_batches_of(problem: Problem) -> int:
    """Return how many batches a run has."""
    n_batches: int = -(-problem.draws.nodes.shape[0] // problem.batch_size)
    return n_batches


@uncounted()
def come(share: Share, problem: Problem) -> int:
    """Come to a meeting; return the batch that this thread then lists for all, -1 if none."""
    meeting: int = share.place[MEETING]
    share.place[IS_WAITING] = 1
    # All have come to every meeting before, so the count tells who is the first at this one.
    is_first = arrive(share.arrived) == meeting * share.n_threads
    return meeting + 1 if is_first and meeting + 1 < n_batches_of(problem) else -1


@uncounted()
def have_met(share: Share) -> bool:
    """Wait for the others; return whether all have come, so that this thread can go on."""
    meeting = share.place[MEETING]
    if not have_arrived(share.arrived, (meeting + 1) * share.n_threads):
        return False
    share.place[MEETING], share.place[IS_WAITING] = meeting + 1, 0
    return True


@uncounted()
def add_loss(batch: int, share: Share, problem: Problem, work: Workspace) -> None:
    """Add the losses of a batch, which all parts know, once."""
    if share.low == 0:
        hinges, total = work.hinges[0], work.hinges.dtype.type(0)
        first, last = bounds_of(batch, problem)
        for b in range(last - first):
            for j in range(hinges.shape[1]):
                total += hinges[b, j]
        share.loss[0] += total


@uncounted(forceinline=True)
def _positions_of_ids(batch: int, problem: Problem) -> Positions:
    """Return the draws of a batch: the ids of nodes are the rows of the table."""
    draws = problem.draws
    first, last = bounds_of(batch, problem)
    nodes, negatives = draws.nodes[first:last], draws.negatives[first:last]
    starts, ends = draws.starts[first:last], draws.ends[first:last]
    return Positions(nodes, negatives, draws.neighbor_ids, draws.neighbor_weights, starts, ends)


@uncounted()
def _forward_ids(number: int, batch: int, problem: Problem, work: Workspace) -> None:
    """Catch up what a batch reads, reconstruct h~, and measure how far it is.

    All for one part of the vectors, which knows only its share of each squared distance.
    """
    part, side = part_of(problem.table, number), batch % SIDES
    rows, n_rows = work.rows[side], work.n_rows[side, 0]
    # A batch reads what the step before has left.
    until = problem.n_steps + batch
    catch_up(part, rows, n_rows, until, problem.learning_rate, problem.adam)
    positions = _positions_of_ids(batch, problem)
    reconstruct_and_measure(number, batch, problem, work, positions, part.vectors, True)


@uncounted()
def _backward_ids(number: int, batch: int, problem: Problem, work: Workspace) -> None:
    """Compare the distances of a batch, send gradients, and add them to moments.

    All for one part of the vectors, after every part has measured its share of the distances.
    """
    part, positions = part_of(problem.table, number), _positions_of_ids(batch, problem)
    senders = senders_of(work.to_rows, number)
    compare(number, batch, problem, work)
    hinges, n_positions = work.hinges[number], positions.own.shape[0]
    n_rows: int = list_senders(positions, n_positions, problem.batch_size, hinges, senders)
    send(number, batch, problem, work, positions, part.vectors)
    step, gradient = problem.n_steps + batch + 1, work.gradient[number]
    receive(part, work.messages[number], senders, n_rows, gradient, step, problem.adam)


@kernel()
def epb_ids(share: Share, problem: Problem, work: Workspace) -> bool:
    """Move one thread's share of the table in place by one pass of EP-B over the draws.

    Returns whether it is done; if it is not, it has waited long for the others: call it again.

    Twin     tests/reference.py does the same by autograd and `torch.optim.Adam`.
    Arrays   see the named tuples.
    Trusts   ids in range; every node in `draws` has a neighbor; all slots are -1, all `ends` of
             senders 0; the width of a part is a multiple of BLOCK.
    """
    n_batches = n_batches_of(problem)
    while True:
        meeting = share.place[MEETING]
        to_begin, to_finish = meeting - 1, meeting - 2
        if share.place[IS_WAITING] == 0:
            if meeting == 0 and share.low == 0 and n_batches > 0:
                list_ids(0, share.low, problem, work)
            for part in range(share.low, share.high):
                if to_finish >= 0:
                    _backward_ids(part, to_finish, problem, work)
                if 0 <= to_begin < n_batches:
                    _forward_ids(part, to_begin, problem, work)
            if to_finish >= 0:
                add_loss(to_finish, share, problem, work)
            if to_begin >= n_batches:
                return True  # nobody reads what the last pass has written
            to_list = come(share, problem)
            if to_list >= 0:
                list_ids(to_list, share.low, problem, work)
        if not have_met(share):
            return False


@uncounted(forceinline=True)
def _positions_of_nodes(side: int, space: NodeSpace) -> Positions:
    """Return what was listed of a batch, in places of its distinct nodes."""
    own, negatives, offsets = space.own[side], space.negatives[side], space.offsets[side]
    # List b ends where the next one starts.
    return Positions(own, negatives, space.heard[side], space.weights[side], offsets, offsets[1:])


@uncounted()
def _forward_nodes(
    number: int, batch: int, problem: Problem, work: Workspace, labels: Labels, space: NodeSpace
) -> None:
    """Catch up what a batch reads, compute h and h~, and measure how far they are."""
    part, side, h = part_of(problem.table, number), batch % SIDES, space.embeddings[number]
    rows, n_rows = work.rows[side], work.n_rows[side, 0]
    until = problem.n_steps + batch
    catch_up(part, rows, n_rows, until, problem.learning_rate, problem.adam)
    starts, ends, n_nodes = space.starts[side], space.ends[side], space.n_nodes[side, 0]
    sum_segments(h, part.vectors, labels.ids, labels.weights, starts, ends, n_nodes)
    positions = _positions_of_nodes(side, space)
    reconstruct_and_measure(number, batch, problem, work, positions, h, False)


@uncounted()
def _backward_nodes(
    number: int, batch: int, problem: Problem, work: Workspace, labels: Labels, space: NodeSpace
) -> None:
    """Compare the distances of a batch, send gradients to nodes, and from there to labels."""
    part, side = part_of(problem.table, number), batch % SIDES
    positions, messages = _positions_of_nodes(side, space), work.messages[number]
    to_nodes, to_rows = senders_of(space.to_nodes, number), senders_of(work.to_rows, number)
    first, last = bounds_of(batch, problem)
    compare(number, batch, problem, work)
    hinges = work.hinges[number]
    n_nodes: int = list_senders(positions, last - first, problem.batch_size, hinges, to_nodes)
    send(number, batch, problem, work, positions, space.embeddings[number])
    entries, weights, offsets = to_nodes.entries, to_nodes.weights, to_nodes.offsets
    # A word that several nodes have reads one sum from each, not each of their messages.
    gradients = space.gradients[number]
    sum_segments(gradients, messages, entries, weights, offsets, offsets[1:], n_nodes)
    starts, ends = space.starts[side], space.ends[side]
    n_rows: int = list_label_senders(labels, starts, ends, to_nodes.receivers, n_nodes, to_rows)
    step, gradient = problem.n_steps + batch + 1, work.gradient[number]
    receive(part, gradients, to_rows, n_rows, gradient, step, problem.adam)


@kernel()
def epb_shared_labels(
    share: Share, problem: Problem, work: Workspace, labels: Labels, space: NodeSpace
) -> bool:
    """Do as `epb_ids` does, for a table of labels that nodes share.

    Trusts   what `epb_ids` trusts, and that every node has a label.
    """
    n_batches = n_batches_of(problem)
    while True:
        meeting = share.place[MEETING]
        to_begin, to_finish = meeting - 1, meeting - 2
        if share.place[IS_WAITING] == 0:
            if meeting == 0 and share.low == 0 and n_batches > 0:
                list_nodes(0, share.low, problem, work, labels, space)
            for part in range(share.low, share.high):
                if to_finish >= 0:
                    _backward_nodes(part, to_finish, problem, work, labels, space)
                if 0 <= to_begin < n_batches:
                    _forward_nodes(part, to_begin, problem, work, labels, space)
            if to_finish >= 0:
                add_loss(to_finish, share, problem, work)
            if to_begin >= n_batches:
                return True  # nobody reads what the last pass has written
            to_list = come(share, problem)
            if to_list >= 0:
                list_nodes(to_list, share.low, problem, work, labels, space)
        if not have_met(share):
            return False

"""Mini-batches of EP-B where nodes share labels: as `ids`, but h(x) is a mean over labels.

    h~(v) = sum over x in N(v) of w(x, v) T(x) h(x) / sum of w(x, v) T(x)

where T(x) is the total label weight of x, so that h~ is the mean over all labels of all neighbors.
A relation is a further node, whose only label is a row of the table after those of the labels, and
which counts as much as the node x that it comes with.

h(x) is computed once per distinct node of the batch, and its gradient is summed before it goes on
to the labels of x.
"""

from embedprop.kernels.epb.adam import catch_up
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
from embedprop.kernels.epb.pipeline import (
    IS_WAITING,
    MEETING,
    Share,
    add_loss,
    come,
    have_met,
    n_batches_of,
)
from embedprop.kernels.epb.positions import compare, reconstruct_and_measure, send
from embedprop.kernels.epb.reads import list_nodes
from embedprop.kernels.epb.rows import part_of, receive
from embedprop.kernels.epb.segments import sum_segments
from embedprop.kernels.epb.senders import list_label_senders, list_senders
from embedprop.kernels.machine.compile import kernel, uncounted


@uncounted(forceinline=True)
def _positions_of(side: int, space: NodeSpace) -> Positions:
    """Return what was listed of a batch, in places of its distinct nodes."""
    own, negatives, offsets = space.own[side], space.negatives[side], space.offsets[side]
    # List b ends where the next one starts.
    starts, ends = offsets, offsets[1:]
    return Positions(own, negatives, space.heard[side], space.weights[side], starts, ends)


@uncounted()
def _forward(
    number: int, batch: int, problem: Problem, work: Workspace, labels: Labels, space: NodeSpace
) -> None:
    """Catch up what a batch reads, compute h and h~, and measure how far they are."""
    part, side, h = part_of(problem.table, number), batch % SIDES, space.embeddings[number]
    rows, n_rows = work.rows[side], work.n_rows[side, 0]
    until = problem.n_steps + batch
    catch_up(part, rows, n_rows, until, problem.learning_rate, problem.adam)
    starts, ends, n_nodes = space.starts[side], space.ends[side], space.n_nodes[side, 0]
    sum_segments(h, part.vectors, labels.ids, labels.weights, starts, ends, n_nodes)
    positions = _positions_of(side, space)
    reconstruct_and_measure(number, batch, problem, work, positions, h, False)


@uncounted()
def _backward(
    number: int, batch: int, problem: Problem, work: Workspace, labels: Labels, space: NodeSpace
) -> None:
    """Compare the distances of a batch, send gradients to nodes, and from there to labels."""
    part, side = part_of(problem.table, number), batch % SIDES
    positions, messages = _positions_of(side, space), work.messages[number]
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
                    _backward(part, to_finish, problem, work, labels, space)
                if 0 <= to_begin < n_batches:
                    _forward(part, to_begin, problem, work, labels, space)
            if to_finish >= 0:
                add_loss(to_finish, share, problem, work)
            if to_begin >= n_batches:
                return True  # nobody reads what the last pass has written
            to_list = come(share, problem)
            if to_list >= 0:
                list_nodes(to_list, share.low, problem, work, labels, space)
        if not have_met(share):
            return False

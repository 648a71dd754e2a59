"""Mini-batches of EP-B where each node is its own label: g~ = mean, margin ranking loss, Adam.

For every position v of a batch, with a negative u (or several):

    h~(v) = sum over x in N(v) of w(x, v) h(x) / sum of w(x, v)
    loss  = [margin + d(h~(v), h(v)) - d(h~(v), h(u))]+,  d(a, b) = |a - b|, or its square

where h(x) is the row of x in the table. With relations h(x) + r takes the place of h(x) in h~,
where r is the learned vector of the edge's relation, a row of the same table after those of nodes.

What moves through memory: each distinct row once to catch up (vectors and direction), each edge
reads one row forward; the backward messages of a batch (about 100 KB) stay in the cache, and each
row that receives some gathers them and changes its moments in one pass (`rows`). A batch reads its
rows in random order, so each is asked for some rows ahead (`prefetch`).
"""

from embedprop.kernels.epb.adam import catch_up
from embedprop.kernels.epb.batch import SIDES, Positions, Problem, Workspace, bounds_of, senders_of
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
from embedprop.kernels.epb.reads import list_ids
from embedprop.kernels.epb.rows import part_of, receive
from embedprop.kernels.epb.senders import list_senders
from embedprop.kernels.machine.compile import kernel, uncounted


@uncounted(forceinline=True)
def _positions_of(batch: int, problem: Problem) -> Positions:
    """Return the draws of a batch: the ids of nodes are the rows of the table."""
    draws = problem.draws
    first, last = bounds_of(batch, problem)
    nodes, negatives = draws.nodes[first:last], draws.negatives[first:last]
    starts, ends = draws.starts[first:last], draws.ends[first:last]
    return Positions(nodes, negatives, draws.neighbor_ids, draws.neighbor_weights, starts, ends)


@uncounted()
def _forward(number: int, batch: int, problem: Problem, work: Workspace) -> None:
    """Catch up what a batch reads, reconstruct h~, and measure how far it is.

    All for one part of the vectors, which knows only its share of each squared distance.
    """
    part, side = part_of(problem.table, number), batch % SIDES
    rows, n_rows = work.rows[side], work.n_rows[side, 0]
    # A batch reads what the step before has left.
    until = problem.n_steps + batch
    catch_up(part, rows, n_rows, until, problem.learning_rate, problem.adam)
    positions = _positions_of(batch, problem)
    reconstruct_and_measure(number, batch, problem, work, positions, part.vectors, True)


@uncounted()
def _backward(number: int, batch: int, problem: Problem, work: Workspace) -> None:
    """Compare the distances of a batch, send gradients, and add them to moments.

    All for one part of the vectors, after every part has measured its share of the distances.
    """
    part, positions = part_of(problem.table, number), _positions_of(batch, problem)
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
                    _backward(part, to_finish, problem, work)
                if 0 <= to_begin < n_batches:
                    _forward(part, to_begin, problem, work)
            if to_finish >= 0:
                add_loss(to_finish, share, problem, work)
            if to_begin >= n_batches:
                return True  # nobody reads what the last pass has written
            to_list = come(share, problem)
            if to_list >= 0:
                list_ids(to_list, share.low, problem, work)
        if not have_met(share):
            return False

"""How threads go through the batches of a run side by side.

Threads share the work by columns: each has a part of every vector, and the arrays of all parts have
the part for their first axis. Little goes from one core's cache to another's: the squared distances
of a batch, and the list of what it reads.

Between two meetings a thread finishes one batch and begins the next: they come to meeting m when
they have measured the distances of batch m - 1. Cores are now faster and now slower. So who comes
first lists batch m + 1 for all, while the others catch up; nobody reads that before the next
meeting. There are four lists in turns (SIDES): late threads still read m - 2 and m - 1, and who
came first to the meeting before may not be done with m.
"""

from typing import NamedTuple

from embedprop.kernels.epb.batch import Problem, Workspace, bounds_of
from embedprop.kernels.machine.arrays import Floats, Ints
from embedprop.kernels.machine.compile import uncounted
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

"""The edges between some of the nodes of a graph, as lists of their own."""

import numpy as np

from embedprop.kernels.machine.arrays import Ints
from embedprop.kernels.machine.compile import kernel


@kernel()
def inner_lists(nodes: Ints, ptr: Ints, ids: Ints, place: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the lists of the neighbors of `nodes` that are among them.

    place[x] is the position of node x in `nodes`, or -1. Returns where the list of each starts,
    the neighbors as positions in `nodes`, and the place of each in `ids`.
    """
    starts = np.zeros(nodes.shape[0] + 1, np.int64)
    for i in range(nodes.shape[0]):
        n_inside = 0
        for e in range(ptr[nodes[i]], ptr[nodes[i] + 1]):
            n_inside += place[ids[e]] >= 0
        starts[i + 1] = starts[i] + n_inside
    inside = np.empty(starts[-1], np.int32)
    places = np.empty(starts[-1], np.int64)
    out = 0
    for i in range(nodes.shape[0]):
        for e in range(ptr[nodes[i]], ptr[nodes[i] + 1]):
            position = place[ids[e]]
            if position >= 0:
                inside[out], places[out] = position, e
                out += 1
    return starts, inside, places

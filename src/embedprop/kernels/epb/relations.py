"""Edges that have relations, as two reads each."""

import numpy as np

from embedprop.kernels.epb.batch import Draws
from embedprop.kernels.machine.arrays import Floats, Ints
from embedprop.kernels.machine.compile import kernel


@kernel()
def with_relations(draws: Draws, n_nodes: int) -> tuple[Ints, Floats, Ints, Ints]:
    """Return lists in which each neighbor is followed by its edge's relation, n_nodes + relation.

    Both have the edge's weight (an empty array: all 1). Returns ids, weights, starts, ends.
    """
    starts, ends, relations = draws.starts, draws.ends, draws.neighbor_relations
    ids, weights = draws.neighbor_ids, draws.neighbor_weights
    new_starts, new_ends = np.empty_like(starts), np.empty_like(ends)
    # Only of these positions: the graph's own lists may be far longer.
    n_edges = 0
    for i in range(starts.shape[0]):
        n_edges += ends[i] - starts[i]
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

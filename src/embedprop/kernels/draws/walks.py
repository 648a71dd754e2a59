"""Random walks, uniform or of second order (node2vec): each walk has counters of its own."""

import numpy as np

from embedprop.kernels.draws.counters import uniform
from embedprop.kernels.machine.arrays import Float, Floats, Ints, Key
from embedprop.kernels.machine.compile import kernel

# So many proposals may be refused before the step is drawn from all neighbors, weighted.
MAX_PROPOSALS = 32


@kernel()
def row_sums(ptr: Ints, weights: Floats) -> Floats:
    """Return the running sum of the weights within each row; of no weights, none."""
    sums = np.empty(weights.shape[0], np.float64)
    if weights.shape[0] == 0:
        return sums
    for row in range(ptr.shape[0] - 1):
        total = 0.0
        for e in range(ptr[row], ptr[row + 1]):
            total += weights[e]
            sums[e] = total
    return sums


@kernel()
def _has(ids: Ints, low: int, high: int, wanted: int) -> bool:
    """Whether `wanted` is among the sorted ids[low:high]."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if ids[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and ids[low] == wanted)


@kernel()
def _first_order(ptr: Ints, sums: Floats, node: int, number: Float) -> int:
    """Return the place of a neighbor, drawn by weight; `number` is uniform in [0, 1)."""
    first, last = ptr[node], ptr[node + 1] - 1
    if sums.shape[0] == 0:
        return int(min(first + np.int64(number * (last + 1 - first)), last))
    target = number * sums[last]
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if sums[middle] <= target:
            low = middle + 1
        else:
            high = middle
    return int(low)


@kernel()
def _bias(ptr: Ints, ids: Ints, before: int, node: int, back: Float, away: Float) -> Float:
    """Return node2vec's alpha: 1/p to go back, 1 to stay near `before`, 1/q to leave it."""
    if node == before:
        return back
    return 1.0 if _has(ids, ptr[node], ptr[node + 1], before) else away


@kernel()
def _weighted_step(
    ptr: Ints,
    ids: Ints,
    sums: Floats,
    before: int,
    node: int,
    back: Float,
    away: Float,
    number: Float,
) -> int:
    """Return the next node, drawn by bias times weight over all neighbors of `node`."""
    first, last = ptr[node], ptr[node + 1]
    running = np.empty(last - first, np.float64)
    total, previous = 0.0, 0.0
    for e in range(first, last):
        weight = 1.0
        if sums.shape[0] > 0:
            weight = sums[e] - previous
            previous = sums[e]
        total += weight * _bias(ptr, ids, before, ids[e], back, away)
        running[e - first] = total
    # Rounding may leave the last sum below the number drawn.
    place = np.searchsorted(running, number * total, side="right")
    return int(ids[first + min(place, last - first - 1)])


@kernel()
def walk_ends(nodes: Ints, n_walks: int, ptr: Ints, ids: Ints, sums: Floats, key: Key) -> Ints:
    """Return where `n_walks` walks from each node end, of 1 and 2 steps in turn: (nodes, walks).

    A step goes to a neighbor, drawn by weight; a walk that cannot go on stays where it is. The
    second step may lead back to the start.

    Arrays   ptr, ids the neighbors; sums as `row_sums` gives them, empty for equal weights.
    Draws    by (key, node, 2 * walk + step).
    """
    ends = np.empty((nodes.shape[0], n_walks), np.int32)
    for i in range(nodes.shape[0]):
        for j in range(n_walks):
            node = nodes[i]
            for step in range(1 + j % 2):
                if ptr[node] < ptr[node + 1]:
                    number = uniform(key, nodes[i], 2 * j + step)
                    node = ids[_first_order(ptr, sums, node, number)]
            ends[i, j] = node
    return ends


@kernel()
def walk(
    out: Ints,
    first_walk: int,
    starts: Ints,
    ptr: Ints,
    ids: Ints,
    sums: Floats,
    p: float,
    q: float,
    key: Key,
) -> None:
    """Fill row i of `out` with the walk number first_walk + i, from starts[i]; -1 after a dead end.

    Formula  the next node x after (t, v) is drawn by weight(v, x) * alpha(t, x); p = q = 1: by
             weight alone. By rejection: a proposal by weight is taken with probability alpha / its
             maximum. After MAX_PROPOSALS refusals the step is drawn exactly: the same
             distribution, in bounded time for any p and q.
    Arrays   out (walks, length) int32; ptr, ids the neighbors that an edge leads to, sorted in each
             row; sums as `row_sums` gives them, empty for equal weights.
    Draws    by (key, walk number, draw): a walk does not depend on who computes the others.
    """
    second_order = p != 1.0 or q != 1.0
    back, away = 1.0 / p, 1.0 / q
    largest = max(1.0, back, away)
    for i in range(out.shape[0]):
        number = first_walk + i
        draw = 0
        out[i, :] = -1
        before, node = -1, starts[i]
        out[i, 0] = node
        for step in range(1, out.shape[1]):
            if ptr[node] == ptr[node + 1]:
                break
            chosen = -1
            for _ in range(MAX_PROPOSALS):
                proposed = ids[_first_order(ptr, sums, node, uniform(key, number, draw))]
                draw += 1
                if not second_order or before < 0:
                    chosen = proposed
                    break
                alpha = _bias(ptr, ids, before, proposed, back, away)
                draw += 1
                if uniform(key, number, draw - 1) * largest < alpha:
                    chosen = proposed
                    break
            if chosen < 0:
                last = uniform(key, number, draw)
                draw += 1
                chosen = _weighted_step(ptr, ids, sums, before, node, back, away, last)
            before, node = node, chosen
            out[i, step] = node

"""Sums over segments of rows: what g, g~ and their gradients have in common."""

import numpy as np

from embedprop.kernels.machine.arrays import BLOCK, USUAL_WIDTH, Float, Floats, Index, Ints
from embedprop.kernels.machine.compile import kernel, uncounted
from embedprop.kernels.machine.lanes import lanes, put, total_of
from embedprop.kernels.machine.prefetch import prefetch


@uncounted(forceinline=True)
def weight_at(weights: Floats, index: int) -> Float:
    """Return one of the weights; an empty array stands for ones."""
    return weights[index] if weights.shape[0] > 0 else weights.dtype.type(1)


@uncounted(forceinline=True)
def _set_one(total: Floats, wa: Float, a: Floats) -> None:
    for k in range(0, total.shape[0], BLOCK):
        put(total, k, wa * lanes(a, k))


@uncounted(forceinline=True)
def _add_one(total: Floats, weight: Float, row: Floats) -> None:
    for k in range(0, total.shape[0], BLOCK):
        put(total, k, lanes(total, k) + weight * lanes(row, k))


@uncounted(forceinline=True)
def _add_four(total: Floats, a: Floats, b: Floats, c: Floats, d: Floats, width: int) -> None:
    for k in range(0, width, BLOCK):
        four = (lanes(a, k) + lanes(b, k)) + (lanes(c, k) + lanes(d, k))
        put(total, k, lanes(total, k) + four)


@uncounted(forceinline=True)
def _add_four_weighted(
    total: Floats, weights: Floats, e: int, a: Floats, b: Floats, c: Floats, d: Floats
) -> None:
    wa, wb, wc, wd = weights[e], weights[e + 1], weights[e + 2], weights[e + 3]
    for k in range(0, total.shape[0], BLOCK):
        two = wa * lanes(a, k) + wb * lanes(b, k)
        put(total, k, lanes(total, k) + (two + (wc * lanes(c, k) + wd * lanes(d, k))))


@uncounted(forceinline=True)
def _begin(total: Floats, source: Floats, ids: Ints, weights: Floats, start: int, n: int) -> None:
    """Total = sum of the first n < 4 rows."""
    if n == 0:
        total[:] = 0
        return
    _set_one(total, weight_at(weights, start), source[ids[start]])
    for e in range(start + 1, start + n):
        _add_one(total, weight_at(weights, e), source[ids[e]])


@uncounted(forceinline=True)
def sum_rows(
    total: Floats, source: Floats, ids: Ints, weights: Floats, start: int, end: int, far: bool
) -> None:
    """Total = sum of weights[e] * source[ids[e]] over start <= e < end; no weights: all 1.

    Four rows at a time: four independent reads are under way at once, and `total` goes through
    the cache a quarter as often. far: whether `source` is more than the nearest caches hold.
    """
    weighted = weights.shape[0] > 0
    n_first = (end - start) % 4
    _begin(total, source, ids, weights, start, n_first)
    for e in range(start + n_first, end, 4):
        if far and e + 8 <= end:
            for ahead in range(e + 4, e + 8):
                prefetch(source, ids[ahead])
        a, b = source[Index(ids[e])], source[Index(ids[e + 1])]
        c, d = source[Index(ids[e + 2])], source[Index(ids[e + 3])]
        if weighted:
            _add_four_weighted(total, weights, e, a, b, c, d)
        elif total.shape[0] == USUAL_WIDTH:
            _add_four(total, a, b, c, d, USUAL_WIDTH)
        else:
            _add_four(total, a, b, c, d, total.shape[0])


@uncounted(forceinline=True)
def sum_segments(
    out: Floats, source: Floats, ids: Ints, weights: Floats, starts: Ints, ends: Ints, n: int
) -> None:
    """out[i] = the sum over segment i, for i < n."""
    for i in range(n):
        sum_rows(out[i], source, ids, weights, starts[i], ends[i], False)


@uncounted(forceinline=True)
def squared_distance(a: Floats, b: Floats, k: int) -> Float:
    """Return |a - b|^2 over the BLOCK columns from k on."""
    difference = lanes(a, k) - lanes(b, k)
    return total_of(difference * difference)


@kernel()
def weighted_means(
    source: Floats,
    low: int,
    high: int,
    masses: Floats,
    ptr: Ints,
    ids: Ints,
    weights: Floats,
    out: Floats,
    out_low: int,
) -> Floats:
    """Write the weighted mean of columns low..high of source[ids] per set into out[:, out_low:].

    A member counts weights[e] * masses[ids[e]]; an empty array stands for ones, a mass of 0 for
    an unknown member. Returns the total weight of each set; without any, its row is left alone.
    """
    totals = np.zeros(ptr.shape[0] - 1, np.float32)
    # Sums in float64 do not show in which order the members came.
    sums = np.empty(high - low)
    for i in range(totals.shape[0]):
        sums[:] = 0.0
        total = 0.0
        for e in range(ptr[i], ptr[i + 1]):
            weight = np.float64(weights[e]) if weights.shape[0] > 0 else 1.0
            if masses.shape[0] > 0:
                weight *= masses[ids[e]]
            if weight == 0.0:
                continue
            total += weight
            member = source[ids[e]]
            for k in range(sums.shape[0]):
                sums[k] += weight * member[low + k]
        if total > 0.0:
            for k in range(sums.shape[0]):
                out[i, out_low + k] = sums[k] / total
        totals[i] = total
    return totals

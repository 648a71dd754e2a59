"""Sums over segments of rows: what g, g~ and their gradients have in common."""

import numpy as np
from numba import prange

from embedprop.kernels.arrays import Float, Floats, Ints
from embedprop.kernels.compile import kernel
from embedprop.kernels.prefetch import prefetch


@kernel()
def _set_one(total: Floats, wa: Float, a: Floats) -> None:
    for k in range(total.shape[0]):
        total[k] = wa * a[k]


@kernel()
def _set_two(total: Floats, wa: Float, a: Floats, wb: Float, b: Floats) -> None:
    for k in range(total.shape[0]):
        total[k] = wa * a[k] + wb * b[k]


@kernel()
def _add_one(total: Floats, weight: Float, row: Floats) -> None:
    for k in range(total.shape[0]):
        total[k] += weight * row[k]


@kernel()
def _add_four(total: Floats, a: Floats, b: Floats, c: Floats, d: Floats) -> None:
    for k in range(total.shape[0]):
        total[k] += (a[k] + b[k]) + (c[k] + d[k])


@kernel()
def _add_four_weighted(
    total: Floats,
    wa: Float,
    a: Floats,
    wb: Float,
    b: Floats,
    wc: Float,
    c: Floats,
    wd: Float,
    d: Floats,
) -> None:
    for k in range(total.shape[0]):
        total[k] += (wa * a[k] + wb * b[k]) + (wc * c[k] + wd * d[k])


@kernel()
def _begin(total: Floats, source: Floats, ids: Ints, weights: Floats, start: int, n: int) -> None:
    """Total = sum of the first n < 4 rows."""
    one = total.dtype.type(1)
    weighted = weights.shape[0] > 0
    wa = weights[start] if weighted else one
    if n == 0:
        total[:] = 0
    elif n == 1:
        _set_one(total, wa, source[ids[start]])
    else:
        wb = weights[start + 1] if weighted else one
        _set_two(total, wa, source[ids[start]], wb, source[ids[start + 1]])
        if n == 3:
            wc = weights[start + 2] if weighted else one
            _add_one(total, wc, source[ids[start + 2]])


@kernel()
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
        a, b = source[ids[e]], source[ids[e + 1]]
        c, d = source[ids[e + 2]], source[ids[e + 3]]
        if weighted:
            _add_four_weighted(
                total, weights[e], a, weights[e + 1], b, weights[e + 2], c, weights[e + 3], d
            )
        else:
            _add_four(total, a, b, c, d)


@kernel()
def split(starts: Ints, ends: Ints, low: int, high: int, extra: int, bounds: Ints) -> None:
    """Cut low..high into contiguous parts of about equal cost: segment length + `extra` each."""
    n_parts = bounds.shape[0] - 1
    cost = 0
    for i in range(low, high):
        cost += ends[i] - starts[i] + extra
    part, done = 1, 0
    bounds[0] = low
    for i in range(low, high):
        own = ends[i] - starts[i] + extra
        while part < n_parts and (2 * done + own) * n_parts >= 2 * part * cost:
            bounds[part] = i
            part += 1
        done += own
    bounds[part:] = high


@kernel(parallel=True)
def sum_segments(
    out: Floats,
    source: Floats,
    ids: Ints,
    weights: Floats,
    starts: Ints,
    ends: Ints,
    n: int,
    bounds: Ints,
) -> None:
    """out[i] = the sum over segment i, for i < n; each by one thread, in order."""
    split(starts, ends, 0, n, 1, bounds)
    for part in prange(bounds.shape[0] - 1):
        for i in range(bounds[part], bounds[part + 1]):
            sum_rows(out[i], source, ids, weights, starts[i], ends[i], False)


@kernel(fastmath={"reassoc", "contract"})
def distance(a: Floats, b: Floats) -> Float:
    """Return the Euclidean distance; reordering the sum lets it use vector registers."""
    total = a.dtype.type(0)
    for k in range(a.shape[0]):
        total += (a[k] - b[k]) * (a[k] - b[k])
    return np.sqrt(total)


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

"""Draws from a fixed distribution in constant time (Walker's alias method)."""

import numpy as np

from embedprop.kernels.machine.arrays import Float, Floats, Ints
from embedprop.kernels.machine.compile import kernel


@kernel()
def alias_table(weights: Floats) -> tuple[Floats, Ints]:
    """Return (keep, other): place i is kept with probability keep[i], else other[i] is taken."""
    n = weights.shape[0]
    keep = weights.astype(np.float64) * (n / weights.astype(np.float64).sum())
    other = np.arange(n).astype(np.int32)
    small, large = np.empty(n, np.int32), np.empty(n, np.int32)
    n_small, n_large = 0, 0
    for i in range(n):
        if keep[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        poor, rich = small[n_small], large[n_large - 1]
        other[poor] = rich
        keep[rich] -= 1.0 - keep[poor]
        if keep[rich] < 1.0:
            n_large -= 1
            small[n_small] = rich
            n_small += 1
    # What is left is 1 but for rounding.
    for i in range(n_small):
        keep[small[i]] = 1.0
    for i in range(n_large):
        keep[large[i]] = 1.0
    return keep, other


@kernel()
def draw_alias(keep: Floats, other: Ints, number: Float) -> int:
    """Return a place; `number` is uniform in [0, 1)."""
    scaled = number * keep.shape[0]
    place = min(np.int64(scaled), keep.shape[0] - 1)
    return int(place if scaled - place < keep[place] else other[place])

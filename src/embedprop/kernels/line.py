"""LINE: stochastic gradient descent over sampled edges with negatives, one edge after the other.

Edges and negatives are drawn from fixed distributions in constant time (Walker's alias method).
"""

import numpy as np

from embedprop.kernels.draws.counters import uniform
from embedprop.kernels.machine.arrays import Float, Floats, Ints, Key
from embedprop.kernels.machine.compile import kernel

# As in the reference: the sigmoid is 0 or 1 beyond this, and the rate never falls below this share.
_BOUND = np.float32(6.0)
_LOWEST_SHARE = 1e-4


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


@kernel(fastmath={"reassoc", "contract"})
def _dot(a: Floats, b: Floats) -> Float:
    total = a.dtype.type(0)
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@kernel()
def _move(error: Floats, source: Floats, target: Floats, gain: Float) -> None:
    for k in range(source.shape[0]):
        error[k] += gain * target[k]
        target[k] += gain * source[k]


@kernel()
def _sigmoid(x: Float) -> Float:
    if x > _BOUND:
        return np.float32(1.0)
    if x < -_BOUND:
        return np.float32(0.0)
    return np.float32(1.0) / (np.float32(1.0) + np.exp(-x))


@kernel()
def train_edges(
    vectors: Floats,
    contexts: Floats,
    edges: Ints,
    edge_keep: Floats,
    edge_other: Ints,
    node_keep: Floats,
    node_other: Ints,
    n_samples: int,
    n_negatives: int,
    rate: float,
    key: Key,
) -> None:
    """Move `vectors` and `contexts` in place by `n_samples` edges drawn by weight.

    Formula  for an edge (u, v): ascend log s(u v') + sum over negatives n of log s(-u n'), where x'
             is the context of x; the rate falls linearly to 0.
    Arrays   vectors, contexts (n_nodes, dim) float32, the same array for the first order;
             edges (n_edges, 2); *_keep, *_other as `alias_table` gives them.
    """
    error = np.empty(vectors.shape[1], vectors.dtype)
    one = vectors.dtype.type(1)
    for sample in range(n_samples):
        share = max(1.0 - sample / n_samples, _LOWEST_SHARE)
        now = vectors.dtype.type(rate * share)
        edge = draw_alias(edge_keep, edge_other, uniform(key, sample, 0))
        source = vectors[edges[edge, 0]]
        error[:] = 0
        target = contexts[edges[edge, 1]]
        _move(error, source, target, now * (one - _sigmoid(_dot(source, target))))
        for j in range(n_negatives):
            target = contexts[draw_alias(node_keep, node_other, uniform(key, sample, j + 1))]
            _move(error, source, target, -now * _sigmoid(_dot(source, target)))
        for k in range(error.shape[0]):
            source[k] += error[k]

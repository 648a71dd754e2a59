"""Random draws from counters: the same (key, node, index) gives the same number, whoever asks."""

import numpy as np

from embedprop.kernels.machine.arrays import Floats, Ints, Key
from embedprop.kernels.machine.compile import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_MAX_REDRAWS = 100


@kernel()
def _mix(x: Key) -> Key:
    """Scramble 64 bits (the finalizer of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * _MIX1
    x = (x ^ (x >> np.uint64(27))) * _MIX2
    return x ^ (x >> np.uint64(31))


@kernel()
def uniform(key: Key, node: int, index: int) -> float:
    """Return a number in [0, 1), the `index`-th of `node` under `key`."""
    x = _mix(key + np.uint64(node) * _GOLDEN)
    x = _mix(x + (np.uint64(index) + np.uint64(1)) * _GOLDEN)
    return np.float64(x >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel()
def other_node(node: int, n_nodes: int, number: float) -> int:
    """Return a node u != v; `number` is uniform in [0, 1)."""
    other = np.int64(number * (n_nodes - 1))
    return int(other + 1 if other >= node else other)


@kernel()
def draw_uniform(
    nodes: Ints, visits: Ints, _batch_size: int, n_nodes: int, n_negatives: int, key: Key
) -> Ints:
    """Return n_negatives nodes u != v for each v, uniform over the others: (nodes, negatives).

    Draws    by (key, visit, index): a node that is visited several times draws each time afresh.
    """
    drawn = np.empty((nodes.shape[0], n_negatives), np.int32)
    for i in range(nodes.shape[0]):
        for j in range(n_negatives):
            drawn[i, j] = other_node(nodes[i], n_nodes, uniform(key, visits[i], j))
    return drawn


@kernel()
def draw_shared(
    nodes: Ints, visits: Ints, batch_size: int, n_nodes: int, n_negatives: int, key: Key
) -> Ints:
    """Return the same n_negatives uniform nodes for all v of a batch; another where it is v.

    Draws    by (key, first visit of the batch, index).
    """
    drawn = np.empty((nodes.shape[0], n_negatives), np.int32)
    for i in range(nodes.shape[0]):
        first = visits[i - i % batch_size]
        for j in range(n_negatives):
            other = np.int64(uniform(key, first, j) * n_nodes)
            if other == nodes[i]:
                other = other_node(nodes[i], n_nodes, uniform(key, visits[i], n_negatives + j))
            drawn[i, j] = other
    return drawn


@kernel()
def draw_in_batch(
    nodes: Ints, visits: Ints, batch_size: int, n_nodes: int, n_negatives: int, key: Key
) -> Ints:
    """Return for each v the n_negatives nodes u != v that come next in its batch, in a circle.

    A batch with too few others adds uniform nodes, as `draw_uniform` draws them.
    """
    drawn = np.empty((nodes.shape[0], n_negatives), np.int32)
    for i in range(nodes.shape[0]):
        low = i - i % batch_size
        size = min(batch_size, nodes.shape[0] - low)
        n_found, gone = 0, 1
        while n_found < n_negatives and gone < size:
            other = nodes[low + (i - low + gone) % size]
            gone += 1
            if other != nodes[i]:
                drawn[i, n_found] = other
                n_found += 1
        for j in range(n_found, n_negatives):
            drawn[i, j] = other_node(nodes[i], n_nodes, uniform(key, visits[i], j))
    return drawn


@kernel()
def draw_weighted(
    nodes: Ints, visits: Ints, _batch_size: int, cumulative: Floats, n_negatives: int, key: Key
) -> Ints:
    """Return n_negatives nodes u != v for each v, by the weights whose running sum is given."""
    n_nodes = cumulative.shape[0]
    total = cumulative[n_nodes - 1]
    drawn = np.empty((nodes.shape[0], n_negatives), np.int32)
    for i in range(nodes.shape[0]):
        index = 0
        for j in range(n_negatives):
            other = nodes[i]
            for _ in range(_MAX_REDRAWS):
                target = uniform(key, visits[i], index) * total
                other = min(np.searchsorted(cumulative, target, side="right"), n_nodes - 1)
                index += 1
                if other != nodes[i]:
                    break
            if other == nodes[i]:
                # One node has nearly all the weight: take any other, so that u != v holds.
                other = nodes[i] + 1 + np.int64(uniform(key, visits[i], index) * (n_nodes - 1))
                other = other % n_nodes
                index += 1
            drawn[i, j] = other
    return drawn


@kernel()
def draw_neighbors(
    nodes: Ints, ptr: Ints, most: int, starts: Ints, key: Key, max_size: int
) -> Ints:
    """Return the places in the CSR of at most `most` neighbors of each node, without replacement.

    The places of nodes[i] stand from starts[i] on. Floyd's method: `most` draws per node, whatever
    its degree.
    """
    places = np.empty(starts[-1], np.int64)
    last_seen = np.full(max_size, -1, np.int64)
    for i in range(nodes.shape[0]):
        first, size = ptr[nodes[i]], ptr[nodes[i] + 1] - ptr[nodes[i]]
        out = starts[i]
        if size <= most:
            for e in range(size):
                places[out + e] = first + e
            continue
        # Floyd: of the first e + 1 places one is drawn; if it is taken, e itself is free.
        for e in range(size - most, size):
            drawn = np.int64(uniform(key, nodes[i], e) * (e + 1))
            chosen = e if last_seen[drawn] == i else drawn
            last_seen[chosen] = i
            places[out] = first + chosen
            out += 1
    return places

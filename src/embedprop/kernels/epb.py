"""Mini-batches of EP-B: g = g~ = mean, Euclidean distance, margin ranking loss, Adam.

For every position v of a batch, with a negative u (or several):

    h~(v) = sum over x in N(v) of w(x, v) T(x) h(x) / sum of w(x, v) T(x)
    loss  = [margin + |h~(v) - h(v)| - |h~(v) - h(u)|]+

where T(x) is the total label weight of x, so that h~ is the mean over all labels of all
neighbors. With relations h(x) + r takes the place of h(x) in h~, where r is the learned vector of
the edge's relation, a row of the same table after those of the labels.

h(x) is computed once per distinct node of the batch. What moves through memory: each distinct
label row once to catch up (vectors and direction), each edge reads one row forward; the backward
messages of a batch (about 100 KB) stay in the cache, and each row that receives some gathers them
and changes its moments in one pass (`rows`). A batch reads its rows in random order, so each is
asked for some rows ahead (`prefetch`). Every row has one writer and every sum one order, so the
bytes do not depend on the number of threads.
"""

from typing import NamedTuple

import numpy as np
from numba import prange

from embedprop.kernels.adam import AdamTables, Table
from embedprop.kernels.arrays import Float, Floats, Ints
from embedprop.kernels.batch import (
    Draws,
    Labels,
    Reads,
    Scratch,
    clear,
    list_label_senders,
    list_labels,
    list_nodes,
    list_senders,
)
from embedprop.kernels.compile import kernel
from embedprop.kernels.rows import backward, catch_up_rows
from embedprop.kernels.segments import distance, split, sum_rows, sum_segments


class Settings(NamedTuple):
    """Numbers that hold for a whole run."""

    batch_size: int
    margin: Float
    learning_rate: float
    n_parts: int
    n_nodes: int


class Buffers(NamedTuple):
    """Working memory for vectors.

    messages ((2 + n_negatives) * batch_size, dim): the backward messages of a batch; gradients
    (n_parts, dim): one row per thread; embeddings and node_gradients (nodes of a batch, dim): h(x)
    and its gradient, empty for the type `node`.
    """

    messages: Floats
    gradients: Floats
    embeddings: Floats
    node_gradients: Floats


@kernel()
def reconstruct(
    h: Floats, source: Floats, draws: Draws, i: int, reads: Reads, b: int, single: bool
) -> Float:
    """Write h~ of position i (the b-th of its batch) into `h`; return 1 / sum of the weights."""
    related = draws.neighbor_relations.shape[0] > 0
    if single and not related:
        start, end = draws.starts[i], draws.ends[i]
        sum_rows(h, source, draws.neighbor_ids, draws.neighbor_weights, start, end, True)
    else:
        ids = reads.rows if single else reads.local
        sum_rows(h, source, ids, reads.weights, reads.offsets[b], reads.offsets[b + 1], single)
    total = 0.0
    if reads.weights.shape[0] > 0:
        for e in range(reads.offsets[b], reads.offsets[b + 1]):
            total += reads.weights[e]
    else:
        total = reads.offsets[b + 1] - reads.offsets[b]
    if related:
        total *= 0.5  # each edge was read twice
    scale = h.dtype.type(1.0 / total)
    for k in range(h.shape[0]):
        h[k] *= scale
    return scale


@kernel()
def compare(h: Floats, h_other: Floats, d_own: Float, margin: Float, message: Floats) -> Float:
    """Return [margin + d(h~, h(v)) - d(h~, h(u))]+; unless it is 0, write its gradient in h(u)."""
    kind = h.dtype.type
    d_other = distance(h, h_other)
    hinge = margin + d_own - d_other
    # Written so that NaN counts as a violation and shows in the loss.
    if hinge <= 0:
        return kind(0)
    # The distance has no gradient at 0; like autograd, take 0.
    inverse = kind(1) / d_other if d_other > 0 else kind(0)
    for k in range(h.shape[0]):
        message[k] = (h[k] - h_other[k]) * inverse
    return hinge


@kernel()
def send(
    h: Floats,
    h_own: Floats,
    d_own: Float,
    hinges: Floats,
    messages: Floats,
    b: int,
    batch_size: int,
    scale: Float,
) -> None:
    """Write the gradients in h(v) and in the neighbors of position b from those in its h(u)."""
    kind = h.dtype.type
    own = messages[batch_size + b]
    n_violated = 0
    for j in range(hinges.shape[0]):
        n_violated += 1 if hinges[j] != 0 else 0
    inverse = kind(n_violated) / d_own if d_own > 0 else kind(0)
    for k in range(h.shape[0]):
        own[k] = (h_own[k] - h[k]) * inverse
        h[k] = -own[k]
    for j in range(hinges.shape[0]):
        if hinges[j] != 0:
            other = messages[(2 + j) * batch_size + b]
            for k in range(h.shape[0]):
                h[k] -= other[k]
    for k in range(h.shape[0]):
        h[k] *= scale


@kernel(parallel=True)
def forward(
    source: Floats,
    draws: Draws,
    low: int,
    high: int,
    reads: Reads,
    slot: Ints,
    single: bool,
    settings: Settings,
    messages: Floats,
    hinges: Floats,
    bounds: Ints,
) -> None:
    """Reconstruct and compare positions low..high; hinges[b, j] is 0 where the margin is kept."""
    batch_size = settings.batch_size
    split(draws.starts, draws.ends, low, high, 4, bounds)
    for part in prange(bounds.shape[0] - 1):
        for i in range(bounds[part], bounds[part + 1]):
            b = i - low
            h = messages[b]
            scale = reconstruct(h, source, draws, i, reads, b, single)
            node = draws.nodes[i]
            h_own = source[node if single else slot[node]]
            d_own = distance(h, h_own)
            violated = False
            for j in range(hinges.shape[1]):
                node = draws.negatives[i, j]
                h_other = source[node if single else slot[node]]
                hinges[b, j] = compare(
                    h, h_other, d_own, settings.margin, messages[(2 + j) * batch_size + b]
                )
                violated |= hinges[b, j] != 0
            if violated:
                send(h, h_own, d_own, hinges[b], messages, b, batch_size, scale)


@kernel()
def epb_batches(
    table: Table,
    labels: Labels,
    draws: Draws,
    settings: Settings,
    step: int,
    tables: AdamTables,
    buffers: Buffers,
    reads: Reads,
    nodes: Scratch,
    words: Scratch,
) -> float:
    """Move `table` in place by one pass of EP-B over `draws`; return the summed loss.

    Twin     tests/reference.py does the same by autograd and `torch.optim.Adam`.
    Arrays   see the named tuples; `nodes` and `words` are the Scratch of nodes and of labels (for
             the type `node` only the first is used), `step` is the number of steps done so far.
    Trusts   ids in range; every node in `draws` has a neighbor; every node has a label; the slots
             of both Scratch are -1.
    """
    single = labels.ptr.shape[0] == 0
    hinges = np.zeros((settings.batch_size, draws.negatives.shape[1]))
    bounds = np.zeros(settings.n_parts + 1, np.int64)
    total = 0.0
    for low in range(0, draws.nodes.shape[0], settings.batch_size):
        high = min(low + settings.batch_size, draws.nodes.shape[0])
        step += 1
        n_nodes = list_nodes(draws, low, high, labels.totals, settings.n_nodes, reads, nodes)
        scratch, n_rows, source = nodes, n_nodes, table.vectors
        if not single:
            n_rows = list_labels(labels, nodes.rows, n_nodes, nodes.starts, nodes.ends, words)
            scratch, source = words, buffers.embeddings
        catch_up_rows(
            table, scratch.rows, n_rows, step - 1, settings.learning_rate, tables, settings.n_parts
        )
        if not single:
            sum_segments(
                buffers.embeddings, table.vectors, labels.ids, labels.weights,
                nodes.starts, nodes.ends, n_nodes, bounds,
            )  # fmt: skip
        forward(
            source,
            draws,
            low,
            high,
            reads,
            nodes.slot,
            single,
            settings,
            buffers.messages,
            hinges,
            bounds,
        )
        total += hinges[: high - low].sum()
        list_senders(draws, low, high, settings.batch_size, hinges, reads, nodes, n_nodes)
        messages = buffers.messages
        if not single:
            sum_segments(
                buffers.node_gradients, buffers.messages, nodes.entries, nodes.weights,
                nodes.starts, nodes.ends, n_nodes, bounds,
            )  # fmt: skip
            list_label_senders(labels, nodes.rows, n_nodes, nodes, words, n_rows)
            messages = buffers.node_gradients
            clear(words, n_rows)
        backward(table, messages, scratch, n_rows, buffers.gradients, step, tables, bounds)
        clear(nodes, n_nodes)
    return total

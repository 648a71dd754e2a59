"""Sparse graphs made denser for LINE, as its authors do it: edges to neighbors of neighbors."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, vstack

# Bounds the memory for neighbors of neighbors.
_ROWS_AT_A_TIME = 1024


def densified(edges: csr_array[Any], n_targets: int) -> csr_array[Any]:
    """Lead edges from sources with few targets to their targets' targets, too, and to themselves.

    From v the weights are w(v, u), plus w(v, x) w(x, u) / (sum of the weights from x) by way of
    each x, plus for v itself a tenth of its weights, out and in. The largest ones are kept; a
    source that has more targets than that stays as it is.
    """
    out, into = (np.asarray(edges.sum(axis=axis)).ravel() for axis in (1, 0))
    # A second step leads from x to each target by its share of the weights from x.
    shares = diags_array(1 / np.where(out > 0, out, 1)) @ edges
    self_links = csr_array(diags_array((out + into) / 10))
    pieces = []
    for low in range(0, edges.shape[0], _ROWS_AT_A_TIME):
        rows = slice(low, low + _ROWS_AT_A_TIME)
        direct = csr_array(edges[rows])
        dense = csr_array(direct + direct @ shares + self_links[rows])
        pieces.append(_largest(direct, dense, n_targets))
    return csr_array(vstack(pieces))


def _largest(direct: csr_array[Any], dense: csr_array[Any], n: int) -> csr_array[Any]:
    """Return the n largest weights of each dense row, or the direct row if it has more."""
    ids, weights = [], []
    for i in range(direct.shape[0]):
        source = dense if direct.indptr[i + 1] - direct.indptr[i] <= n else direct
        row = slice(source.indptr[i], source.indptr[i + 1])
        near, weight = source.indices[row], source.data[row]
        if source is dense:
            # Stable: of equal weights the lower id is kept. Then by id, the order of a row.
            best = np.sort(np.argsort(-weight, kind="stable")[:n])
            near, weight = near[best], weight[best]
        ids.append(near)
        weights.append(weight)
    ptr = np.concatenate([[0], np.cumsum([len(near) for near in ids])])
    return csr_array((np.concatenate(weights), np.concatenate(ids), ptr), shape=direct.shape)

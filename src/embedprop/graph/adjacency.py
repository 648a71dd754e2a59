"""Edges as pairs of ids → N(v), the neighbours of every node, each edge once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph.multisets import Multisets

Ids = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """Rows of a checked edge table: no zero weights, and self-loops only where they are kept."""

    n_nodes: int
    sources: Ids
    targets: Ids
    weights: NDArray[np.floating[Any]] | None
    relation_ids: Ids | None
    n_relations: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows are nodes, columns (neighbour, relation), so that only equal relations collapse."""
        return self.n_nodes, self.n_nodes * max(self.n_relations, 1)


@dataclass(frozen=True, eq=False)
class Adjacency:
    """N(v) of every node, the relation of each entry, and the number of distinct edges."""

    neighbors: Multisets
    relation_ids: Ids | None
    n_edges: int


def directed_adjacency(edges: EdgeTable) -> Adjacency:
    """Return the in-neighbours of every node, sorted by id, then by relation."""
    columns = _columns(edges.sources, edges.relation_ids, edges)
    matrix = _collapsed(edges.targets, columns, edges.weights, edges)
    return _adjacency(matrix, edges, n_edges=matrix.nnz)


def undirected_adjacency(edges: EdgeTable) -> Adjacency:
    """Return the neighbours of every node, sorted by id, then by relation.

    Each edge is first written from its smaller to its larger node, so that (a, b) and (b, a) meet
    and their weights are summed once: both directions then weigh the same to the last bit.
    """
    low = np.minimum(edges.sources, edges.targets)
    high = np.maximum(edges.sources, edges.targets)
    columns = _columns(high, edges.relation_ids, edges)
    del high
    half = _collapsed(low, columns, edges.weights, edges)
    del low, columns
    n_edges = half.nnz
    if edges.relation_ids is not None:
        return _adjacency(_mirrored(half, edges), edges, n_edges)
    if edges.weights is None:
        half.data[:] = 1  # 256 ones make a zero byte, and the sum below leaves zeros out
    else:
        # A self-loop meets itself in the sum below; half of a float is exact.
        half.data[half.indices == _row_ids(half)] *= 0.5
    return _adjacency(half + half.T.tocsr(), edges, n_edges)


def _columns(ids: Ids, relation_ids: Ids | None, edges: EdgeTable) -> NDArray[Any]:
    """Return the column of each (neighbour, relation)."""
    if relation_ids is None:
        return ids
    columns: NDArray[Any] = ids.astype(
        np.int32 if edges.shape[1] <= np.iinfo(np.int32).max else np.int64
    )
    columns *= edges.n_relations
    columns += relation_ids
    return columns


def _collapsed(
    rows: Ids, columns: NDArray[Any], weights: NDArray[Any] | None, edges: EdgeTable
) -> Any:
    """Return the CSR matrix of the entries: sorted rows, repeated entries added up."""
    from scipy.sparse import coo_array

    # Without weights one byte per entry is enough: what the sum holds is never read.
    data = np.ones(len(rows), dtype=np.int8) if weights is None else weights.astype(np.float64)
    return coo_array((data, (rows, columns)), shape=edges.shape).tocsr()


def _mirrored(half: Any, edges: EdgeTable) -> Any:
    """Return each entry of `half` in both directions, with the same relation."""
    low = _row_ids(half)
    high, relations = np.divmod(half.indices, edges.n_relations)
    back = low != high  # a self-loop is its own mirror image
    weights = None if edges.weights is None else np.concatenate([half.data, half.data[back]])
    return _collapsed(
        np.concatenate([low, high[back].astype(np.int32)]),
        _columns(
            np.concatenate([high.astype(np.int32), low[back]]),
            np.concatenate([relations, relations[back]]).astype(np.int32),
            edges,
        ),
        weights,
        edges,
    )


def _adjacency(matrix: Any, edges: EdgeTable, n_edges: int) -> Adjacency:
    ids, relations = matrix.indices, None
    if edges.relation_ids is not None:
        ids, relations = np.divmod(matrix.indices, edges.n_relations)
        relations = relations.astype(np.int32)
        relations.flags.writeable = False
    weights = None if edges.weights is None else summed_weights(matrix.data, "duplicate edges")
    neighbors = Multisets(matrix.indptr, ids, weights)
    return Adjacency(neighbors, relations, int(n_edges))


def summed_weights(sums: NDArray[Any], what: str) -> NDArray[np.float32]:
    """Return sums of weights as float32; `what` names in the error message what was added up."""
    if len(sums) and sums.max() > np.finfo(np.float32).max:
        raise InvalidGraphError(
            f"The weights of {what} add up to {sums.max():.3g}, more than float32 can hold. "
            f"Divide all weights by a constant."
        )
    return sums.astype(np.float32)


def _row_ids(matrix: Any) -> Ids:
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))

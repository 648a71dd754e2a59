"""Edges as pairs of ids → N(v), the neighbors of every node, each edge once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph.arrays import Ids, Weights
from embedprop.graph.multisets import Multisets, taken
from embedprop.graph.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class EdgeRows:
    """The rows of an edge table as ids: source and target, weight and relation where given."""

    sources: Ids
    targets: Ids
    weights: NDArray[np.floating[Any]] | None = None
    relation_ids: Ids | None = None
    relations: Vocabulary | None = None

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def n_relations(self) -> int:
        """The number of relations; 1 where edges have none."""
        return 1 if self.relations is None else len(self.relations)

    def keeping(self, kept: NDArray[np.bool_]) -> EdgeRows:
        """Return the rows where `kept` is true."""
        weights, relation_ids = taken(self.weights, kept), taken(self.relation_ids, kept)
        return EdgeRows(
            self.sources[kept], self.targets[kept], weights, relation_ids, self.relations
        )


# N(v) of every node, the relation of each entry, and the number of distinct edges.
Adjacency = tuple[Multisets, Ids | None, int]


def adjacency(n_nodes: int, edges: EdgeRows, *, directed: bool) -> Adjacency:
    """Return the neighbors of every node (directed: in-neighbors), sorted by id, then by relation.

    Each undirected edge is first written from its smaller to its larger node, so that (a, b) and
    (b, a) meet and their weights are summed once: both directions then weigh the same to the last
    bit.
    """
    if directed:
        matrix = _collapsed(n_nodes, edges)
        return _adjacency(matrix, edges, n_edges=matrix.nnz)
    low = np.minimum(edges.sources, edges.targets)
    high = np.maximum(edges.sources, edges.targets)
    half = _collapsed(n_nodes, replace(edges, sources=high, targets=low))
    del low, high  # as large as the input, and the matrices to come are larger still
    if edges.relation_ids is not None:
        return _adjacency(_collapsed(n_nodes, _mirrored(half, edges)), edges, half.nnz)
    if edges.weights is None:
        half.data[:] = 1  # 256 ones make a zero byte, and the sum below leaves zeros out
    else:
        # A self-loop meets itself in the sum below; half of a float is exact.
        half.data[half.indices == _row_ids(half)] *= 0.5
    # Both halves have sorted rows, so that SciPy adds them up entry by entry.
    return _adjacency(half + half.T.tocsr(), edges, half.nnz)


def _collapsed(n_nodes: int, edges: EdgeRows) -> Any:
    """Return the CSR matrix of the entries: sorted rows, repeated entries added up.

    Rows are targets, columns pairs (source, relation), so that only equal relations collapse.
    """
    from scipy.sparse import coo_array

    # int32 where it is wide enough: SciPy's matrices then need half the memory.
    columns: NDArray[Any] = edges.sources
    n_columns = n_nodes * edges.n_relations
    if edges.relation_ids is not None:
        columns = columns.astype(np.int32 if n_columns <= np.iinfo(np.int32).max else np.int64)
        columns *= edges.n_relations
        columns += edges.relation_ids
    # Without weights one byte per entry is enough: what the sum holds is never read.
    data: NDArray[Any] = (
        np.ones(len(edges), np.int8) if edges.weights is None else edges.weights.astype(np.float64)
    )
    return coo_array((data, (edges.targets, columns)), shape=(n_nodes, n_columns)).tocsr()


def _mirrored(half: Any, edges: EdgeRows) -> EdgeRows:
    """Return each entry of `half` in both directions, with the same relation."""
    low = _row_ids(half)
    high, relations = np.divmod(half.indices, edges.n_relations)
    high, relations = high.astype(np.int32), relations.astype(np.int32)
    # A self-loop is its own mirror image.
    back = low != high
    return EdgeRows(
        sources=np.concatenate([high, low[back]]),
        targets=np.concatenate([low, high[back]]),
        weights=None if edges.weights is None else np.concatenate([half.data, half.data[back]]),
        relation_ids=np.concatenate([relations, relations[back]]),
        relations=edges.relations,
    )


def _adjacency(matrix: Any, edges: EdgeRows, n_edges: int) -> Adjacency:
    # A column is a pair (neighbor, relation) again, in the order in which it was made.
    ids, relations = matrix.indices, None
    if edges.relation_ids is not None:
        ids, relations = np.divmod(matrix.indices, edges.n_relations)
        relations = relations.astype(np.int32)
        relations.flags.writeable = False
    weights = None if edges.weights is None else summed_weights(matrix.data, "duplicate edges")
    return Multisets(matrix.indptr, ids, weights), relations, int(n_edges)


def summed_weights(sums: NDArray[Any], what: str) -> Weights:
    """Return sums of weights as float32; `what` names in the error message what was added up."""
    if len(sums) and sums.max() > np.finfo(np.float32).max:
        raise InvalidGraphError(
            f"The weights of {what} add up to {sums.max():.3g}, more than float32 can hold. "
            f"Divide all weights by a constant."
        )
    return sums.astype(np.float32)


def _row_ids(matrix: Any) -> Ids:
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))

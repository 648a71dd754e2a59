"""Walks on a graph: along its edges, from every node, the same for any number of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError

if TYPE_CHECKING:
    from embedprop.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class WalkGraph:
    """Where each edge leads: neighbors in CSR, sorted, and their running weights (empty: equal)."""

    ptr: NDArray[np.int64]
    ids: NDArray[np.int32]
    sums: NDArray[np.float64]

    @classmethod
    def of(cls, graph: Graph) -> WalkGraph:
        """Turn the edges around if they are directed: N(v) holds where they come from."""
        from scipy.sparse import csr_array

        from embedprop.kernels.draws.walks import row_sums

        near = graph.neighbors
        ptr, ids, weights = near.ptr, near.ids, near.weights
        if graph.directed or graph.relations is not None:
            # Also where several relations lead to one neighbor: their weights add up.
            data = np.ones(len(ids), np.float32) if weights is None else weights
            shape = (graph.n_nodes, graph.n_nodes)
            matrix = csr_array((data, ids, ptr), shape=shape)
            matrix = matrix.T.tocsr() if graph.directed else matrix.copy()
            matrix.sum_duplicates()
            ptr, ids = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
            plain = weights is None and graph.relations is None
            weights = None if plain else matrix.data
        return cls(ptr, ids, row_sums(ptr, np.empty(0, np.float32) if weights is None else weights))

    def without(self, nodes: NDArray[np.int64]) -> WalkGraph:
        """Return the graph without the edges from or to `nodes`; numbers of nodes stay."""
        from embedprop.kernels.draws.walks import row_sums

        gone = np.zeros(len(self.ptr) - 1, np.bool_)
        gone[nodes] = True
        rows = np.repeat(np.arange(len(gone)), np.diff(self.ptr))
        kept = ~(gone[rows] | gone[self.ids])
        ptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=len(gone)))])
        if not len(self.sums):
            return WalkGraph(ptr, self.ids[kept], self.sums)
        starts = np.flatnonzero(np.diff(self.ptr))
        weights = np.diff(self.sums, prepend=0.0)
        weights[self.ptr[starts]] = self.sums[self.ptr[starts]]
        return WalkGraph(ptr, self.ids[kept], row_sums(ptr, weights[kept]))

    def walks(
        self,
        starts: NDArray[np.int32],
        length: int,
        key: np.uint64,
        *,
        p: float = 1.0,
        q: float = 1.0,
        n_threads: int | None = 1,
    ) -> NDArray[np.int32]:
        """Return a walk of `length` nodes from each start, -1 after a dead end."""
        from embedprop.kernels.draws.walks import walk

        if not (p > 0 and q > 0):
            raise InvalidParameterError(f"p and q must be positive, but came p={p}, q={q}.")
        out = np.empty((len(starts), length), np.int32)

        def fill(part: NDArray[np.int64]) -> None:
            if len(part):
                rows = slice(int(part[0]), int(part[-1]) + 1)
                walk(
                    out[rows], rows.start, starts[rows],
                    self.ptr, self.ids, self.sums, float(p), float(q), key,
                )  # fmt: skip

        n_parts = max(1, n_threads or 1)
        parts = np.array_split(np.arange(len(starts)), n_parts)
        with ThreadPoolExecutor(n_parts) as pool:
            list(pool.map(fill, parts))
        return out

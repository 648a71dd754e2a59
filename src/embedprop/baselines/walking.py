"""Walks on a graph: along its edges, from every node, the same for any number of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph import Graph, Multisets
from embedprop.graph.matrix import adjacency_matrix


@dataclass(frozen=True, eq=False)
class WalkGraph:
    """Where each edge leads: sorted targets."""

    targets: Multisets

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """The running weights of the targets; empty: all equal."""
        from embedprop.kernels.draws.walks import row_sums

        weights = self.targets.weights
        weights = np.empty(0, np.float32) if weights is None else weights
        return np.asarray(row_sums(self.targets.ptr, weights))

    @classmethod
    def of(cls, graph: Graph) -> WalkGraph:
        """Turn the edges around if they are directed: N(v) holds where they come from."""
        targets = graph.neighbors
        if graph.directed or graph.relations is not None:
            matrix = adjacency_matrix(graph)
            matrix = matrix.T.tocsr() if graph.directed else matrix.copy()
            # Where several relations lead to one neighbor, their weights add up.
            matrix.sum_duplicates()
            plain = targets.weights is None and graph.relations is None
            ptr, ids = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
            targets = Multisets(ptr, ids, None if plain else matrix.data)
        return cls(targets)

    def without(self, nodes: NDArray[np.int64]) -> WalkGraph:
        """Return the graph without the edges from or to `nodes`; numbers of nodes stay."""
        gone = np.zeros(self.targets.n_sets, np.bool_)
        gone[nodes] = True
        is_gone = gone[self.targets.owners] | gone[self.targets.ids]
        return WalkGraph(self.targets.keeping(~is_gone))

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
            raise InvalidParameterError(f"p and q must be positive, got p={p}, q={q}.")
        out = np.empty((len(starts), length), np.int32)

        def fill(part: NDArray[np.int64]) -> None:
            if len(part):
                # A walk is drawn by its row, whichever thread walks it.
                rows = slice(int(part[0]), int(part[-1]) + 1)
                walk(
                    out[rows], rows.start, starts[rows],
                    self.targets.ptr, self.targets.ids, self.sums, float(p), float(q), key,
                )  # fmt: skip

        n_parts = max(1, n_threads or 1)
        with ThreadPoolExecutor(n_parts) as pool:
            list(pool.map(fill, np.array_split(np.arange(len(starts)), n_parts)))
        return out

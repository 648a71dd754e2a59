"""The edges of a graph as a SciPy matrix, for what is written as a product with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

from embedprop.graph.multisets import Multisets

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from embedprop.graph.graph import Graph


def as_matrix(
    sets: Multisets, n_columns: int, dtype: DTypeLike = np.float32
) -> csr_array[np.float32]:
    """Return multisets as a matrix (sets, n_columns): the weight of each member, 1 without weights.

    >>> as_matrix(Multisets.from_lists([[0, 2], []]), 3).toarray().tolist()
    [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    from scipy.sparse import csr_array

    weights = np.ones(sets.n_values, dtype) if sets.weights is None else sets.weights.astype(dtype)
    return csr_array((weights, sets.ids, sets.ptr), shape=(sets.n_sets, n_columns))


def adjacency_matrix(graph: Graph, dtype: DTypeLike = np.float32) -> csr_array[np.float32]:
    """Return A: row v holds the weights of N(v), the nodes that speak to v."""
    return as_matrix(graph.neighbors, graph.n_nodes, dtype)


def symmetric_adjacency(graph: Graph) -> csr_array[np.float32]:
    """Return A with the edges both ways; of a pair of opposite edges the heavier one counts."""
    from scipy.sparse import csr_array

    matrix = adjacency_matrix(graph)
    # With relations an undirected graph is symmetric too, but its repeated entries must be added
    # up, which `maximum` does.
    if graph.directed or graph.relations is not None:
        matrix = csr_array(matrix.maximum(matrix.T.tocsr()))
    return matrix


def speakers_of(graph: Graph, nodes: NDArray[np.int64]) -> Multisets:
    """Return the neighbors of some nodes, at either end of an edge."""
    # The rows alone, where they hold all there is: no matrix of the whole graph is made.
    if not graph.directed:
        return graph.neighbors.subset(nodes)
    rows = symmetric_adjacency(graph)[nodes]
    # Edges of several relations between two nodes add up.
    plain = graph.neighbors.weights is None and graph.relations is None
    weights = None if plain else rows.data
    return Multisets(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), weights)

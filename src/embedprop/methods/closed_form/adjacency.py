"""The edges as the closed form sees them: both ways, because its sum over edges is symmetric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.graph import Graph
from embedprop.graph.multisets import Multisets


def symmetric_adjacency(graph: Graph) -> csr_array[np.float32]:
    """Return A; of a pair of opposite edges the heavier one counts."""
    near = graph.neighbors
    weights = np.ones(near.n_values, np.float32) if near.weights is None else near.weights
    shape = (graph.n_nodes, graph.n_nodes)
    matrix = csr_array((weights, near.ids, near.ptr), shape=shape)
    if graph.directed or graph.relations is not None:
        matrix = csr_array(matrix.maximum(matrix.T.tocsr()))
    return matrix


def speakers_of(graph: Graph, nodes: NDArray[np.int64]) -> Multisets:
    """Return the neighbors of some nodes, on whichever end of an edge they are."""
    if not graph.directed:
        return graph.neighbors.subset(nodes)
    rows = symmetric_adjacency(graph)[nodes]
    # Edges of several relations between two nodes add up.
    plain = graph.neighbors.weights is None and graph.relations is None
    weights = None if plain else rows.data
    return Multisets(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), weights)

"""Vectors of nodes that were absent in training: the mean of their neighbors' (suffix -I)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph.graph import Graph
from embedprop.graph.matrix import adjacency_matrix

if TYPE_CHECKING:
    from embedprop.baselines.registry import Vectors


def mean_of_neighbors(vectors: Vectors, known: Graph, full: Graph) -> Vectors:
    """Return a vector for every node of `full`: known nodes keep theirs.

    A new node gets the mean, weighted by the edges, of the vectors of its neighbors in `full` that
    are known; zeros without any.

    Parameters
    ----------
    vectors
        (known.n_nodes, dim), rows in the order of ``known.nodes``.
    known
        The graph in training.
    full
        A graph with all nodes of `known` and further ones.

    Examples
    --------
    >>> from embedprop import Graph
    >>> known = Graph.from_edges([("a", "b")])
    >>> full = Graph.from_edges([("a", "b"), ("a", "new"), ("b", "new"), ("new", "newer")])
    >>> mean_of_neighbors(np.array([[2.0], [4.0]], np.float32), known, full).ravel()
    array([2., 4., 3., 0.], dtype=float32)
    """
    if len(vectors) != known.n_nodes:
        raise InvalidParameterError(
            f"vectors has {len(vectors)} rows, but the known graph has {known.n_nodes} nodes."
        )
    rows = full.nodes.ids(known.nodes)
    placed = np.zeros((full.n_nodes, vectors.shape[1]), np.float32)
    placed[rows] = vectors
    is_known = np.zeros(full.n_nodes, np.bool_)
    is_known[rows] = True
    means, _ = neighbor_means(full, placed, is_known)
    placed[~is_known] = means[~is_known]
    return placed


def neighbor_means(
    graph: Graph, values: NDArray[Any], counts: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the mean over those neighbors that count, by edge weight, and which nodes have any."""
    weights = adjacency_matrix(graph, np.float64)
    weights.data *= counts[weights.indices]
    totals: NDArray[np.float64] = np.asarray(weights.sum(axis=1)).ravel()
    has_any = totals > 0
    return (weights @ values) / np.where(has_any, totals, 1)[:, None], has_any

"""Vectors of nodes that were not there in training: the mean of their neighbors' (suffix -I)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.registry import Embedder, Vectors
from embedprop.errors import InvalidParameterError

if TYPE_CHECKING:
    from embedprop.graph.graph import Graph


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
    from scipy.sparse import csr_array

    if len(vectors) != known.n_nodes:
        raise InvalidParameterError(
            f"vectors has {len(vectors)} rows, but the known graph has {known.n_nodes} nodes."
        )
    rows = full.nodes.ids(known.nodes)
    placed = np.zeros((full.n_nodes, vectors.shape[1]), np.float32)
    placed[rows] = vectors
    is_known = np.zeros(full.n_nodes, np.bool_)
    is_known[rows] = True
    near = full.neighbors
    data = np.ones(near.n_values) if near.weights is None else near.weights.astype(np.float64)
    data = data * is_known[near.ids]
    weights = csr_array((data, near.ids, near.ptr), shape=(full.n_nodes, full.n_nodes))
    new = np.flatnonzero(~is_known)
    totals: NDArray[np.float64] = np.asarray(weights.sum(axis=1)).ravel()[new]
    sums = weights[new] @ placed
    placed[new] = sums / np.where(totals > 0, totals, 1)[:, None]
    return placed


def fit_transform_inductive(embedder: Embedder, known: Graph, full: Graph) -> Vectors:
    """Learn from `known` alone and return a vector for every node of `full`.

    A baseline that knows better than the mean of the neighbors (words of its own) does its own.
    """
    own: Any = getattr(embedder, "fit_transform_inductive", None)
    if own is not None:
        vectors: Vectors = own(known, full)
        return vectors
    return mean_of_neighbors(embedder.fit_transform(known), known, full)

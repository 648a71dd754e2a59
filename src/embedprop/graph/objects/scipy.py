"""SciPy adjacency matrix → Graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Unpack

import numpy as np

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.adjacency import EdgeRows
from embedprop.graph.graph import Graph
from embedprop.graph.objects.columns import as_weights
from embedprop.graph.objects.convert import Choices, declared_nodes, graph_from_edges
from embedprop.graph.objects.edge_input import EdgeInput


def graph_from_scipy(
    matrix: Any,
    labels: Mapping[str, Any] | None,
    nodes: Iterable[Hashable] | None,
    directed: bool | None,
    **choices: Unpack[Choices],
) -> Graph:
    """Make a graph of an adjacency matrix; see `Graph.from_scipy`."""
    from scipy.sparse import csr_array, triu

    _check_square(matrix)
    # A copy, because the next two lines work in place, and the matrix is the user's.
    adjacency = csr_array(matrix, copy=True)
    adjacency.sum_duplicates()
    adjacency.eliminate_zeros()
    is_symmetric = _is_symmetric(adjacency)
    directed = not is_symmetric if directed is None else directed
    # A symmetric matrix holds each undirected edge twice; its weight must count once.
    entries = triu(adjacency, format="coo") if is_symmetric and not directed else adjacency.tocoo()
    declared = declared_nodes(range(matrix.shape[0]) if nodes is None else nodes)
    if len(declared) != matrix.shape[0]:
        raise InvalidGraphError(
            f"from_scipy: expected {matrix.shape[0]} nodes, one for each row of the matrix, but "
            f"nodes= names {len(declared)}."
        )
    sources, targets = entries.row.astype(np.int32), entries.col.astype(np.int32)
    rows = EdgeRows(sources, targets, as_weights(entries.data))
    edges = EdgeInput(declared, rows)
    return graph_from_edges(edges, labels, directed=directed, nodes=declared, **choices)


def _check_square(matrix: Any) -> None:
    if not hasattr(matrix, "tocsr") and not isinstance(matrix, np.ndarray):
        raise InvalidParameterError(
            f"from_scipy: expected a SciPy sparse matrix, got {type(matrix).__name__}."
        )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidGraphError(
            f"from_scipy: expected a square matrix, one row and column for each node, but its "
            f"shape is {matrix.shape}."
        )


def _is_symmetric(adjacency: Any) -> bool:
    mirrored = adjacency.T.tocsr()
    parts = ("indptr", "indices", "data")
    return all(np.array_equal(getattr(adjacency, p), getattr(mirrored, p)) for p in parts)

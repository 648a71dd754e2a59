"""PyTorch Geometric `Data` → Graph; neither that library nor torch is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from embedprop.errors import InvalidGraphError
from embedprop.graph import Graph, Vocabulary
from embedprop.graph.adjacency import EdgeRows
from embedprop.graph.messages import check_choice
from embedprop.graph.multisets import taken
from embedprop.graph.objects.columns import as_weights
from embedprop.graph.objects.convert import Choices, graph_from_edges
from embedprop.graph.objects.edge_input import EdgeInput


def graph_from_pyg(
    data: Any,
    labels: Mapping[str, Any] | None,
    directed: bool | None,
    features: str,
    **choices: Unpack[Choices],
) -> Graph:
    """Make a graph of a PyTorch Geometric `Data`; see `Graph.from_pyg`."""
    check_choice("features", features, ("set", "numeric", "ignore"))
    if getattr(data, "edge_index", None) is None:
        raise InvalidGraphError(
            f"from_pyg: expected a Data object with an edge_index, got {type(data).__name__} "
            f"without one. A HeteroData can be turned into a Data with data.to_homogeneous()."
        )
    # An undirected `Data` lists every edge in both directions.
    is_symmetric = hasattr(data, "is_directed") and not data.is_directed()
    if directed is None:
        directed = hasattr(data, "is_directed") and not is_symmetric
    declared = Vocabulary.trusted(range(int(data.num_nodes)))
    edges = _edges(data, declared, each_twice=is_symmetric and not directed)
    x = getattr(data, "x", None)
    given = {} if x is None or features == "ignore" else _features(x, features)
    given |= labels or {}
    return graph_from_edges(edges, given, directed=directed, nodes=declared, **choices)


def _edges(data: Any, nodes: Vocabulary, *, each_twice: bool) -> EdgeInput:
    edge_index = _array(data.edge_index)
    if edge_index.size and not 0 <= edge_index.min() <= edge_index.max() < len(nodes):
        raise InvalidGraphError(
            f"from_pyg: expected node ids from 0 to {len(nodes) - 1} in edge_index, got ids "
            f"from {edge_index.min()} to {edge_index.max()}. Correct data.num_nodes or edge_index."
        )
    weights, types = (
        None if column is None else _array(column).ravel()
        for column in (getattr(data, "edge_weight", None), getattr(data, "edge_type", None))
    )
    if each_twice:
        # Both directions of an undirected edge are listed; its weight must count once.
        once = edge_index[0] <= edge_index[1]
        edge_index, weights, types = edge_index[:, once], taken(weights, once), taken(types, once)
    sources, targets = edge_index.astype(np.int32)
    weights = None if weights is None else as_weights(weights)
    return EdgeInput(nodes, EdgeRows(sources, targets)).carrying(weights, types)


def _features(x: Any, kind: str) -> dict[str, Any]:
    """Return the node features as labels: the columns that are not zero, or the numbers."""
    from scipy.sparse import coo_array, csr_array

    # torch's sparse tensors have no __array__; their entries become a matrix as they are.
    if getattr(x, "is_sparse", False):
        x = x.coalesce()
        values, indices = _array(x.values()), _array(x.indices())
        matrix = csr_array(coo_array((values, tuple(indices)), shape=tuple(x.shape)))
    else:
        matrix = csr_array(_array(x)) if kind == "set" else _array(x)
    if kind == "numeric":
        return {"feature:numeric": matrix.toarray() if hasattr(matrix, "toarray") else matrix}
    if matrix.nnz and matrix.data.min() < 0:
        raise InvalidGraphError(
            f"from_pyg: expected features that are not negative, to be read as weights of labels, "
            f"but data.x holds {matrix.data.min()}. Pass features='numeric' to keep them as "
            f"numbers, or features='ignore'."
        )
    return {"feature": matrix}


def _array(tensor: Any) -> Any:
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)

"""NetworkX, SciPy and PyTorch Geometric → edges, labels and nodes. Only SciPy is imported."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from embedprop.errors import InvalidGraphError, InvalidParameterError, did_you_mean
from embedprop.graph import Vocabulary
from embedprop.graph.adjacency import EdgeRows
from embedprop.graph.messages import check_choice
from embedprop.graph.multisets import taken
from embedprop.graph.objects.columns import as_weights
from embedprop.graph.objects.convert import declared_nodes
from embedprop.graph.objects.edge_input import EdgeInput

Labels = Mapping[str, Any] | None
# Edges, labels, nodes, and whether edges are directed: what `graph_from_edges` begins with.
GraphParts = tuple[EdgeInput, Labels, Vocabulary | list[Hashable], bool]


def of_networkx(
    graph: Any, labels: Labels | str, weight: str | None, relation: str | None
) -> GraphParts:
    """Return the parts of a NetworkX graph; see `Graph.from_networkx`."""
    if not (hasattr(graph, "is_directed") and hasattr(graph, "edges")):
        raise InvalidParameterError(
            f"from_networkx: expected a NetworkX graph, got {type(graph).__name__}."
        )
    # Parallel edges stay apart here; `build_graph` adds up their weights.
    rows = list(graph.edges(data=True))
    edges = EdgeInput.from_pairs([(source, target) for source, target, _ in rows])
    weights = relations = None
    if weight is not None and any(weight in data for _, _, data in rows):
        weights = [data.get(weight, 1) for _, _, data in rows]
    if relation is not None:
        relations = [data.get(relation) for _, _, data in rows]
    # A string alone names both the attribute and the label type.
    by_type = {labels: labels} if isinstance(labels, str) else labels or {}
    given = {key: _node_attribute(graph, value) for key, value in by_type.items()}
    edges = edges.carrying(weights, relations)
    return edges, given, list(graph.nodes), graph.is_directed()


def _node_attribute(graph: Any, labels: Any) -> Any:
    """Return {node: value} if `labels` names a node attribute, else `labels` itself."""
    if not isinstance(labels, str):
        return labels
    values = {node: data[labels] for node, data in graph.nodes(data=True) if labels in data}
    if not values:
        known = {str(name) for _, data in graph.nodes(data=True) for name in data}
        advice = f"Name one that nodes have, or give the labels.{did_you_mean(labels, known)}"
        raise InvalidGraphError(f"labels: no node has an attribute {labels!r}. {advice}")
    return values


def of_scipy(
    matrix: Any, labels: Labels, nodes: Iterable[Hashable] | None, directed: bool | None
) -> GraphParts:
    """Return the parts of an adjacency matrix; see `Graph.from_scipy`."""
    from scipy.sparse import csr_array, triu

    if not hasattr(matrix, "tocsr") and not isinstance(matrix, np.ndarray):
        raise InvalidParameterError(
            f"from_scipy: expected a SciPy sparse matrix, got {type(matrix).__name__}."
        )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidGraphError(
            f"from_scipy: expected a square matrix, one row and column for each node, but its "
            f"shape is {matrix.shape}."
        )
    # A copy, because the next two lines work in place, and the matrix is the user's.
    adjacency = csr_array(matrix, copy=True)
    adjacency.sum_duplicates()
    adjacency.eliminate_zeros()
    mirrored = adjacency.T.tocsr()
    is_symmetric = all(
        np.array_equal(getattr(adjacency, part), getattr(mirrored, part))
        for part in ("indptr", "indices", "data")
    )
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
    edges = EdgeInput(declared, EdgeRows(sources, targets, as_weights(entries.data)))
    return edges, labels, declared, directed


def of_pyg(data: Any, labels: Labels, directed: bool | None, features: str) -> GraphParts:
    """Return the parts of a PyTorch Geometric `Data`; see `Graph.from_pyg`."""
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
    return edges, given, declared, directed


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

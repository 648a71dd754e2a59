"""NetworkX, SciPy, PyTorch Geometric, pandas and plain edges → Graph.

Foreign objects are known by what they can do; none of those libraries is imported here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.build import build_graph, check_choice
from embedprop.graph.graph import Graph
from embedprop.graph.objects.columns import as_collection, as_numbers
from embedprop.graph.objects.edge_input import EdgeInput
from embedprop.graph.objects.label_input import LabelTables
from embedprop.graph.vocabulary import Vocabulary


def graph_from_edges(
    edges: EdgeInput,
    labels: Mapping[str, Any] | None = None,
    *,
    directed: bool = False,
    nodes: Iterable[Hashable] | None = None,
    self_loops: str = "drop",
    unknown_nodes: str = "error",
) -> Graph:
    """Make a graph of encoded edges: declared nodes first, then those of edges, then of labels."""
    check_choice("unknown_nodes", unknown_nodes, ("error", "ignore", "add"))
    check_choice("directed", directed, (False, True))
    vocabulary, sources, targets, n_declared = edges.nodes, edges.sources, edges.targets, None
    if nodes is not None:
        declared = _declared(nodes)
        n_declared = len(declared)
        vocabulary, ids = declared.extended(edges.nodes)
        sources, targets = ids[sources], ids[targets]
    tables = LabelTables.of(labels, vocabulary, n_declared, unknown_nodes)
    return build_graph(
        tables.nodes,
        sources,
        targets,
        directed=directed,
        self_loops=self_loops,
        edge_weights=edges.weights,
        relation_ids=edges.relation_ids,
        relations=edges.relations,
        labels=tables.sets,
        values=tables.values,
        label_types=tables.label_types,
    )


def _declared(nodes: Iterable[Hashable]) -> Vocabulary:
    if isinstance(nodes, Vocabulary):
        return nodes
    try:
        return Vocabulary(as_collection(nodes, "nodes", "the names of the nodes, in their order"))
    except InvalidGraphError as error:
        raise InvalidGraphError(f"nodes: {error}") from None


def graph_from_networkx(
    graph: Any,
    labels: Mapping[str, Any] | None,
    weight: str | None,
    relation: str | None,
    self_loops: str,
    unknown_nodes: str,
) -> Graph:
    """Make a graph of a NetworkX graph; see `Graph.from_networkx`."""
    if not (hasattr(graph, "is_directed") and hasattr(graph, "edges")):
        raise InvalidParameterError(
            f"from_networkx: expected a NetworkX graph, got {type(graph).__name__}."
        )
    rows = list(graph.edges(data=True))
    edges = EdgeInput.from_pairs([(source, target) for source, target, _ in rows])
    weights = relations = None
    if weight is not None and any(weight in data for _, _, data in rows):
        weights = [data.get(weight, 1) for _, _, data in rows]
    if relation is not None:
        relations = [data.get(relation) for _, _, data in rows]
    return graph_from_edges(
        edges.carrying(weights, relations),
        {key: _node_attribute(graph, value) for key, value in _by_type(labels).items()},
        directed=graph.is_directed(),
        nodes=list(graph.nodes),
        self_loops=self_loops,
        unknown_nodes=unknown_nodes,
    )


def _by_type(labels: Any) -> Mapping[str, Any]:
    """Return labels per type; a string alone names the attribute and the type."""
    return {labels: labels} if isinstance(labels, str) else labels or {}


def _node_attribute(graph: Any, labels: Any) -> Any:
    """Return {node: value} if `labels` names a node attribute, else `labels` itself."""
    if not isinstance(labels, str):
        return labels
    values = {node: data[labels] for node, data in graph.nodes(data=True) if labels in data}
    if not values:
        raise InvalidGraphError(
            f"labels: no node of the NetworkX graph has an attribute {labels!r}. "
            f"Name one that nodes have, or give the labels themselves."
        )
    return values


def graph_from_scipy(
    matrix: Any,
    labels: Mapping[str, Any] | None,
    nodes: Iterable[Hashable] | None,
    directed: bool | None,
    self_loops: str,
    unknown_nodes: str,
) -> Graph:
    """Make a graph of an adjacency matrix; see `Graph.from_scipy`."""
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
    adjacency = csr_array(matrix, copy=True)
    adjacency.sum_duplicates()
    adjacency.eliminate_zeros()
    is_symmetric = _is_symmetric(adjacency)
    directed = not is_symmetric if directed is None else directed
    # A symmetric matrix holds each undirected edge twice; its weight must count once.
    entries = triu(adjacency, format="coo") if is_symmetric and not directed else adjacency.tocoo()
    declared = _declared(range(matrix.shape[0]) if nodes is None else nodes)
    if len(declared) != matrix.shape[0]:
        raise InvalidGraphError(
            f"from_scipy: expected {matrix.shape[0]} nodes, one for each row of the matrix, but "
            f"nodes= names {len(declared)}."
        )
    edges = EdgeInput(
        declared, entries.row.astype(np.int32), entries.col.astype(np.int32), _weights(entries.data)
    )
    return graph_from_edges(
        edges,
        labels,
        directed=directed,
        nodes=declared,
        self_loops=self_loops,
        unknown_nodes=unknown_nodes,
    )


def _is_symmetric(adjacency: Any) -> bool:
    mirrored = adjacency.T.tocsr()
    return (
        np.array_equal(adjacency.indptr, mirrored.indptr)
        and np.array_equal(adjacency.indices, mirrored.indices)
        and np.array_equal(adjacency.data, mirrored.data)
    )


def _weights(data: Any) -> Any:
    """Return the weights of edges, or None if every one is 1."""
    return None if bool((data == 1).all()) else as_numbers(data, len(data), "Edges, weights")


def graph_from_pyg(
    data: Any,
    labels: Mapping[str, Any] | None,
    directed: bool | None,
    features: str,
    self_loops: str,
    unknown_nodes: str,
) -> Graph:
    """Make a graph of a PyTorch Geometric `Data`; see `Graph.from_pyg`."""
    check_choice("features", features, ("set", "numeric", "ignore"))
    if getattr(data, "edge_index", None) is None:
        raise InvalidGraphError(
            f"from_pyg: expected a Data object with an edge_index, got {type(data).__name__} "
            f"without. A HeteroData can be turned into one with data.to_homogeneous()."
        )
    is_symmetric = hasattr(data, "is_directed") and not data.is_directed()
    if directed is None:
        directed = hasattr(data, "is_directed") and not is_symmetric
    declared = Vocabulary.trusted(range(int(data.num_nodes)))
    edges = _pyg_edges(data, declared, each_twice=is_symmetric and not directed)
    x = getattr(data, "x", None)
    given = {} if x is None or features == "ignore" else _features(x, features)
    return graph_from_edges(
        edges,
        given | dict(labels or {}),
        directed=directed,
        nodes=declared,
        self_loops=self_loops,
        unknown_nodes=unknown_nodes,
    )


def _pyg_edges(data: Any, nodes: Vocabulary, *, each_twice: bool) -> EdgeInput:
    edge_index = _array(data.edge_index)
    if edge_index.size and not 0 <= edge_index.min() <= edge_index.max() < len(nodes):
        raise InvalidGraphError(
            f"from_pyg: expected node ids from 0 to {len(nodes) - 1} in edge_index, got ids "
            f"from {edge_index.min()} to {edge_index.max()}. Correct data.num_nodes or edge_index."
        )
    weights, types = getattr(data, "edge_weight", None), getattr(data, "edge_type", None)
    weights = None if weights is None else _array(weights).ravel()
    types = None if types is None else _array(types).ravel()
    if each_twice:
        # Both directions of an undirected edge are listed; its weight must count once.
        once = edge_index[0] <= edge_index[1]
        edge_index = edge_index[:, once]
        weights = None if weights is None else weights[once]
        types = None if types is None else types[once]
    sources, targets = edge_index.astype(np.int32)
    weights = None if weights is None else _weights(weights)
    return EdgeInput(nodes, sources, targets).carrying(weights, types)


def _features(x: Any, kind: str) -> dict[str, Any]:
    """Return the node features as labels: the columns that are not zero, or the numbers."""
    from scipy.sparse import coo_array, csr_array

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

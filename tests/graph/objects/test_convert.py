from __future__ import annotations

import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given
from scipy.sparse import coo_array, csr_array, csr_matrix
from tests.strategies import edge_rows

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph import Graph

with warnings.catch_warnings():
    # PyTorch Geometric calls what PyTorch 2.13 calls deprecated, while it is imported.
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric.data import Data, HeteroData


def arcs(graph):
    """{(neighbor, node): weight} by names: all directions in which labels travel."""
    return {
        (graph.nodes[u], graph.nodes[v]): float(weight)
        for v in range(graph.n_nodes)
        for u, weight in zip(graph.neighbors.of(v), graph.neighbors.weights_of(v), strict=True)
    }


def both_ways(edges):
    return edges | {(target, source): weight for (source, target), weight in edges.items()}


@pytest.mark.parametrize("make", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_graphs_keep_direction_isolated_nodes_and_order(make):
    source = make()
    source.add_nodes_from(["z", "b"])
    source.add_edges_from([("a", "b"), ("c", "a")])
    graph = Graph.from_networkx(source)
    expected = {("a", "b"): 1.0, ("c", "a"): 1.0}
    assert list(graph.nodes) == list(source.nodes) == ["z", "b", "a", "c"]
    assert graph.directed == source.is_directed()
    assert arcs(graph) == (expected if graph.directed else both_ways(expected))
    assert graph.neighbors.weights is None


def test_networkx_weights_are_read_and_missing_ones_are_one():
    source = nx.Graph()
    source.add_edge("a", "b", weight=2.5)
    source.add_edge("b", "c")
    assert arcs(Graph.from_networkx(source)) == both_ways({("a", "b"): 2.5, ("b", "c"): 1.0})
    assert Graph.from_networkx(source, weight=None).neighbors.weights is None
    assert Graph.from_networkx(source, weight="cost").neighbors.weights is None


def test_parallel_networkx_edges_add_up_within_one_relation():
    source = nx.MultiDiGraph()
    source.add_edge("a", "b", weight=1, kind="r")
    source.add_edge("a", "b", weight=2, kind="r")
    source.add_edge("a", "b", weight=4, kind="s")
    graph = Graph.from_networkx(source, relation="kind")
    assert graph.neighbors.weights.tolist() == [3, 4]
    assert [graph.relations[r] for r in graph.neighbor_relations] == ["r", "s"]
    assert Graph.from_networkx(source).neighbors.weights.tolist() == [7]


def test_networkx_node_attributes_can_be_labels():
    source = nx.path_graph(3)
    source.nodes[1]["words"] = ["x", "y"]
    graph = Graph.from_networkx(source, labels={"word": "words", "tag": {0: ["t"]}})
    assert graph.has_labels("word").tolist() == [False, True, False]
    assert graph.has_labels("tag").tolist() == [True, False, False]
    with pytest.raises(InvalidGraphError, match="no node has an attribute 'w'"):
        Graph.from_networkx(source, labels={"word": "w"})


@pytest.mark.parametrize(
    ("source", "parameters", "error", "message"),
    [
        (nx.empty_graph(3), {}, InvalidGraphError, "The graph has no edges"),
        (nx.path_graph(3), {"relation": "kind"}, InvalidGraphError, "relations, row 0 .*missing"),
        ([(0, 1)], {}, InvalidParameterError, "expected a NetworkX graph, got list"),
    ],
)
def test_what_networkx_cannot_give_is_refused(source, parameters, error, message):
    with pytest.raises(error, match=message):
        Graph.from_networkx(source, **parameters)


@pytest.mark.parametrize("make", [csr_array, csr_matrix, coo_array, np.array])
def test_a_symmetric_matrix_is_undirected_and_its_weights_count_once(make):
    graph = Graph.from_scipy(make([[0, 2, 0], [2, 0, 3], [0, 3, 0]]))
    assert not graph.directed
    assert arcs(graph) == both_ways({(0, 1): 2.0, (1, 2): 3.0})
    assert graph.n_duplicates_dropped == 0
    assert [type(name) for name in graph.nodes] == [int] * 3


def test_a_matrix_that_is_not_symmetric_is_directed_from_row_to_column():
    matrix = csr_array(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    graph = Graph.from_scipy(matrix, nodes=list("abc"))
    assert graph.directed
    assert arcs(graph) == {("a", "b"): 1.0, ("b", "c"): 1.0}
    assert graph.neighbors.weights is None
    undirected = Graph.from_scipy(matrix, nodes=list("abc"), directed=False)
    assert arcs(undirected) == both_ways(arcs(graph))


def test_a_symmetric_matrix_can_be_read_as_directed():
    graph = Graph.from_scipy(csr_array([[0, 2], [2, 0]]), directed=True)
    assert arcs(graph) == {(0, 1): 2.0, (1, 0): 2.0}


def test_repeated_and_zero_entries_of_a_matrix_are_no_edges_of_their_own():
    matrix = coo_array(([1.0, 1.0, 0.0], ([0, 0, 2], [1, 1, 1])), shape=(3, 3))
    graph = Graph.from_scipy(matrix)
    assert arcs(graph) == {(0, 1): 2.0}
    assert matrix.nnz == 3


def test_a_kept_self_loop_of_a_symmetric_matrix_keeps_its_weight():
    graph = Graph.from_scipy(csr_array([[5.0, 2.0], [2.0, 0.0]]), self_loops="keep")
    assert arcs(graph) == {(0, 0): 5.0, (0, 1): 2.0, (1, 0): 2.0}
    assert Graph.from_scipy(csr_array([[5.0, 2.0], [2.0, 0.0]])).n_self_loops_dropped == 1


def test_a_label_matrix_goes_with_an_adjacency_matrix_row_by_row():
    graph = Graph.from_scipy(
        csr_array([[0, 1], [1, 0]]), labels={"word": csr_array([[0, 1], [1, 1]])}
    )
    assert graph.labels["word"].ids.tolist() == [1, 0, 1]
    with pytest.raises(InvalidGraphError, match=r"'word': expected .* 2 rows, .* got 3"):
        Graph.from_scipy(csr_array([[0, 1], [1, 0]]), labels={"word": csr_array((3, 2))})


@pytest.mark.parametrize(
    ("matrix", "parameters", "error", "message"),
    [
        (csr_array((2, 3)), {}, InvalidGraphError, r"square matrix.* shape is \(2, 3\)"),
        (csr_array((2, 2)), {}, InvalidGraphError, "The graph has no edges"),
        (
            csr_array([[0, 1], [1, 0]]),
            {"nodes": ["a"]},
            InvalidGraphError,
            "expected 2 nodes, .* 1",
        ),
        (csr_array([[0, -1], [-1, 0]]), {}, InvalidGraphError, "Edge 0 - 1 in row 0 .*got -1"),
        (csr_array([[0, np.nan], [0, 0]]), {}, InvalidGraphError, "Edge 0 - 1 .*got nan"),
        ([[0, 1]], {}, InvalidParameterError, "expected a SciPy sparse matrix, got list"),
    ],
)
def test_a_matrix_that_makes_no_graph_is_refused(matrix, parameters, error, message):
    with pytest.raises(error, match=message):
        Graph.from_scipy(matrix, **parameters)


@given(edge_rows())
def test_scipy_networkx_and_pyg_agree_with_the_edges(rows):
    expected = Graph.from_edges(rows, nodes=range(6))
    matrix = coo_array((np.ones(len(rows)), (rows[:, 0], rows[:, 1])), shape=(6, 6)).tocsr()
    matrix = csr_array(((matrix + matrix.T) > 0).astype(float))
    network = nx.empty_graph(6)
    network.add_edges_from(rows.tolist())
    ends = np.concatenate([rows, rows[:, ::-1]]).T.astype(np.int64)
    data = Data(edge_index=torch.from_numpy(np.ascontiguousarray(ends)), num_nodes=6)
    for graph in (Graph.from_scipy(matrix), Graph.from_networkx(network), Graph.from_pyg(data)):
        assert not graph.directed
        assert graph.neighbors.ids.tolist() == expected.neighbors.ids.tolist()
        assert graph.neighbors.ptr.tolist() == expected.neighbors.ptr.tolist()
        assert graph.neighbors.weights is None


EDGE_INDEX = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def test_pyg_features_become_weighted_labels():
    x = torch.tensor([[0.0, 2.0], [0.0, 0.0], [1.0, 1.0]])
    for features in (x, x.to_sparse()):
        graph = Graph.from_pyg(Data(x=features, edge_index=EDGE_INDEX))
        assert graph.label_types == ("node", "feature")
        assert not graph.directed
        assert graph.labels["feature"].of(0).tolist() == [1]
        assert graph.labels["feature"].weights.tolist() == [2, 1, 1]
        assert list(graph.vocabulary("feature")) == [0, 1]
        assert graph.has_labels("feature").tolist() == [True, False, True]


def test_pyg_features_can_be_numbers_or_left_out():
    data = Data(x=torch.tensor([[-1.0], [2.0], [0.0]]), edge_index=EDGE_INDEX)
    numeric = Graph.from_pyg(data, features="numeric")
    assert numeric.values["feature"].values.tolist() == [[-1], [2], [0]]
    sparse = Data(x=data.x.to_sparse(), edge_index=EDGE_INDEX)
    assert Graph.from_pyg(sparse, features="numeric").values["feature"].values[1, 0] == 2
    ignored = Graph.from_pyg(data, {"word": {0: ["x"]}}, features="ignore")
    assert ignored.label_types == ("node", "word")
    with pytest.raises(InvalidGraphError, match=r"data\.x holds -1\.0\. Pass features='numeric'"):
        Graph.from_pyg(data)
    with pytest.raises(InvalidParameterError, match="features must be one of 'set', 'numeric'"):
        Graph.from_pyg(data, features="auto")


@pytest.mark.parametrize("directed", [None, False])
def test_pyg_weights_of_undirected_edges_count_once(directed):
    data = Data(edge_index=EDGE_INDEX, edge_weight=torch.tensor([2.0, 2, 3, 3]), num_nodes=4)
    graph = Graph.from_pyg(data, directed=directed)
    assert arcs(graph) == both_ways({(0, 1): 2.0, (1, 2): 3.0})
    assert graph.n_nodes == 4
    assert graph.n_duplicates_dropped == 0


def test_pyg_direction_is_found_and_can_be_overruled():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    assert arcs(Graph.from_pyg(data)) == {(0, 1): 1.0, (1, 2): 1.0}
    assert arcs(Graph.from_pyg(data, directed=False)) == both_ways({(0, 1): 1.0, (1, 2): 1.0})


def test_pyg_edge_types_are_relations():
    data = Data(
        edge_index=torch.tensor([[0, 0], [1, 1]]), edge_type=torch.tensor([5, 3]), num_nodes=2
    )
    graph = Graph.from_pyg(data)
    assert [graph.relations[r] for r in graph.neighbor_relations] == [5, 3]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Data(x=torch.ones(2, 1)), "a Data object with an edge_index, got Data without"),
        (HeteroData(), r"got HeteroData without.*to_homogeneous"),
        (Data(edge_index=EDGE_INDEX, num_nodes=2), "ids from 0 to 1 .* got ids from 0 to 2"),
    ],
)
def test_pyg_data_that_makes_no_graph_is_refused(data, message):
    with pytest.raises(InvalidGraphError, match=message):
        Graph.from_pyg(data)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_of_a_frame_can_have_any_name(make):
    frame = make({"from": ["a", "b"], "to": ["b", "c"], "cost": [1.0, 2.0], "kind": ["r", "s"]})
    graph = Graph.from_pandas(frame, "from", "to", weight="cost", relation="kind", directed=True)
    assert arcs(graph) == {("a", "b"): 1.0, ("b", "c"): 2.0}
    assert list(graph.relations) == ["r", "s"]
    with pytest.raises(InvalidGraphError, match="one column 'source', but the columns are 'from',"):
        Graph.from_pandas(frame)


def test_making_a_graph_imports_none_of_the_libraries_it_can_read():
    code = (
        "import sys; from embedprop.graph import Graph\n"
        "heavy = {'scipy', 'pyarrow', 'polars', 'pandas', 'networkx', 'torch', 'torch_geometric'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "Graph.from_edges([('a', 'b')], labels={'word': {'a': ['x']}})\n"
        "foreign = heavy - {'scipy', 'pyarrow', 'pandas'}\n"
        "assert not foreign & set(sys.modules), foreign & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

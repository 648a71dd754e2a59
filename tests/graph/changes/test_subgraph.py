import numpy as np
import pytest

from embedprop import Graph
from embedprop.errors import InvalidGraphError
from embedprop.graph.changes.subgraph import subgraph


def test_a_subgraph_is_what_building_from_the_remaining_edges_gives():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 30, (120, 2))
    weights = rng.integers(1, 5, 120).astype(float)
    rows = np.array([3, 5, 1, 20, 21, 22, 7, 8])
    for directed in (False, True):
        graph = Graph.from_edges(edges, nodes=range(30), weights=weights, directed=directed)
        kept = np.isin(edges, rows).all(axis=1)
        expected = Graph.from_edges(
            edges[kept], nodes=rows.tolist(), weights=weights[kept], directed=directed
        )
        small = subgraph(graph, rows)
        assert small.nodes == expected.nodes
        assert small.n_edges == expected.n_edges
        for row in range(len(rows)):
            found = dict(zip(small.neighbors.of(row), small.neighbors.weights_of(row), strict=True))
            wanted = expected.neighbors
            assert found == dict(zip(wanted.of(row), wanted.weights_of(row), strict=True))


def test_labels_of_removed_nodes_become_unknown():
    words = {"a": ["x", "z"], "b": ["y"], "c": ["z"]}
    graph = Graph.from_edges([("a", "b"), ("b", "c")], labels={"word": words})
    small = subgraph(graph, np.array([1, 2]))
    assert small.vocabulary("word").names == ("z", "y") or set(small.vocabulary("word")) == {
        "y",
        "z",
    }
    names = [small.vocabulary("word")[i] for i in small.labels["word"].of(1)]
    assert names == ["z"]


def test_relations_follow_their_edges():
    graph = Graph.from_edges(
        [("a", "b"), ("b", "c"), ("a", "c")], relations=["likes", "knows", "owns"], directed=True
    )
    small = subgraph(graph, np.array([1, 2]))
    assert [small.relations[i] for i in small.neighbor_relations] == ["knows"]


def test_a_subgraph_without_edges_or_with_a_node_twice_is_an_error():
    graph = Graph.from_edges([("a", "b"), ("c", "d")])
    with pytest.raises(InvalidGraphError, match="No edge remains"):
        subgraph(graph, np.array([0, 2]))
    with pytest.raises(InvalidGraphError, match="each node once"):
        subgraph(graph, np.array([0, 0, 1]))

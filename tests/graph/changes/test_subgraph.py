import numpy as np
import pytest
from tests.toy_graphs import messy

from embedprop import Graph
from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.changes.subgraph import split_edges, subgraph


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


def edges_of(graph):
    """The (source, target) pairs of a graph; an undirected edge once, smaller id first."""
    pairs = {(int(u), v) for v in range(graph.n_nodes) for u in graph.neighbors.of(v)}
    return pairs if graph.directed else {(min(pair), max(pair)) for pair in pairs}


def as_set(pairs):
    return {tuple(pair) for pair in pairs.tolist()}


@pytest.mark.parametrize("directed", [False, True])
def test_held_out_edges_and_the_training_graph_make_up_the_graph(directed):
    graph = messy(directed=directed, weighted_edges=True, isolated=True, self_loops="keep")
    split = split_edges(graph, 0.3, seed=1)
    held, kept, whole = as_set(split.held_out), edges_of(split.training), edges_of(graph)
    assert held | kept == whole
    assert not held & kept
    assert len(held) == len(split.held_out) == round(0.3 * len({p for p in whole if p[0] != p[1]}))
    assert {p for p in whole if p[0] == p[1]} <= kept
    assert split.training.n_edges == graph.n_edges - len(held) == len(kept)


@pytest.mark.parametrize("directed", [False, True])
def test_nodes_labels_and_weights_stay(directed):
    graph = messy(directed=directed, weighted_edges=True, isolated=True)
    training = split_edges(graph, 0.5, seed=1).training
    assert training.nodes == graph.nodes
    assert np.array_equal(training.labels["word"].ids, graph.labels["word"].ids)
    for node in range(graph.n_nodes):
        old = dict(zip(graph.neighbors.of(node), graph.neighbors.weights_of(node), strict=True))
        for other, weight in zip(
            training.neighbors.of(node), training.neighbors.weights_of(node), strict=True
        ):
            assert old[other] == weight


@pytest.mark.parametrize("directed", [False, True])
def test_non_edges_are_as_many_different_pairs_without_edge(directed):
    graph = messy(directed=directed)
    split = split_edges(graph, 0.4, seed=2)
    assert len(as_set(split.non_edges)) == len(split.non_edges) == len(split.held_out)
    assert not as_set(split.non_edges) & edges_of(graph)
    assert (split.non_edges[:, 0] != split.non_edges[:, 1]).all()
    if not directed:
        assert (split.non_edges[:, 0] < split.non_edges[:, 1]).all()


def test_every_pair_without_edge_is_drawn_about_equally_often():
    graph = Graph.from_edges([(i, (i + 1) % 6) for i in range(6)])  # 9 pairs without an edge
    counts = np.zeros((6, 6))
    for seed in range(900):
        counts[tuple(split_edges(graph, 0.2, seed).non_edges[0])] += 1
    drawn = counts[counts > 0]
    assert len(drawn) == 9
    # 100 expected of each, standard deviation 9.4.
    assert drawn.min() > 60
    assert drawn.max() < 140


def test_the_last_pair_without_edge_is_found():
    n_nodes = 40
    pairs = [(i, j) for i in range(n_nodes) for j in range(i) if (i, j) != (7, 3)]
    split = split_edges(Graph.from_edges(pairs, nodes=range(n_nodes)), 1 / len(pairs), seed=0)
    assert split.non_edges.tolist() == [[3, 7]]


def test_a_seed_gives_the_same_split_and_another_seed_another():
    one, same, other = (split_edges(messy(), 0.3, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.held_out, same.held_out)
    assert np.array_equal(one.non_edges, same.non_edges)
    assert not np.array_equal(one.held_out, other.held_out)


@pytest.mark.parametrize("share", [0.0, 1.0, 0.001])
def test_a_share_that_leaves_nothing_is_an_error(share):
    with pytest.raises(InvalidParameterError, match="Expected at least one edge"):
        split_edges(messy(), share, seed=0)


def test_relations_and_graphs_without_free_pairs_are_refused():
    with pytest.raises(InvalidGraphError, match="without relations"):
        split_edges(messy(n_relations=2), 0.3, seed=0)
    triangle = Graph.from_edges([(0, 1), (1, 2), (2, 0)])
    with pytest.raises(InvalidGraphError, match="0 pairs of nodes without an edge, but 1 "):
        split_edges(triangle, 0.3, seed=0)

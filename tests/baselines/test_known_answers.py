"""Two cliques with a bridge: every method must tell them apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.baselines.methods import quick
from tests.toy_graphs import TwoCliques

from embedprop import Graph
from embedprop.baselines import mean_of_neighbors
from embedprop.errors import InvalidParameterError, UnknownNodeError


@pytest.fixture(scope="module")
def clique(two_cliques: TwoCliques) -> np.ndarray:
    """0 or 1 for each node."""
    return np.array([two_cliques.clique_of[name] == "b" for name in two_cliques.graph.nodes], int)


@pytest.mark.parametrize("name", ["bow", "deepwalk", "node2vec", "line", "dw-bow"])
def test_nodes_of_one_clique_are_closer_than_nodes_of_two(name, two_cliques, clique) -> None:
    vectors = quick(name).fit_transform(two_cliques.graph)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    same = clique[:, None] == clique
    other = ~np.eye(len(clique), dtype=bool)
    assert cosine[same & other].mean() > cosine[~same].mean() + 0.25


@pytest.mark.parametrize("name", ["wvrn", "gcn", "gcn-i", "planetoid-t", "planetoid-i"])
def test_every_node_gets_the_class_of_its_clique_from_two_examples(
    name, two_cliques, clique
) -> None:
    targets = csr_array(clique[:, None] == [0, 1])
    train = np.array([np.flatnonzero(clique == c)[[2, 3]] for c in (0, 1)]).ravel()
    scores = quick(name).fit_predict(two_cliques.graph, targets, train)
    np.testing.assert_array_equal(scores.argmax(axis=1), clique)


@pytest.mark.parametrize("name", ["gcn-i", "planetoid-i"])
def test_hidden_nodes_are_classified_by_their_clique_s_words(name, two_cliques, clique) -> None:
    targets = csr_array(clique[:, None] == [0, 1])
    hidden = np.array([np.flatnonzero(clique == c)[-2:] for c in (0, 1)]).ravel()
    train = np.array([np.flatnonzero(clique == c)[[1, 2]] for c in (0, 1)]).ravel()
    scores = quick(name).fit_predict(two_cliques.graph, targets, train, hidden=hidden)
    np.testing.assert_array_equal(scores.argmax(axis=1), clique)


# Without dropout, which draws a number for each word of the graph, hidden nodes included.
@pytest.mark.parametrize(("name", "settings"), [("gcn-i", {"dropout": 0.0}), ("planetoid-i", {})])
def test_words_and_edges_of_hidden_nodes_play_no_part_in_training(name, settings) -> None:
    words = {"a": ["x"], "b": ["x", "y"], "c": ["y"], "d": ["z"]}
    targets = csr_array(np.array([[1, 0], [0, 0], [0, 0], [0, 1], [0, 0]], bool))
    scores = []
    for neighbor, own in (("a", ["x", "z"]), ("d", ["y"])):
        edges = [("a", "b"), ("b", "c"), ("c", "d"), (neighbor, "h")]
        graph = Graph.from_edges(edges, {"word": words | {"h": own}}, nodes=list("abcdh"))
        method = quick(name, **settings)
        scores.append(method.fit_predict(graph, targets, np.array([0, 3]), hidden=np.array([4])))
    np.testing.assert_allclose(scores[0][:4], scores[1][:4], rtol=1e-5)
    assert not np.allclose(scores[0][4], scores[1][4])


def test_a_new_node_has_the_weighted_mean_of_its_known_neighbors() -> None:
    known = Graph.from_edges([("b", "a"), ("b", "c")])  # rows: b, a, c
    full = Graph.from_edges(
        [("a", "b"), ("b", "c"), ("a", "n"), ("c", "n"), ("n", "m"), ("m", "k")],
        weights=[1, 1, 3, 1, 7, 1],
    )
    vectors = np.array([[1, 0], [8, 0], [0, 4]], np.float32)
    found = dict(zip(full.nodes, mean_of_neighbors(vectors, known, full).tolist(), strict=True))
    assert found == {
        "a": [8, 0],
        "b": [1, 0],
        "c": [0, 4],
        "n": [6, 1],  # (3 * [8, 0] + 1 * [0, 4]) / 4; m is not known
        "m": [0, 0],
        "k": [0, 0],
    }


def test_in_a_directed_graph_a_new_node_hears_from_the_sources_of_its_edges() -> None:
    known = Graph.from_edges([("a", "b")], directed=True)
    full = Graph.from_edges([("a", "b"), ("a", "n"), ("n", "b")], directed=True)
    vectors = np.array([[1.0], [5.0]], np.float32)
    assert mean_of_neighbors(vectors, known, full)[full.nodes.find("n")] == 1.0


def test_vectors_that_do_not_fit_the_known_graph_are_refused() -> None:
    known = Graph.from_edges([("a", "b")])
    with pytest.raises(
        InvalidParameterError, match="vectors has 3 rows, but the known graph has 2"
    ):
        mean_of_neighbors(np.zeros((3, 1), np.float32), known, known)
    with pytest.raises(UnknownNodeError):
        mean_of_neighbors(
            np.zeros((2, 1), np.float32), known, Graph.from_edges([("a", "c"), ("c", "d")])
        )

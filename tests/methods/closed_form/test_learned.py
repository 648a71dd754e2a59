"""Vectors of nodes that arrive after the fit, compared with sums computed by hand."""

from __future__ import annotations

import logging
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.closed_form.made import ExactBlock, dense_adjacency, made_graph, unit

from embedprop import ClosedForm, Graph
from embedprop.errors import UnknownComponentError
from embedprop.model.newcomers import Source

SOURCES: tuple[Source, ...] = get_args(Source)
N = 80
DIM = 8
RESTART = 0.15
TYPES = {"ids": ["node"], "words": ["word"], "both": ["node", "word"]}


def fitted(label_types: list[str], **options: Any) -> ClosedForm:
    graph = made_graph(N, weighted_edges=True, weighted_labels=True, **options)
    return ClosedForm(dim=DIM, label_types=label_types, restart=RESTART).fit(graph)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return made_graph(N, weighted_edges=True, weighted_labels=True)


@pytest.fixture(scope="module", params=TYPES)
def model(request: pytest.FixtureRequest) -> ClosedForm:
    return fitted(TYPES[request.param])


@pytest.fixture(scope="module")
def of_words() -> ClosedForm:
    return fitted(["word"])


@pytest.fixture(scope="module")
def of_ids() -> ClosedForm:
    return fitted(["node"])


def grown(
    edges: list[tuple[Any, Any]], words: Any = None, more: tuple[Any, ...] = (), **options: Any
) -> Graph:
    """All known nodes, with edges to new ones only."""
    labels = {} if words is None else {"word": words}
    return Graph.from_edges(edges, labels=labels, nodes=[*range(N), *more], **options)


def h_of(model: ClosedForm, words: dict[str, float]) -> np.ndarray:
    """h of known words, of length 2."""
    place = {word: row for row, word in enumerate(model.labels_["word"])}
    vectors = model.label_embeddings_["word"].astype(np.float64)
    total = sum(words.values())
    return 2 * unit(sum(weight * vectors[place[word]] for word, weight in words.items()) / total)


def known_shares(graph: Graph) -> np.ndarray:
    return (dense_adjacency(graph).sum(axis=1) + 1) ** -0.5


class TestKnownNodes:
    def test_they_keep_their_vectors_whatever_their_edges_and_words_are_now(
        self, model: ClosedForm
    ) -> None:
        vectors = model.transform(grown([(3, 4), ("new", 5)], {5: ["w1"], "new": ["w2"]}))
        np.testing.assert_array_equal(vectors[:N], model.node_embeddings_)

    def test_a_graph_without_new_nodes_gives_what_was_learned(
        self, model: ClosedForm, graph: Graph
    ) -> None:
        np.testing.assert_array_equal(model.transform(graph), model.node_embeddings_)

    def test_rows_are_in_the_order_of_the_graph(self, model: ClosedForm) -> None:
        vectors = model.transform(Graph.from_edges([("new", 7), (7, 2)]))
        np.testing.assert_array_equal(vectors[1:], model.node_embeddings_[[7, 2]])


class TestOneNewNode:
    @pytest.mark.parametrize("source", SOURCES)
    @pytest.mark.parametrize("words", [None, {"w1": 1.0}, {"w3": 0.5, "w8": 2.0, "new": 9.0}])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_alone_it_gets_the_same_bytes_as_in_a_graph(
        self,
        model: ClosedForm,
        source: Source,
        words: dict[str, float] | None,
        weighted: bool,
    ) -> None:
        has_words = "word" in model.label_embeddings_ and words is not None
        for neighbors in ([4], [1, 5, 19, 33, 42, 77], [0, 79]):
            weights = [0.5 + node / 7 for node in neighbors] if weighted else None
            graph = grown(
                [("new", node) for node in neighbors],
                {"new": words} if has_words else None,
                weights=weights,
            )
            alone = model.transform_node(
                neighbors, {"word": words} if has_words else None, weights, source
            )
            assert alone.any() == (source != "own" or has_words)
            assert model.transform(graph, source)[N].tobytes() == alone.tobytes()

    @given(st.sets(st.integers(0, N - 1), min_size=1), st.booleans())
    def test_any_set_of_neighbors_gives_the_same_bytes_either_way(
        self, of_words: ClosedForm, neighbors: set[int], has_words: bool
    ) -> None:
        words = ["w7", "w11"] if has_words else []
        graph = grown([("new", node) for node in neighbors], {"new": words})
        alone = of_words.transform_node(sorted(neighbors), {"word": words})
        assert of_words.transform(graph)[N].tobytes() == alone.tobytes()

    def test_the_direction_of_an_edge_does_not_matter(self, model: ClosedForm) -> None:
        edges = [("new", 1), (5, "new"), ("new", 9)]
        words = {"new": ["w1", "w6"]}
        np.testing.assert_array_equal(
            model.transform(grown(edges, words, directed=True)),
            model.transform(grown(edges, words)),
        )

    @pytest.mark.parametrize("directed", [False, True])
    def test_edges_of_several_relations_add_up(self, of_ids: ClosedForm, directed: bool) -> None:
        edges = [("new", 1), ("new", 5), ("new", 5)]
        graph = grown(edges, directed=directed, relations=["a", "a", "b"])
        np.testing.assert_allclose(
            of_ids.transform(graph)[N], of_ids.transform_node([1, 5], weights=[1, 2]), rtol=1e-5
        )

    @pytest.mark.parametrize("words", [{}, {"w4": 1.0, "w9": 3.0}])
    def test_words_and_neighbors_make_a_pagerank_average(
        self, of_words: ClosedForm, graph: Graph, words: dict[str, float]
    ) -> None:
        neighbors, weights = [3, 30, 61], np.array([1.0, 0.5, 2.0])
        own = h_of(of_words, words) if words else np.zeros(DIM)
        r = of_words.node_embeddings_[neighbors].astype(np.float64)
        heard = weights * known_shares(graph)[neighbors] @ r
        share = (weights.sum() + 1) ** -0.5
        z = own
        for _ in range(10):
            z = 2 * RESTART * own + (1 - 2 * RESTART) * share * (heard + share * z)
        found = of_words.transform_node(neighbors, {"word": words}, weights.tolist())
        np.testing.assert_allclose(found, 2 * unit(z), atol=1e-5)

    def test_the_reconstruction_is_the_direction_of_what_neighbors_say(
        self, of_words: ClosedForm, graph: Graph
    ) -> None:
        r = of_words.node_embeddings_.astype(np.float64)
        said = known_shares(graph)[3] * r[3] + 4 * known_shares(graph)[8] * r[8]
        found = of_words.transform_node(
            [3, 8], {"word": ["w1"]}, weights=[1, 4], source="reconstruction"
        )
        np.testing.assert_allclose(found, 2 * unit(said), atol=1e-5)

    def test_own_words_alone_are_their_mean(self, of_words: ClosedForm) -> None:
        words = {"w4": 1.0, "w9": 3.0}
        found = of_words.transform_node([3], {"word": {**words, "new": 2.0}}, source="own")
        np.testing.assert_allclose(found, h_of(of_words, words), atol=1e-5)

    def test_ids_follow_from_the_eigenvector_equation(
        self, of_ids: ClosedForm, graph: Graph
    ) -> None:
        neighbors, weights = [3, 30, 61], np.array([1.0, 0.5, 2.0])
        parts = []
        for exponent, low, size in ((0.5, 0, 6), (0.25, 6, 2)):
            exact = ExactBlock.of(graph, 0.3, exponent, size)
            rows = unit(of_ids.node_embeddings_[:, low : low + size].astype(np.float64))
            unscaled = (exact.scale * np.linalg.norm(exact.rows, axis=1))[:, None] * rows
            row = unit(weights @ unscaled[neighbors] / exact.values)
            parts.append(2 * np.sqrt(size / DIM) * row)
        found = of_ids.transform_node(neighbors, weights=weights.tolist())
        np.testing.assert_allclose(found, np.concatenate(parts), atol=2e-4)

    @pytest.mark.parametrize("node", range(0, N, 9))
    def test_a_twin_of_a_known_node_gets_its_vector(
        self, of_ids: ClosedForm, graph: Graph, node: int
    ) -> None:
        neighbors = graph.neighbors.of(node).tolist()
        weights = graph.neighbors.weights_of(node).tolist()
        twin = of_ids.transform(grown([("twin", v) for v in neighbors], weights=weights))[N]
        assert twin @ of_ids[node] / 4 > 0.999
        np.testing.assert_allclose(np.linalg.norm(twin), 2, rtol=1e-5)

    def test_its_vector_has_the_length_of_a_known_one(self, model: ClosedForm) -> None:
        n_types = len(model.label_embeddings_)
        found = model.transform_node([1, 2])
        np.testing.assert_allclose(np.linalg.norm(found), 2 * np.sqrt(n_types), rtol=1e-5)
        np.testing.assert_allclose(
            np.linalg.norm(model.node_embeddings_, axis=1), 2 * np.sqrt(n_types), rtol=1e-5
        )

    def test_with_restart_1_its_own_words_are_all(self, graph: Graph) -> None:
        model = ClosedForm(dim=DIM, restart=1.0).fit(graph)
        np.testing.assert_allclose(
            model.transform_node([1, 2], {"word": ["w4"]}), h_of(model, {"w4": 1.0}), atol=1e-5
        )

    def test_an_unknown_source_is_refused(self, model: ClosedForm) -> None:
        with pytest.raises(UnknownComponentError, match="source='all' is not known"):
            model.transform_node([1], source="all")


class TestSeveralNewNodes:
    def test_they_hear_each_other(self, of_words: ClosedForm, graph: Graph) -> None:
        words = {"a": {"w4": 1.0}, "b": {"w9": 2.0, "w2": 1.0}}
        edges = [("a", 3), ("a", "b"), ("b", "c"), ("b", 12)]
        weights = [1.0, 3.0, 0.5, 2.0]
        vectors = of_words.transform(grown(edges, words, weights=weights, more=("a", "b", "c")))
        links = np.array([[0, 3.0, 0], [3.0, 0, 0.5], [0, 0.5, 0]])
        to_known = np.zeros((3, N))
        to_known[0, 3], to_known[1, 12] = 1.0, 2.0
        share = ((links.sum(axis=1) + to_known.sum(axis=1)) + 1) ** -0.5
        h = np.stack([h_of(of_words, words["a"]), h_of(of_words, words["b"]), np.zeros(DIM)])
        known = to_known @ (known_shares(graph)[:, None] * of_words.node_embeddings_)
        z = h
        for _ in range(10):
            said = known + (links + np.eye(3)) @ (share[:, None] * z)
            z = 2 * RESTART * h + (1 - 2 * RESTART) * share[:, None] * said
        np.testing.assert_allclose(vectors[N:], 2 * unit(z), atol=1e-5)

    def test_their_ids_say_nothing_to_each_other(self, of_ids: ClosedForm) -> None:
        vectors = of_ids.transform(grown([("a", 3), ("a", 8), ("a", "b"), ("b", 5)]))
        np.testing.assert_array_equal(vectors[N], of_ids.transform_node([3, 8]))
        np.testing.assert_array_equal(vectors[N + 1], of_ids.transform_node([5]))

    def test_their_order_does_not_matter(self, model: ClosedForm) -> None:
        edges = [("a", 3), ("a", "b"), ("b", 12)]
        words = {"a": ["w1"], "b": ["w2"]}
        one = model.transform(grown(edges, words, more=("a", "b")))
        two = model.transform(grown(edges, words, more=("b", "a")))
        np.testing.assert_allclose(one[[N, N + 1]], two[[N + 1, N]], atol=1e-6)


class TestNothingKnown:
    @pytest.mark.parametrize("source", SOURCES)
    def test_new_nodes_get_zeros_and_a_warning(
        self, model: ClosedForm, source: Source, caplog: pytest.LogCaptureFixture
    ) -> None:
        graph = grown([("a", "b")], {"a": ["never seen"]}, more=("alone",))
        vectors = model.transform(graph, source)
        assert not vectors[N:].any()
        assert caplog.records[-1].levelno == logging.WARNING
        assert caplog.records[-1].getMessage() == (
            "Nothing is known about 3 of the 3 new nodes (for example 'alone', 'a', 'b'): "
            "their vectors are zeros."
        )

    def test_one_new_node_gets_zeros_and_a_warning(
        self, model: ClosedForm, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert not model.transform_node(["nobody"]).any()
        assert "Nothing is known about the new node: its vector is zeros." in caplog.text

    def test_what_is_known_of_others_is_told_apart(
        self, model: ClosedForm, caplog: pytest.LogCaptureFixture
    ) -> None:
        vectors = model.transform(grown([("a", "b"), ("c", 4)]))
        assert vectors[N:].any(axis=1).tolist() == [False, False, True]
        assert "Nothing is known about 2 of the 3 new nodes (for example 'a', 'b')" in caplog.text

    def test_a_new_graph_without_words_is_fine(self, of_words: ClosedForm) -> None:
        assert of_words.transform(grown([("new", 4)]))[N].any()


def test_dummy_labels_are_no_labels_of_new_nodes() -> None:
    model = fitted(["word"], missing=True)
    assert len(model.labels_["word"]) == len(model.label_embeddings_["word"])
    assert all(isinstance(word, str) for word in model.labels_["word"])
    assert model.node_embeddings_[1].any()  # it has no words, but neighbors

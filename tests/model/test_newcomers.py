"""Vectors of nodes that arrive after training, compared with means computed by hand."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import pytest

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidGraphError, InvalidParameterError, UnknownComponentError
from embedprop.model.newcomers import Source

SOURCES = get_args(Source)

DUMMY_WEIGHT = 9.5 / 4  # of leaf3: the mean of 4, 1, 2.5 and 2
NOTHING = np.zeros(4)


class Vectors:
    """The vectors of the star's labels and nodes by name, float64."""

    def __init__(self, model: EmbeddingPropagation) -> None:
        self.words = dict(
            zip("xyz", model.label_embeddings_["word"].astype(np.float64), strict=True)
        )
        self.ids = {name: model[name][:4].astype(np.float64) for name in model.nodes_}
        self.dummy = model["leaf3"][4:].astype(np.float64)

    def mean(self, parts: Sequence[tuple[float, str]]) -> np.ndarray:
        """The weighted mean of words; "" stands for the dummy label of leaf3."""
        total = sum(weight for weight, _ in parts)
        return sum(w * self.words.get(word, self.dummy) for w, word in parts) / total

    def mean_id(self, parts: Sequence[tuple[float, str]]) -> np.ndarray:
        return sum(w * self.ids[node] for w, node in parts) / sum(w for w, _ in parts)


@pytest.fixture(scope="module")
def known(star_model: EmbeddingPropagation) -> Vectors:
    return Vectors(star_model)


def grown(edges: Any, words: Any = None, **options: Any) -> Graph:
    """The star's nodes with other edges, to new nodes."""
    nodes = ["hub", "leaf1", "leaf2", "leaf3", "leaf4"]
    labels = {} if words is None else {"word": words}
    nodes += options.pop("more", [])
    return Graph.from_edges(edges, labels=labels, nodes=nodes, **options)


def assert_vector(row: np.ndarray, ids: np.ndarray, words: np.ndarray) -> None:
    assert row.dtype == np.float32
    np.testing.assert_allclose(row, np.concatenate([ids, words]), rtol=1e-5, atol=1e-7)


class TestTransform:
    def test_known_nodes_keep_their_vectors_whatever_their_edges_and_labels_are_now(
        self, star_model: EmbeddingPropagation
    ) -> None:
        graph = grown([("leaf1", "leaf4"), ("new", "leaf1")], {"leaf1": ["z"]})
        vectors = star_model.transform(graph)
        for node in star_model.nodes_:
            np.testing.assert_array_equal(vectors[graph.nodes.find(node)], star_model[node])

    def test_rows_are_in_the_order_of_the_graph(self, star_model: EmbeddingPropagation) -> None:
        graph = Graph.from_edges([("new", "leaf2"), ("leaf2", "hub"), ("leaf4", "hub")])
        vectors = star_model.transform(graph)
        assert list(graph.nodes) == ["new", "leaf2", "hub", "leaf4"]
        np.testing.assert_array_equal(vectors[2], star_model["hub"])
        # its only neighbor's
        np.testing.assert_allclose(vectors[0], star_model["leaf2"], rtol=1e-6)

    def test_a_new_node_is_the_mean_over_all_labels_of_all_neighbors(
        self, star_model: EmbeddingPropagation, known: Vectors
    ) -> None:
        row = star_model.transform(grown([("new", "leaf1"), ("new", "leaf2")]))[5]
        assert_vector(
            row,
            known.mean_id([(1, "leaf1"), (1, "leaf2")]),
            known.mean([(1, "x"), (2, "y"), (0.5, "z")]),  # not the mean of two means
        )

    def test_a_neighbor_without_labels_speaks_with_its_dummy(
        self, star_model: EmbeddingPropagation, known: Vectors
    ) -> None:
        row = star_model.transform(grown([("new", "leaf1"), ("new", "leaf3")]))[5]
        assert_vector(
            row,
            known.mean_id([(1, "leaf1"), (1, "leaf3")]),
            known.mean([(1, "x"), (DUMMY_WEIGHT, "")]),
        )

    def test_edge_weights_multiply(self, star_model: EmbeddingPropagation, known: Vectors) -> None:
        graph = grown([("new", "leaf1"), ("new", "leaf2")], weights=[3.0, 0.5])
        assert_vector(
            star_model.transform(graph)[5],
            known.mean_id([(3, "leaf1"), (0.5, "leaf2")]),
            known.mean([(3, "x"), (1, "y"), (0.25, "z")]),
        )

    def test_in_a_directed_graph_only_in_neighbors_speak(
        self, star_model: EmbeddingPropagation, known: Vectors
    ) -> None:
        graph = grown([("leaf1", "new"), ("new", "leaf2")], directed=True)
        assert_vector(star_model.transform(graph)[5], known.ids["leaf1"], known.words["x"])

    def test_known_labels_of_new_neighbors_count_and_unknown_ones_do_not(
        self, star_model: EmbeddingPropagation, known: Vectors
    ) -> None:
        words = {"second": {"z": 2.0, "never seen": 7.0}, "third": {"never seen": 1.0}}
        graph = grown([("new", "second"), ("new", "third"), ("new", "leaf1")], words)
        row = star_model.transform(graph)[graph.nodes.find("new")]
        assert_vector(row, known.ids["leaf1"], known.mean([(2, "z"), (1, "x")]))

    def test_labels_are_matched_by_name_and_not_by_their_place(
        self, star_model: EmbeddingPropagation, known: Vectors
    ) -> None:
        graph = grown([("new", "other")], {"other": ["q", "z"], "new": ["z", "x"]})
        vectors = star_model.transform(graph, "reconstruction")
        assert_vector(vectors[graph.nodes.find("new")], NOTHING, known.words["z"])

    def test_a_node_of_which_nothing_is_known_gets_zeros_and_a_warning(
        self, star_model: EmbeddingPropagation, caplog: pytest.LogCaptureFixture
    ) -> None:
        graph = grown([("new", "other"), ("more", "hub")], {"new": ["q"]}, more=["alone"])
        with caplog.at_level(logging.INFO, logger="embedprop"):
            vectors = star_model.transform(graph)
        for node in ("new", "other", "alone"):
            assert not vectors[graph.nodes.find(node)].any()
        assert vectors[graph.nodes.find("more")].all()
        notice, record = caplog.records
        assert "1 of the 1 labels of type 'word' of new nodes were not seen" in notice.getMessage()
        assert record.levelno == logging.WARNING
        assert record.getMessage() == (
            "Nothing is known about 3 of the 4 new nodes (for example 'alone', 'new', 'other'): "
            "their vectors are zeros."
        )

    def test_own_labels_alone(self, star_model: EmbeddingPropagation, known: Vectors) -> None:
        graph = grown([("new", "leaf1")], {"new": {"y": 1.0, "z": 3.0, "q": 9.0}})
        row = star_model.transform(graph, source="own")[5]
        assert_vector(row, NOTHING, known.mean([(1, "y"), (3, "z")]))

    def test_both_is_the_mean_of_own_and_reconstruction(
        self, star_model: EmbeddingPropagation, known: Vectors
    ) -> None:
        words = {"new": {"y": 1.0, "z": 3.0}, "alone": {"x": 2.0}, "silent": {"q": 1.0}}
        graph = grown([("new", "leaf1"), ("silent", "leaf4")], words, more=["alone"])
        vectors = star_model.transform(graph)
        np.testing.assert_array_equal(star_model.transform(graph, source="both"), vectors)
        at = graph.nodes.find
        own = known.mean([(1, "y"), (3, "z")])
        assert_vector(vectors[at("new")], known.ids["leaf1"], (own + known.words["x"]) / 2)
        assert_vector(vectors[at("alone")], NOTHING, known.words["x"])
        assert_vector(vectors[at("silent")], known.ids["leaf4"], known.words["z"])

    def test_own_labels_do_not_count_in_a_reconstruction(
        self, star_model: EmbeddingPropagation
    ) -> None:
        edges = [("new", "leaf1"), ("new", "leaf2")]
        plain, labelled = grown(edges), grown(edges, {"new": ["z"]})
        vectors = (star_model.transform(graph, "reconstruction") for graph in (plain, labelled))
        np.testing.assert_array_equal(*vectors)

    def test_a_model_of_ids_alone_ignores_words(self, star_with_words: Graph) -> None:
        model = EmbeddingPropagation(dim=4, epochs=1, label_types=["node"], n_threads=1)
        model.fit(star_with_words)
        graph = grown([("new", "leaf1")], {"new": ["x"], "leaf1": ["y"]})
        np.testing.assert_array_equal(model.transform(graph)[5], model["leaf1"])

    def test_a_model_of_words_alone_needs_no_known_neighbors(self, star_with_words: Graph) -> None:
        model = EmbeddingPropagation(dim=4, epochs=1, label_types=["word"], n_threads=1)
        model.fit(star_with_words)
        graph = Graph.from_edges([("p", "q")], labels={"word": {"q": ["x"], "p": ["z"]}})
        np.testing.assert_allclose(
            model.transform(graph, "reconstruction"),
            model.label_embeddings_["word"][[0, 2]],
            rtol=1e-6,
        )

    def test_the_graph_of_training_gives_the_vectors_of_training(
        self, star_model: EmbeddingPropagation, star_with_words: Graph
    ) -> None:
        vectors = star_model.transform(star_with_words)
        np.testing.assert_array_equal(vectors, star_model.node_embeddings_)
        vectors[:] = 0
        assert star_model.node_embeddings_.any()

    def test_an_unknown_source_is_refused_with_the_known_ones(
        self, star_model: EmbeddingPropagation, star_with_words: Graph
    ) -> None:
        known = ", ".join(map(repr, SOURCES))
        message = rf"source='self' is not known\. Choose one of: {known}\."
        with pytest.raises(UnknownComponentError, match=message):
            star_model.transform(star_with_words, source="self")
        with pytest.raises(UnknownComponentError, match=message):
            star_model.transform_node(["hub"], source="self")

    def test_something_that_is_no_graph_is_refused(self, star_model: EmbeddingPropagation) -> None:
        with pytest.raises(InvalidGraphError, match=r"Expected an embedprop\.Graph, got list"):
            star_model.transform([("new", "hub")])


class TestTransformNode:
    @pytest.mark.parametrize("source", SOURCES)
    @pytest.mark.parametrize("weights", [None, [0.3, 2.0, 1.7]])
    def test_it_equals_the_same_node_inside_a_batch_to_the_byte(
        self, star_model: EmbeddingPropagation, source: str, weights: list[float] | None
    ) -> None:
        neighbors, labels = ["hub", "leaf2", "leaf3"], {"x": 0.7, "z": 1.9, "q": 4.0}
        edges = [*(("new", n) for n in neighbors), ("other", "leaf1"), ("third", "hub")]
        graph = grown(
            edges, {"new": labels}, weights=None if weights is None else [*weights, 1.0, 1.0]
        )
        alone = star_model.transform_node(neighbors, {"word": labels}, weights, source)
        assert alone.tobytes() == star_model.transform(graph, source)[5].tobytes()

    def test_without_known_labels_of_its_own_the_neighbors_are_not_blamed(
        self, star_model: EmbeddingPropagation, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert not star_model.transform_node(["hub"], {"word": ["q"]}, source="own").any()
        assert caplog.records[-1].getMessage() == (
            "None of the new node's own labels is known, and source='own' uses nothing else: its "
            "vector is zeros."
        )

    def test_the_order_of_neighbors_does_not_matter(self, star_model: EmbeddingPropagation) -> None:
        one = star_model.transform_node(["hub", "leaf2", "leaf3"], weights=[1, 2, 3])
        other = star_model.transform_node(["leaf3", "hub", "leaf2"], weights=[3, 1, 2])
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)

    def test_labels_given_mean_both(self, star_model: EmbeddingPropagation, known: Vectors) -> None:
        row = star_model.transform_node(["leaf1"], labels={"word": ["z", "z", "y"]})
        own = known.mean([(2, "z"), (1, "y")])
        assert_vector(row, known.ids["leaf1"], (known.words["x"] + own) / 2)
        plain = star_model.transform_node(["leaf1"])
        np.testing.assert_array_equal(plain, star_model["leaf1"])

    def test_unknown_neighbors_and_labels_do_not_count(
        self, star_model: EmbeddingPropagation, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("INFO", "embedprop")
        full = star_model.transform_node(["leaf1", "hub"], {"word": ["x"]}, [2.0, 3.0])
        more = star_model.transform_node(
            ["nobody", "leaf1", "hub"], {"word": ["x", "q"]}, [9.0, 2.0, 3.0]
        )
        np.testing.assert_array_equal(full, more)
        assert "1 of the 2 labels of type 'word' of new nodes were not seen" in caplog.text

    def test_neighbors_without_weight_do_not_count(self, star_model: EmbeddingPropagation) -> None:
        row = star_model.transform_node(["leaf1", "hub"], weights=[1.0, 0.0])
        np.testing.assert_array_equal(row, star_model["leaf1"])

    @pytest.mark.parametrize("neighbors", [[], ["nobody"], iter(())])
    def test_nothing_known_gives_zeros_and_a_warning(
        self, star_model: EmbeddingPropagation, neighbors: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        row = star_model.transform_node(neighbors)
        assert row.shape == (8,)
        assert not row.any()
        assert "Nothing is known about the new node: its vector is zeros." in caplog.text

    def test_neighbors_may_come_from_a_generator(self, star_model: EmbeddingPropagation) -> None:
        row = star_model.transform_node(node for node in ("leaf1", "hub"))
        np.testing.assert_array_equal(row, star_model.transform_node(["leaf1", "hub"]))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"neighbors": "hub"}, r"neighbors='hub' is one string; give a list of nodes"),
            (
                {"neighbors": ["hub"], "weights": [1.0, 2.0]},
                "weights has 2 numbers for 1 neighbors: give one for each",
            ),
            ({"neighbors": ["hub"], "weights": [-1.0]}, "must be numbers, finite and not negative"),
            (
                {"neighbors": ["hub"], "weights": [np.nan]},
                "must be numbers, finite and not negative",
            ),
            (
                {"neighbors": ["hub"], "weights": [np.inf]},
                "must be numbers, finite and not negative",
            ),
            (
                {"neighbors": ["hub"], "weights": [1e300]},
                "must be numbers, finite and not negative",
            ),
            ({"neighbors": ["hub"], "weights": ["a"]}, "must be numbers, finite and not negative"),
            ({"neighbors": ["hub"], "labels": ["x"]}, r"labels=\['x'\] is not a dict"),
            (
                {"neighbors": ["hub"], "labels": {"wrod": ["x"]}},
                r"labels has the type 'wrod', which the model does not know\. It knows: 'word'\.",
            ),
            ({"neighbors": ["hub"], "labels": {"node": ["hub"]}}, "labels has the type 'node'"),
            ({"neighbors": ["hub"], "labels": {"word": "xyz"}}, "is one string; give a list"),
            (
                {"neighbors": ["hub"], "labels": {"word": {"x": -1.0}}},
                "must be numbers, finite and not negative",
            ),
        ],
    )
    def test_bad_input_is_refused(
        self, star_model: EmbeddingPropagation, options: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(InvalidParameterError, match=message):
            star_model.transform_node(**options)


def test_a_neighbor_named_twice_counts_once_as_in_a_graph():
    model = EmbeddingPropagation(dim=4, epochs=1, n_threads=1).fit(
        Graph.from_edges([("a", "b"), ("b", "c")])
    )
    once = model.transform_node(["a", "c"])
    assert np.array_equal(model.transform_node(["a", "c", "a"]), once)


def test_neighbors_that_cannot_be_names_are_refused():
    model = EmbeddingPropagation(dim=4, epochs=1, n_threads=1).fit(
        Graph.from_edges([("a", "b"), ("b", "c")])
    )
    with pytest.raises(InvalidParameterError, match="list of nodes"):
        model.transform_node([["a"]])

"""ClosedForm: what it gives, and what it makes of its parameters."""

from __future__ import annotations

import logging
import math
import pickle
from typing import Any

import numpy as np
import pytest
from tests.methods.closed_form.made import (
    KINDS,
    RING,
    ExactBlock,
    ExactLabels,
    closed_form,
    gram,
    made_graph,
    unit,
)
from tests.toy_graphs import TwoCliques
from threadpoolctl import threadpool_info, threadpool_limits

from embedprop import ClosedForm, Graph
from embedprop.errors import InvalidParameterError, UnknownParameterError
from embedprop.methods.closed_form import labels, spectrum


class TestVectors:
    @pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
    def test_those_of_words_are_pagerank_averages_of_length_2(self, kind: dict[str, bool]) -> None:
        graph = made_graph(**kind)
        found = closed_form(6, regularization=2.0, restart=0.3).fit_transform(graph)
        exact = ExactLabels.of(graph, 2.0).representations(6, 0.3)
        np.testing.assert_allclose(gram(found), gram(exact), atol=2e-2)
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 2, rtol=1e-5)

    @pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
    def test_those_of_ids_are_two_blocks_that_share_the_length(self, kind: dict[str, bool]) -> None:
        graph = made_graph(**kind)
        found = closed_form(12, label_types=["node"]).fit_transform(graph)
        first = unit(ExactBlock.of(graph, 0.3, 0.5, 9).rows)
        second = unit(ExactBlock.of(graph, 0.3, 0.25, 3).rows)
        np.testing.assert_allclose(gram(found), 3 * gram(first) + gram(second), atol=1e-3)
        np.testing.assert_allclose(np.linalg.norm(found[:, :9], axis=1), 3**0.5, rtol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(found[:, 9:], axis=1), 1, rtol=1e-5)

    def test_label_types_stand_side_by_side(self) -> None:
        graph = made_graph()
        both = closed_form({"node": 6, "word": 4}, label_types=["word", "node"]).fit(graph)
        assert list(both.label_embeddings_) == ["node", "word"]
        np.testing.assert_array_equal(
            both.node_embeddings_[:, :6], closed_form(6, label_types=["node"]).fit_transform(graph)
        )
        np.testing.assert_array_equal(
            both.node_embeddings_[:, 6:], closed_form(4, label_types=["word"]).fit_transform(graph)
        )
        np.testing.assert_array_equal(both.label_embeddings_["node"], both.node_embeddings_[:, :6])

    def test_nodes_and_words_of_one_clique_are_nearest(self, two_cliques: TwoCliques) -> None:
        for types in (["node"], ["word"]):
            model = closed_form(4, label_types=types).fit(two_cliques.graph)
            for node, clique in two_cliques.clique_of.items():
                nearest = [other for other, _ in model.similar(node, k=5)]
                assert {two_cliques.clique_of[other] for other in nearest} == {clique}
        for words in two_cliques.words_of.values():
            nearest = [other for other, _ in model.similar_labels("word", words[0], k=2)]
            assert set(nearest) == set(words[1:])

    def test_a_directed_graph_is_read_as_an_undirected_one(self) -> None:
        edges = [(0, 1), (1, 0), (1, 2), (3, 2), (0, 3), (4, 0)]
        labels = {"word": {node: [node % 2, "all"] for node in range(5)}}
        for types in (["node"], ["word"]):
            one, other = (
                closed_form(3, label_types=types).fit(
                    Graph.from_edges(edges, labels=labels, directed=directed)
                )
                for directed in (False, True)
            )
            np.testing.assert_array_equal(one.node_embeddings_, other.node_embeddings_)
            assert (one.directed_, other.directed_) == (False, True)

    def test_relations_count_alike_with_a_warning(self, caplog: pytest.LogCaptureFixture) -> None:
        with_relations = Graph.from_edges(RING, relations=["a", "b"] * 10)
        found = closed_form().fit_transform(with_relations)
        np.testing.assert_array_equal(found, closed_form().fit_transform(Graph.from_edges(RING)))
        (record,) = caplog.records
        assert record.levelno == logging.WARNING
        assert "does not tell relations apart" in caplog.text

    def test_of_a_fit_there_are_residuals_and_no_losses(self) -> None:
        model = closed_form(label_types=["node", "word"]).fit(made_graph())
        assert model.loss_history_ == {}
        assert list(model.residuals_) == ["node", "word"]
        assert all(0 <= residual < 1e-3 for residual in model.residuals_.values())


class TestLabelTypes:
    def test_shared_labels_are_preferred_to_ids(self) -> None:
        assert list(closed_form().fit(made_graph()).label_embeddings_) == ["word"]

    def test_several_types_of_shared_labels_are_all_taken(self) -> None:
        labels = {name: {i: [i % 3] for i in range(20)} for name in ("word", "topic")}
        model = closed_form().fit(Graph.from_edges(RING, labels=labels))
        assert list(model.label_embeddings_) == ["word", "topic"]

    def test_without_shared_labels_ids_are_taken(self) -> None:
        assert list(closed_form().fit(Graph.from_edges(RING)).label_embeddings_) == ["node"]
        numbers = Graph.from_edges(RING, labels={"age:numeric": {0: 1.0}})
        assert list(closed_form().fit(numbers).label_embeddings_) == ["node"]

    def test_others_can_be_asked_for(self) -> None:
        model = closed_form(label_types=["node", "word"]).fit(made_graph())
        assert list(model.label_embeddings_) == ["node", "word"]


class TestParameters:
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            *[
                ({"regularization": bad}, "expected a finite number above 0")
                for bad in (-1, 0, math.nan, math.inf)
            ],
            *[({"regularization": bad}, "expected a number above 0") for bad in ("1", True)],
            ({"regularization": {"word": -1}}, r"regularization\['word'\]=-1: expected"),
            (
                {"regularization": {"node": 1.0}},
                "an entry for 'node', which is not a label type that is learned. Those are: 'word'",
            ),
            ({"restart": 0}, "restart=0: expected a finite number above 0"),
            ({"restart": -0.5}, "expected a finite number above 0"),
            ({"restart": 2}, r"restart=2\.0: expected a number above 0 and at most 1"),
            ({"restart": None}, "expected a number above 0"),
            ({"dim": 0}, "dim=0: expected"),
            ({"dim": {"node": 3}}, "expected one entry for each label type"),
            ({"regularization": 1e-9}, "is too small .* Give at least"),
        ],
    )
    def test_a_bad_one_is_refused_by_name(self, params: dict[str, Any], message: str) -> None:
        with pytest.raises(InvalidParameterError, match=message):
            ClosedForm(**{"dim": 8} | params).fit(made_graph())

    def test_a_dict_gives_a_regularization_to_some_label_types(self) -> None:
        graph = made_graph()
        model = closed_form(label_types=["node", "word"], regularization={"word": 2.0}).fit(graph)
        types = model.instance_.label_types
        assert (types["node"].regularization, types["word"].regularization) == (0.3, 2.0)
        np.testing.assert_array_equal(
            model.node_embeddings_[:, 8:], closed_form(regularization=2.0).fit_transform(graph)
        )

    def test_defaults_are_03_for_ids_and_5_for_labels(self) -> None:
        types = closed_form(label_types=["node", "word"]).fit(made_graph()).instance_.label_types
        assert (types["node"].regularization, types["word"].regularization) == (0.3, 5.0)

    def test_what_cannot_fit_into_memory_is_refused(self) -> None:
        with pytest.raises(InvalidParameterError, match=r"needs about .* GB .* Lower dim"):
            closed_form(10**9).fit(made_graph())

    @pytest.mark.parametrize("name", ["margin", "epochs", "engine", "n_threads", "parts"])
    def test_those_of_training_are_refused(self, name: str) -> None:
        with pytest.raises(UnknownParameterError, match=f"^ClosedForm has no parameter '{name}'"):
            ClosedForm(**{name: 1})

    def test_there_is_nothing_to_go_on_from(self) -> None:
        assert not hasattr(ClosedForm, "partial_fit")


class TestSameBytes:
    @pytest.mark.parametrize("types", [["node"], ["word"]])
    @pytest.mark.parametrize("max_dense", [0, 6000])
    def test_the_number_of_threads_does_not_matter(
        self, types: list[str], max_dense: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(labels, "MAX_DENSE", max_dense)
        graph = made_graph(700, 650)
        found = set()
        for n_threads in (1, 2, 3):
            with threadpool_limits(n_threads, user_api="blas"):
                vectors = closed_form(32, label_types=types).fit_transform(graph)
            found.add(vectors.tobytes())
        assert len(found) == 1

    def test_the_same_seed_gives_the_same_bytes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(spectrum, "_SMALL", 0)
        graph = made_graph()
        model = closed_form(label_types=["node", "word"], random_state=3)
        once = model.fit(graph).node_embeddings_.tobytes()
        assert model.fit(graph).node_embeddings_.tobytes() == once
        assert model.seed_ == 3

    def test_a_seed_is_drawn_and_kept_if_none_is_given(self) -> None:
        graph = made_graph()
        model = closed_form(random_state=None).fit(graph)
        again = closed_form(random_state=model.seed_).fit(graph)
        np.testing.assert_array_equal(again.node_embeddings_, model.node_embeddings_)

    def test_the_callers_threads_are_given_back(self) -> None:
        with threadpool_limits(2, user_api="blas"):
            closed_form().fit(made_graph())
            now = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
        assert now == {2}


def test_a_fitted_model_can_be_pickled() -> None:
    model = closed_form(label_types=["node", "word"]).fit(made_graph())
    twin = pickle.loads(pickle.dumps(model))
    assert twin.transform_node([1, 2]).tobytes() == model.transform_node([1, 2]).tobytes()
    assert twin.residuals_ == model.residuals_

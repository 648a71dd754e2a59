"""What is answered about new nodes, with what was noticed; over relations too."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from embedprop import EmbeddingPropagation, Graph, Model
from embedprop.errors import (
    InvalidGraphError,
    InvalidParameterError,
    UnknownLabelError,
    UnknownNodeError,
)
from embedprop.graph.changes.inverses import inverse_of
from embedprop.model import answers
from embedprop.model.answers import classes, new_vectors

SMALL: dict[str, Any] = {"dim": 4, "epochs": 2, "n_threads": 1, "verbose": False}
EDGES = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "c")]
GRAPH = Graph.from_edges(EDGES, relations=["likes", "likes", "knows", "knows"], directed=True)


@pytest.fixture(scope="module")
def model() -> EmbeddingPropagation:
    return EmbeddingPropagation(**SMALL).fit(GRAPH)


@pytest.fixture(scope="module")
def both_ways() -> EmbeddingPropagation:
    return EmbeddingPropagation(**SMALL).fit(GRAPH.with_inverses())


def relation(model: EmbeddingPropagation, name: Any) -> np.ndarray:
    return model.relation_embeddings_["node"][model.relations_.index(name)]


def test_a_new_node_hears_over_relations(model: EmbeddingPropagation) -> None:
    expected = (
        2 * (model["a"] + relation(model, "likes")) + model["c"] + relation(model, "knows")
    ) / 3
    alone = model.transform_node(["a", "c"], weights=[2, 1], relations=["likes", "knows"])
    np.testing.assert_allclose(alone, expected, rtol=1e-5, atol=1e-7)
    new = Graph.from_edges(
        [("a", "n"), ("c", "n")], relations=["likes", "knows"], weights=[2, 1], directed=True
    )
    np.testing.assert_allclose(model.transform(new)[new.nodes.find("n")], expected, 1e-5, 1e-7)


def test_over_an_inverse_what_it_points_at_speaks_to_it(both_ways: EmbeddingPropagation) -> None:
    new = Graph.from_edges([("n", "a")], relations=["likes"], directed=True)
    expected = both_ways["a"] + relation(both_ways, inverse_of("likes"))
    vector = both_ways.transform(new)[new.nodes.find("n")]
    np.testing.assert_allclose(vector, expected, rtol=1e-5, atol=1e-7)
    alone = both_ways.transform_node(["a"], relations=[inverse_of("likes")])
    np.testing.assert_allclose(alone, expected, rtol=1e-5, atol=1e-7)


def test_unknown_relations_and_neighbors_do_not_count(
    model: EmbeddingPropagation, caplog: pytest.LogCaptureFixture
) -> None:
    expected = model["a"] + relation(model, "likes")
    alone = model.transform_node(["a", "b", "x"], relations=["likes", "hates", "likes"])
    np.testing.assert_allclose(alone, expected, rtol=1e-5)
    new = Graph.from_edges([("a", "n"), ("b", "n")], relations=["likes", "hates"], directed=True)
    np.testing.assert_allclose(model.transform(new)[new.nodes.find("n")], expected, rtol=1e-5)
    assert "1 edge has a relation that was not seen in training" in caplog.text


def test_an_edge_without_weight_does_not_count(model: EmbeddingPropagation) -> None:
    alone = model.transform_node(["a", "b"], weights=[1, 0], relations=["likes", "knows"])
    np.testing.assert_allclose(alone, model["a"] + relation(model, "likes"), rtol=1e-5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "expected one relation for each of the 2 neighbors, got 0. Give"),
        ({"relations": ["likes"]}, "one relation for each of the 2 neighbors, got 1."),
    ],
)
def test_every_edge_needs_its_relation(
    model: EmbeddingPropagation, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        model.transform_node(["a", "b"], **given)
    with pytest.raises(InvalidGraphError, match="the edges of this graph have none"):
        model.transform(Graph.from_edges([("a", "n")], directed=True))


def test_relations_where_the_model_has_none_are_refused(star_model: EmbeddingPropagation) -> None:
    with pytest.raises(InvalidParameterError, match="relations must be left out: the model"):
        star_model.transform_node(["hub"], relations=["likes"])


def test_relation_vectors_are_exposed(
    model: EmbeddingPropagation, star_model: EmbeddingPropagation
) -> None:
    assert model.relations_ == ("likes", "knows")
    assert model.relation_embeddings_["node"].shape == (2, 4)
    assert star_model.relations_ is None
    assert star_model.relation_embeddings_ == {}


def test_walks_have_no_relations() -> None:
    with pytest.raises(InvalidParameterError, match="cannot be combined with relations"):
        EmbeddingPropagation(**SMALL, neighborhood="walks").fit(GRAPH)


QUERIES = {
    "score_edge": lambda m: m.score_edge("a", "b"),
    "predict_tails": lambda m: m.predict_tails("a", "likes"),
    "predict_heads": lambda m: m.predict_heads("likes", "a"),
    "predict": lambda m: m.predict(),
    "transform": lambda m: m.transform(GRAPH),
    "transform_node": lambda m: m.transform_node(["a"]),
    "similar": lambda m: m.similar("a"),
    "similar_labels": lambda m: m.similar_labels("node", "a"),
    "link_scores": lambda m: m.link_scores(),
    "save": lambda m: m.save("nowhere"),
    "a vector": lambda m: m["a"],
    "node_embeddings_": lambda m: m.node_embeddings_,
    "whether it has": lambda m: "a" in m,
    "its nodes": list,
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_model_that_was_not_fitted_answers_nothing(name: str) -> None:
    with pytest.raises(NotFittedError):
        QUERIES[name](EmbeddingPropagation())


def test_unknown_names_are_told(model: EmbeddingPropagation) -> None:
    with pytest.raises(UnknownLabelError, match="Unknown label type 'word': the model has 'node'"):
        model.similar_labels("word", "x")
    with pytest.raises(UnknownNodeError, match="Unknown node 'x'"):
        model.similar("x")


WORDS = Graph.from_edges(
    [("a", "b"), ("b", "c"), ("c", "a")], labels={"word": {"a": ["x"], "b": ["x", "y"], "c": ["y"]}}
)
# What is asked, and the notices that go with the answer: (text, whether it is a warning).
UNKNOWN = ("1 of the 2 labels of type 'word' of new nodes were not seen in training", False)
NOTHING = ("Nothing is known about the new node: its vector is zeros.", True)
NOTICED: dict[str, tuple[Any, list[tuple[str, bool]]]] = {
    "a node with all known": (lambda m: new_vector(m, ["a"], {"word": ["x"]}), []),
    "an unknown label": (lambda m: new_vector(m, ["a"], {"word": ["x", "q"]}), [UNKNOWN]),
    "nothing known": (lambda m: new_vector(m, ["q"]), [NOTHING]),
    "nothing known of its own": (
        lambda m: new_vector(m, ["a"], {"word": ["q"]}, source="own"),
        [
            ("1 of the 1 labels of type 'word'", False),
            ("None of the new node's own labels is known, and source='own'", True),
        ],
    ),
    "known nodes": (lambda m: new_vectors(m, WORDS, "both"), []),
    "a graph with unknown labels and nodes": (
        lambda m: new_vectors(m, grown(["x", "q"], ["lost"]), "both"),
        [UNKNOWN, ("Nothing is known about 1 of the 2 new nodes (for example 'lost')", True)],
    ),
    "a directed graph": (
        lambda m: new_vectors(m, grown(["x"], directed=True), "both"),
        [("The model was trained on a graph that is undirected, but this one is directed", True)],
    ),
    "classes of known nodes": (lambda m: classes(m, WORDS), []),
    "classes of new ones": (lambda m: classes(m, grown(["x", "q"])), [UNKNOWN]),
}


def grown(words: list[str], lost: Sequence[str] = (), directed: bool = False) -> Graph:
    """The three known nodes, a new one with these words, and some without anything."""
    nodes = ["a", "b", "c", "new", *lost]
    return Graph.from_edges(
        [("a", "new")], nodes=nodes, labels={"word": {"new": words}}, directed=directed
    )


def new_vector(model: Model, neighbors: Any, labels: Any = None, source: Any = "both") -> Any:
    return answers.new_vector(model, neighbors, labels, None, source, None)


@pytest.fixture(scope="module")
def with_head() -> EmbeddingPropagation:
    return EmbeddingPropagation(**SMALL).fit(WORDS, targets={"a": "red", "c": "blue"})


@pytest.mark.parametrize("name", NOTICED)
def test_what_was_noticed_goes_with_the_answer_and_is_not_logged(
    with_head: EmbeddingPropagation, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    ask, expected = NOTICED[name]
    with caplog.at_level(logging.DEBUG):
        notices = ask(with_head.model_).notices
    assert not caplog.records
    assert [one.is_warning for one in notices] == [is_warning for _, is_warning in expected]
    for notice, (text, _) in zip(notices, expected, strict=True):
        assert notice.text.startswith(text)


FACES = {
    "transform": lambda m: m.transform(grown(["x", "q"])),
    "transform_node": lambda m: m.transform_node(["a"], {"word": ["x", "q"]}),
    "predict": lambda m: m.predict(grown(["x", "q"])),
}


@pytest.mark.parametrize("of", ["estimator", "model"])
@pytest.mark.parametrize("name", FACES)
def test_the_faces_log_it_once(
    with_head: EmbeddingPropagation, caplog: pytest.LogCaptureFixture, name: str, of: str
) -> None:
    with caplog.at_level(logging.INFO, logger="embedprop"):
        FACES[name](with_head if of == "estimator" else with_head.model_)
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert record.getMessage().startswith(UNKNOWN[0])


def test_relations_that_are_not_known_are_noticed_with_their_number(model: Any) -> None:
    for n_edges, said in ((1, "1 edge has"), (2, "2 edges have")):
        edges = [("a", "n"), ("b", "n"), ("c", "n")]
        relations = ["likes", "hates", "hates" if n_edges == 2 else "knows"]
        graph = Graph.from_edges(edges, relations=relations, directed=True)
        (notice,) = answers.new_vectors(model.model_, graph, "both").notices
        assert notice.text.startswith(f"{said} a relation that was not seen in training: ignored.")
        assert notice.is_warning


def test_one_string_is_not_a_list_of_neighbors_of_a_model_with_relations() -> None:
    graph = Graph.from_edges([("a", "b"), ("b", "c")], relations=["r", "r"], directed=True)
    model = EmbeddingPropagation(dim=2, epochs=1, n_threads=1, verbose=False).fit(graph).model_
    with pytest.raises(InvalidParameterError, match=r"^neighbors='ab' is one string; give a list"):
        model.transform_node("ab")
    assert not model.transform_node([]).any()

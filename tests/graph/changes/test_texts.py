from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError
from embedprop.graph.changes.texts import Tokens, as_word_sets, words_of

PATH = [("a", "b"), ("b", "c"), ("c", "d")]
TITLES = {"a": "A graph, a Graph!", "b": "?!", "d": "graph of d"}


def titles(**others: object) -> Graph:
    labels = {"word": {"a": ["w"]}, "title:text": TITLES, "age:numeric": {"a": 3.0}}
    return Graph.from_edges(PATH, labels=labels, **others)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n\t", []),
        ("?! -- ...", []),
        ("Don't STOP", ["don", "t", "stop"]),
        ("über-Straße", ["über", "straße"]),
        ("ÉCOLE Москва 東京 naïve", ["école", "москва", "東京", "naïve"]),
        ("x_1 3.14 e-mail", ["x_1", "3", "14", "e", "mail"]),
        ("one\ntwo\u2028three", ["one", "two", "three"]),
    ],
)
def test_words_are_runs_of_letters_and_digits_in_lower_case(text, words):
    assert words_of(text) == words


@given(st.text())
def test_words_are_never_empty_and_the_same_in_any_case_of_ascii(text):
    assert all(words_of(text))
    ascii_text = text.encode("ascii", "ignore").decode()
    assert words_of(ascii_text.upper()) == words_of(ascii_text)


def test_the_words_of_a_text_are_its_labels_with_their_counts():
    graph = as_word_sets(titles(), "title")
    assert graph.kinds == {"node": "set", "word": "set", "title": "set", "age": "numeric"}
    assert graph.label_types == ("node", "word", "title", "age")
    names = graph.vocabulary("title").names
    assert names == ("a", "graph", "of", "d")
    found = [
        {names[id_]: weight for id_, weight in zip(sets.of(i), sets.weights_of(i), strict=True)}
        for sets in [graph.labels["title"]]
        for i in range(4)
    ]
    assert found == [{"a": 2, "graph": 2}, {}, {}, {"graph": 1, "of": 1, "d": 1}]


def test_a_text_without_words_or_no_text_is_no_labels():
    graph = as_word_sets(titles(), "title")
    assert graph.has_labels("title").tolist() == [True, False, False, True]


def test_the_rest_of_the_graph_stays():
    before = titles()
    after = as_word_sets(before, "title")
    assert after.nodes is before.nodes
    assert after.neighbors is before.neighbors
    assert after.labels["word"] is before.labels["word"]
    assert after.values["age"] is before.values["age"]
    assert before.kinds["title"] == "text"


def test_it_is_the_graph_that_has_the_words_as_labels():
    graph = as_word_sets(titles(), "title")
    counts = {"a": {"a": 2, "graph": 2}, "d": {"graph": 1, "of": 1, "d": 1}}
    given = Graph.from_edges(PATH, labels={"title": counts})
    for name in ("ptr", "ids", "weights"):
        np.testing.assert_array_equal(
            getattr(graph.labels["title"], name), getattr(given.labels["title"], name)
        )
    model = {"dim": 4, "epochs": 3, "label_types": ["node", "title"], "n_threads": 1}
    np.testing.assert_array_equal(
        EmbeddingPropagation(**model).fit_transform(graph),
        EmbeddingPropagation(**model).fit_transform(given),
    )


def test_without_any_word_no_node_has_labels():
    graph = Graph.from_edges(PATH, labels={"title:text": {"a": "...", "b": ""}})
    graph = as_word_sets(graph, "title")
    assert len(graph.vocabulary("title")) == 0
    assert not graph.has_labels("title").any()


@pytest.mark.parametrize("label_type", ["word", "age", "node", "other"])
def test_what_is_no_text_is_refused(label_type):
    with pytest.raises(
        InvalidParameterError, match=f"'{label_type}' is not a text label type .* 'title'"
    ):
        as_word_sets(titles(), label_type)


def test_tokens_are_counted_from_1_the_most_frequent_first():
    tokens = Tokens.of(["b a b", None, "c a b", ""])
    assert tokens.vocabulary.names == ("b", "a", "c")
    assert tokens.encode(["a b", "c"], max_length=9).tolist() == [[2, 1], [3, 0]]


def test_equally_frequent_tokens_stand_in_order_of_appearance():
    assert Tokens.of(["z y", "x y z"]).vocabulary.names == ("z", "y", "x")


def test_only_the_most_frequent_tokens_are_kept(caplog):
    with caplog.at_level(logging.INFO, "embedprop"):
        tokens = Tokens.of(["a a a b b c"], max_tokens=2)
    assert tokens.vocabulary.names == ("a", "b")
    assert len(tokens) == 2
    assert caplog.messages == ["keeping the 2 most frequent of 3 words as tokens"]


def test_unknown_tokens_are_skipped_before_a_text_is_cut(caplog):
    tokens = Tokens.of(["a b c d"])
    with caplog.at_level(logging.INFO, "embedprop"):
        encoded = tokens.encode(["new a B other c d", None, "new"], max_length=3)
    assert encoded.tolist() == [[1, 2, 3], [0, 0, 0], [0, 0, 0]]
    assert encoded.dtype == np.int64
    assert caplog.messages == ["cut 1 of 3 texts after 3 tokens"]


def test_an_encoding_has_at_least_one_column():
    tokens = Tokens.of([])
    assert len(tokens) == 0
    assert tokens.encode(["a", None], max_length=None).tolist() == [[0], [0]]
    assert tokens.encode([], max_length=4).shape == (0, 1)


def test_limits_must_be_counts():
    with pytest.raises(InvalidParameterError, match="max_tokens=0: expected"):
        Tokens.of(["a"], max_tokens=0)
    with pytest.raises(InvalidParameterError, match="max_length=-1: expected"):
        Tokens.of(["a"]).encode(["a"], max_length=-1)


@given(st.lists(st.none() | st.text(alphabet="ab cD!", max_size=12), max_size=6))
def test_the_training_texts_can_be_read_back(texts):
    tokens = Tokens.of(texts)
    encoded = tokens.encode(texts, max_length=None)
    back = [[tokens.vocabulary[id_ - 1] for id_ in row if id_] for row in encoded]
    assert back == [words_of(text or "") for text in texts]
    # Padding stands at the end alone.
    assert ((encoded[:, :-1] > 0) >= (encoded[:, 1:] > 0)).all()

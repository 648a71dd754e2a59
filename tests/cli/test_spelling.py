from __future__ import annotations

import pytest

from embedprop import EmbeddingPropagation, Graph
from embedprop.cli.spelling import as_known, respelled, shell_word


@pytest.mark.parametrize("text", ["07", "+7", " 7", "7.0", "seven", "", "9" * 5000, "8"])
def test_only_the_usual_spelling_of_a_known_number_is_taken_for_it(text: str) -> None:
    assert as_known(text, {7}) == text
    assert as_known("7", {7}) == 7


@pytest.mark.parametrize(
    ("name", "word"), [("a", "a"), ("a b", "'a b'"), ("-x", "-- -x"), (7, "7"), ("", "''")]
)
def test_a_name_is_quoted_for_the_shell(name: object, word: str) -> None:
    assert shell_word(name) == word


def test_a_graph_read_as_text_gets_the_names_of_the_model() -> None:
    numbers = Graph.from_edges([(1, 2), (2, "2")], labels={"size": {1: [10]}})
    model = EmbeddingPropagation(dim=2, epochs=0, n_threads=1).fit(numbers).model_
    text = Graph.from_edges(
        [("1", "2"), ("2", "3")], labels={"size": {"1": ["10"]}, "new": {"3": ["1"]}}
    )
    graph = respelled(text, model)
    assert list(graph.nodes) == [1, "2", "3"]  # "2" is a node of its own in the model
    assert list(graph.vocabulary("node")) == [1, "2", "3"]
    assert list(graph.vocabulary("size")) == [10]
    assert list(graph.vocabulary("new")) == ["1"]
    assert graph.n_edges == text.n_edges


def test_names_that_are_all_text_stay_as_they_are() -> None:
    graph = Graph.from_edges([("1", "2")])
    model = EmbeddingPropagation(dim=2, epochs=0, n_threads=1).fit(graph).model_
    assert respelled(graph, model).nodes is graph.nodes

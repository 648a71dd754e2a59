"""partial_fit goes on from what was learned, on a graph that has grown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.toy_graphs import TwoCliques

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError

SMALL = {"dim": 4, "epochs": 2, "n_threads": 1}


@pytest.fixture
def model(star_with_words: Graph) -> EmbeddingPropagation:
    return EmbeddingPropagation(**SMALL).fit(star_with_words)


@pytest.fixture
def grown() -> Graph:
    """The star with a new leaf, a new word, leaf1 without words, and nodes in another order."""
    return Graph.from_edges(
        [("leaf5", "hub"), *(("hub", f"leaf{i}") for i in (4, 3, 2, 1))],
        labels={"word": {"leaf5": ["new", "z"], "hub": ["x"], "leaf2": ["y"], "leaf4": ["z"]}},
    )


def label_vectors(model: EmbeddingPropagation, label_type: str) -> dict[Any, np.ndarray]:
    return dict(
        zip(model.labels_[label_type], model.label_embeddings_[label_type].copy(), strict=True)
    )


def test_known_labels_start_from_their_vectors_and_new_ones_as_usual(
    model: EmbeddingPropagation, grown: Graph
) -> None:
    nodes, words = label_vectors(model, "node"), label_vectors(model, "word")
    model.set_params(epochs=0).partial_fit(grown)
    assert list(model.nodes_) == list(grown.nodes)
    for node, vector in label_vectors(model, "node").items():
        if node != "leaf5":
            np.testing.assert_array_equal(vector, nodes[node])
    now = label_vectors(model, "word")
    assert set(now) == {"x", "y", "z", "new"}
    for word in "xyz":
        np.testing.assert_array_equal(now[word], words[word])
    limit = np.sqrt(6 / (4 + 2 + 4))  # four words, two dummies, four dimensions
    assert 0 < np.abs(now["new"]).max() <= limit


def test_a_node_that_still_lacks_labels_keeps_its_dummy(
    model: EmbeddingPropagation, grown: Graph
) -> None:
    before = {node: model[node][4:].copy() for node in model.nodes_}
    model.set_params(epochs=0).partial_fit(grown)
    np.testing.assert_array_equal(model["leaf3"][4:], before["leaf3"])
    # leaf1 had the word x, and now has a dummy of its own, started afresh.
    assert (model["leaf1"][4:] != before["leaf1"]).any()


def test_labels_that_the_graph_lacks_keep_their_vectors(model: EmbeddingPropagation) -> None:
    before = label_vectors(model, "word")
    smaller = Graph.from_edges([("hub", "leaf1")], labels={"word": {"hub": ["y", "fresh"]}})
    model.partial_fit(smaller)
    now = label_vectors(model, "word")
    assert list(now) == ["y", "fresh", "x", "z"]
    np.testing.assert_array_equal(now["x"], before["x"])
    np.testing.assert_array_equal(now["z"], before["z"])
    assert list(model.nodes_) == ["hub", "leaf1"]
    assert "z" in dict(model.similar_labels("word", "fresh"))


def test_labels_that_were_kept_still_count_for_new_nodes(model: EmbeddingPropagation) -> None:
    model.partial_fit(Graph.from_edges([("hub", "leaf1")], labels={"word": {"hub": ["y"]}}))
    z = label_vectors(model, "word")["z"]
    np.testing.assert_allclose(model.transform_node([], {"word": ["z"]})[4:], z, rtol=1e-6)


def test_history_grows_and_draws_go_on(model: EmbeddingPropagation, star_with_words: Graph) -> None:
    first = {name: list(losses) for name, losses in model.loss_history_.items()}
    model.partial_fit(star_with_words)
    for name, losses in model.loss_history_.items():
        assert len(losses) == 4
        assert losses[:2] == first[name]
    model.set_params(epochs=3).partial_fit(star_with_words)
    assert [len(losses) for losses in model.loss_history_.values()] == [7, 7]


def test_two_halves_draw_as_one_whole_does(path: Graph) -> None:
    # One batch and a first step: Adam has no memory yet, so fresh moments change nothing.
    whole = EmbeddingPropagation(dim=4, epochs=1, n_threads=1).fit(path)
    start = EmbeddingPropagation(dim=4, epochs=0, n_threads=1).fit(path)
    np.testing.assert_array_equal(
        start.set_params(epochs=1).partial_fit(path).node_embeddings_, whole.node_embeddings_
    )
    # The second epoch must not repeat the draws of the first.
    losses = whole.partial_fit(path).loss_history_["node"]
    again = EmbeddingPropagation(dim=4, epochs=2, n_threads=1).fit(path).loss_history_["node"]
    assert losses == again


def test_without_an_earlier_fit_it_is_a_fit(star_with_words: Graph) -> None:
    one = EmbeddingPropagation(**SMALL).partial_fit(star_with_words)
    other = EmbeddingPropagation(**SMALL).fit(star_with_words)
    np.testing.assert_array_equal(one.node_embeddings_, other.node_embeddings_)


def test_going_on_lowers_the_loss_further(two_cliques: TwoCliques) -> None:
    model = EmbeddingPropagation(dim=8, epochs=20, learning_rate=0.01, n_threads=1)
    model.fit(two_cliques.graph)
    before = {name: losses[-1] for name, losses in model.loss_history_.items()}
    model.set_params(epochs=40).partial_fit(two_cliques.graph)
    for name, losses in model.loss_history_.items():
        assert losses[-1] < before[name]


def test_a_new_label_type_is_learned_from_the_start(path: Graph) -> None:
    model = EmbeddingPropagation(**SMALL).fit(path)
    nodes = label_vectors(model, "node")
    words = Graph.from_edges([(i, i + 1) for i in range(4)], labels={"word": {0: ["x"]}})
    model.set_params(epochs=0).partial_fit(words)
    assert model.node_embeddings_.shape == (5, 8)
    np.testing.assert_array_equal(model[3][:4], nodes[3])
    assert list(model.labels_["word"]) == ["x"]


def test_a_label_type_that_would_be_lost_is_an_error(model: EmbeddingPropagation) -> None:
    with pytest.raises(InvalidParameterError, match="learned the label types 'word', which would"):
        model.partial_fit(Graph.from_edges([("hub", "leaf1"), ("hub", "leaf9")]))
    assert list(model.label_embeddings_) == ["node", "word"]


def test_nodes_that_are_forgotten_are_counted_in_a_warning(
    model: EmbeddingPropagation, caplog: pytest.LogCaptureFixture
) -> None:
    words = {"word": {"hub": ["x"]}}
    model.partial_fit(Graph.from_edges([("hub", "leaf1"), ("hub", "leaf9")], labels=words))
    assert "3 of the 5 nodes of the model are not in this graph" in caplog.text


def test_another_width_is_refused(model: EmbeddingPropagation, star_with_words: Graph) -> None:
    model.set_params(dim=5)
    with pytest.raises(
        InvalidParameterError,
        match=r"dim=5 for label type 'node', but the vectors learned so far have 4\. Keep dim=4",
    ):
        model.partial_fit(star_with_words)
    assert model.node_embeddings_.shape == (5, 8)


def test_what_was_learned_before_is_not_changed_in_place(
    model: EmbeddingPropagation, star_with_words: Graph
) -> None:
    vectors = model.node_embeddings_
    before = vectors.copy()
    model.partial_fit(star_with_words)
    np.testing.assert_array_equal(vectors, before)
    assert (model.node_embeddings_ != before).any()

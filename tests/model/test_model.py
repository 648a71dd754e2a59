"""Asking a model: vectors of nodes, and who is similar to whom."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.toy_graphs import TwoCliques

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError, UnknownLabelError, UnknownNodeError

SMALL = {"dim": 4, "epochs": 2, "n_threads": 1}


def test_an_item_is_the_vector_of_a_node(star_model: EmbeddingPropagation) -> None:
    for row, node in enumerate(star_model.nodes_):
        np.testing.assert_array_equal(star_model[node], star_model.node_embeddings_[row])


def test_similar_nodes_come_by_cosine_best_first_without_the_node_itself(
    two_cliques: TwoCliques,
) -> None:
    model = EmbeddingPropagation(**SMALL).fit(two_cliques.graph)
    vectors = model.node_embeddings_.astype(np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = dict(zip(model.nodes_, unit @ unit[list(model.nodes_).index("a1")], strict=True))
    del cosines["a1"]
    expected = sorted(cosines, key=cosines.__getitem__, reverse=True)
    for k in (1, 3, 11):
        found = model.similar("a1", k=k)
        assert [node for node, _ in found] == expected[:k]
        for node, score in found:
            assert type(score) is float
            assert score == pytest.approx(cosines[node], abs=1e-6)


def test_more_neighbors_than_there_are_gives_all_others(star_model: EmbeddingPropagation) -> None:
    assert len(star_model.similar("hub", k=1000)) == 4
    assert len(star_model.similar_labels("word", "x", k=1000)) == 2


def test_similar_labels_come_by_cosine(star_model: EmbeddingPropagation) -> None:
    x, y, z = star_model.label_embeddings_["word"].astype(np.float64)
    found = dict(star_model.similar_labels("word", "x"))
    for label, vector in (("y", y), ("z", z)):
        cosine = x @ vector / np.linalg.norm(x) / np.linalg.norm(vector)
        assert found[label] == pytest.approx(cosine, abs=1e-6)


def test_ids_are_labels_too(star_with_words: Graph) -> None:
    model = EmbeddingPropagation(label_types=["node"], **SMALL).fit(star_with_words)
    assert model.similar_labels("node", "hub") == model.similar("hub")


@pytest.mark.parametrize("k", [0, -1, 2.5, None])
def test_k_must_be_a_count(star_model: EmbeddingPropagation, k: Any) -> None:
    for ask in (
        lambda: star_model.similar("hub", k=k),
        lambda: star_model.similar_labels("word", "x", k=k),
    ):
        with pytest.raises(InvalidParameterError, match=r"k=.* whole number of at least 1"):
            ask()


def test_a_list_of_nodes_has_the_vectors_of_these(star_model: EmbeddingPropagation) -> None:
    vectors = star_model[["leaf2", "hub", "leaf2"]]
    assert vectors.shape == (3, 8)
    for vector, node in zip(vectors, ("leaf2", "hub", "leaf2"), strict=True):
        np.testing.assert_array_equal(vector, star_model[node])
    assert star_model[[]].shape == (0, 8)
    with pytest.raises(UnknownNodeError, match=r"^Unknown node 'leaf'"):
        star_model[["hub", "leaf"]]


def test_a_tuple_is_one_node() -> None:
    graph = Graph.from_edges([(("a", 1), ("a", 2)), (("a", 2), "a")])
    model = EmbeddingPropagation(**SMALL).fit(graph)
    np.testing.assert_array_equal(model["a", 2], model.node_embeddings_[1])
    np.testing.assert_array_equal(model[[("a", 2), "a"]], model.node_embeddings_[1:])


@pytest.mark.parametrize("node", ["Hub", 1, None, ["hub"]])
def test_an_unknown_node_is_named(star_model: EmbeddingPropagation, node: Any) -> None:
    for ask in (
        lambda: star_model[[node]],
        lambda: star_model.similar(node),
        lambda: star_model.model_.row(node),
    ):
        with pytest.raises(UnknownNodeError) as caught:
            ask()
        assert str(caught.value).startswith(
            f"Unknown node {node!r}: it is not among the 5 nodes of the model."
        )
        assert isinstance(caught.value, KeyError)


def test_an_unknown_label_or_type_is_named(star_model: EmbeddingPropagation) -> None:
    with pytest.raises(UnknownLabelError, match="Unknown label 'q' of type 'word'"):
        star_model.similar_labels("word", "q")
    with pytest.raises(
        UnknownLabelError, match=r"Unknown label type 'wrod': the model has 'node', 'word'"
    ):
        star_model.similar_labels("wrod", "x")


def test_a_row_is_that_of_the_vectors(star_model: EmbeddingPropagation) -> None:
    model = star_model.model_
    assert [model.row(node) for node in model] == list(range(len(model))) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(model["leaf2"], model.vectors[model.row("leaf2")])
    assert "leaf2" in model
    assert "leaf9" not in model


def test_a_name_that_is_nearly_right_is_proposed(star_model: EmbeddingPropagation) -> None:
    model = star_model.model_
    with pytest.raises(UnknownNodeError, match=r"Did you mean 'leaf[1-4]'\?$"):
        model.row("leaf9")
    with pytest.raises(UnknownLabelError, match=r"Did you mean 'word'\?$"):
        model.similar_labels("words", "x")


def test_what_it_is_stands_in_its_repr(star_model: EmbeddingPropagation) -> None:
    shown = "Model(epb, 5 nodes, 8 numbers each, label types: node, word)"
    assert repr(star_model.model_) == shown


def test_a_model_cannot_be_changed(star_model: EmbeddingPropagation) -> None:
    with pytest.raises(AttributeError, match="cannot assign to field 'directed'"):
        star_model.model_.directed = True  # type: ignore[misc]


def test_the_estimator_answers_by_its_model(star_model: EmbeddingPropagation) -> None:
    model = star_model.model_
    assert star_model.node_embeddings_ is model.vectors
    assert list(star_model) == list(star_model.nodes_) == list(model.nodes)
    assert star_model.similar("hub") == model.similar("hub")
    assert star_model.similar_labels("word", "x") == model.similar_labels("word", "x")
    assert star_model.score_edge("hub", "leaf1") == model.score_edge("hub", "leaf1")
    assert star_model.predict_tails("hub") == model.predict_tails("hub")
    assert star_model.predict_heads(None, "hub") == model.predict_heads(None, "hub")
    assert star_model.instance_ is model.instance
    assert (star_model.seed_, star_model.directed_) == (model.learning.seed, model.directed)
    assert star_model.n_parameters_ == model.n_parameters == 4 * (5 + 3 + 1)


def test_a_loaded_model_answers_without_scikit_learn_and_torch(
    star_model: EmbeddingPropagation, tmp_path: Path
) -> None:
    star_model.save(tmp_path)
    code = f"""
import sys, embedprop
model = embedprop.load({str(tmp_path)!r})
print(model.similar("hub", k=2)[0][0], model.transform_node(["hub"]).shape[0])
print(sorted(set(sys.modules) & {{"sklearn", "torch", "embedprop.estimators"}}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    best = star_model.similar("hub", k=1)[0][0]
    assert done.stdout.splitlines() == [f"{best} 8", "[]"]


def test_a_label_has_a_vector() -> None:
    words = {"a": ["x", "y"], "b": ["y"]}
    graph = Graph.from_edges([("a", "b")], labels={"word": words})
    model = EmbeddingPropagation(dim=4, epochs=1, n_threads=1, verbose=False).fit(graph).model_
    for row, name in enumerate(model.vocabularies["word"]):
        np.testing.assert_array_equal(
            model.label_vector("word", name), model.label_vectors["word"][row]
        )
    with pytest.raises(UnknownLabelError, match="Unknown label 'z' of type 'word'"):
        model.label_vector("word", "z")
    with pytest.raises(UnknownLabelError, match=r"Unknown label type 'wrod'.*Did you mean 'word'"):
        model.label_vector("wrod", "x")

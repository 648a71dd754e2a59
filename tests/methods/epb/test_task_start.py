"""The vectors that learning starts from: Glorot's, given ones, and what is known already."""

from __future__ import annotations

import numpy as np
import pytest
from tests import toy_graphs
from tests.methods.epb.runs import Run

from embedprop import EmbeddingPropagation, Graph
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.epb import EPBInstance, TypeInstance
from embedprop.methods.epb.task import glorot, start_vectors
from embedprop.methods.random_streams import RandomStreams

STREAMS = RandomStreams(0)


@pytest.mark.parametrize(("n_vectors", "dim"), [(400, 16), (3, 128)])
def test_start_vectors_fill_the_range_of_glorot(n_vectors: int, dim: int) -> None:
    vectors = glorot("word", n_vectors, dim, RandomStreams(0))
    limit = np.sqrt(6 / (n_vectors + dim))
    assert vectors.dtype == np.float32
    assert vectors.shape == (n_vectors, dim)
    assert np.abs(vectors).max() <= limit
    assert vectors.max() > 0.95 * limit
    assert vectors.min() < -0.95 * limit
    assert vectors.std() == pytest.approx(limit / np.sqrt(3), rel=0.05)


def test_start_vectors_differ_by_type_and_seed_only() -> None:
    first = glorot("word", 5, 4, RandomStreams(0))
    np.testing.assert_array_equal(first, glorot("word", 5, 4, RandomStreams(0)))
    assert (first != glorot("node", 5, 4, RandomStreams(0))).all()
    assert (first != glorot("word", 5, 4, RandomStreams(1))).all()


def test_dummy_labels_are_learned_like_others() -> None:
    run = Run.of(toy_graphs.messy(missing=True), label_types=("word",))
    n_labels = run.learnable.labels("word").n_labels
    moved = run.fused().label_vectors["word"] != run.start["word"]
    assert moved[n_labels:].any(axis=1).all()


def instance_of(graph: Graph, **types: TypeInstance) -> EPBInstance:
    n_relations = 0 if graph.relations is None else len(graph.relations)
    types = types or {name: TypeInstance(4) for name in graph.label_types}
    return EPBInstance(types, n_relations=n_relations)


def test_without_anything_known_all_vectors_are_glorot_s(star_with_words: Graph) -> None:
    start = start_vectors(LearnableGraph.of(star_with_words), instance_of(star_with_words), STREAMS)
    np.testing.assert_array_equal(start.labels["node"], glorot("node", 5, 4, STREAMS))
    np.testing.assert_array_equal(start.labels["word"], glorot("word", 4, 4, STREAMS))  # a dummy
    assert (start.relations, start.fixed) == ({}, {})


def test_relations_start_too() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], relations=["r", "s"], directed=True)
    start = start_vectors(LearnableGraph.of(graph), instance_of(graph), STREAMS)
    assert start.relations["node"].shape == (2, 4)
    assert start.relations["node"].any(axis=1).all()


def test_of_numbers_only_dummies_have_vectors_to_start_from() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], labels={"age:numeric": {0: 3.0, 2: 3.0}})
    ages = TypeInstance(4, kind="numeric", label_embedding="linear")
    start = start_vectors(LearnableGraph.of(graph), instance_of(graph, age=ages), STREAMS)
    assert start.labels["age"].shape == (1, 4)


def test_given_vectors_are_put_in_and_marked(star_with_words: Graph) -> None:
    given = {"word": {"z": [1.0, 2.0, 3.0, 4.0], "other": [0.0] * 4}}
    instance = instance_of(star_with_words)
    start = start_vectors(LearnableGraph.of(star_with_words), instance, STREAMS, pretrained=given)
    assert start.fixed["word"].tolist() == [False, False, True, False]
    assert start.labels["word"][2].tolist() == [1.0, 2.0, 3.0, 4.0]
    np.testing.assert_array_equal(start.labels["word"][:2], glorot("word", 4, 4, STREAMS)[:2])


def test_what_a_model_knows_is_put_in_by_name(star_model: EmbeddingPropagation) -> None:
    grown = Graph.from_edges(
        [("leaf4", "new"), ("leaf3", "leaf4"), ("newer", "new")],
        labels={"word": {"new": ["q", "z"], "leaf4": ["x"]}},
    )
    learnable, model = LearnableGraph.of(grown), star_model.model_
    start = start_vectors(learnable, instance_of(grown), STREAMS, model)
    words = dict(zip(grown.vocabulary("word"), start.labels["word"], strict=False))
    learned = dict(zip(model.vocabularies["word"], model.label_vectors["word"], strict=True))
    for word in ("x", "z"):
        np.testing.assert_array_equal(words[word], learned[word])
    fresh = glorot("word", len(start.labels["word"]), 4, STREAMS)
    q = list(grown.vocabulary("word")).index("q")
    np.testing.assert_array_equal(start.labels["word"][q], fresh[q])
    # The dummy of leaf3 is known, that of the newest node is not.
    rows = {grown.nodes[node]: 3 + i for i, node in enumerate(learnable.labels("word").dummy_nodes)}
    assert set(rows) == {"leaf3", "newer"}
    np.testing.assert_array_equal(start.labels["word"][rows["leaf3"]], model["leaf3"][4:])
    np.testing.assert_array_equal(start.labels["word"][rows["newer"]], fresh[rows["newer"]])
    leaf = grown.nodes.find("leaf4")
    np.testing.assert_array_equal(start.labels["node"][leaf], model["leaf4"][:4])

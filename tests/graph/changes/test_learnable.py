from __future__ import annotations

import numpy as np
import pytest
from tests import toy_graphs

from embedprop import Graph
from embedprop.graph.changes.learnable import learned_labels
from embedprop.methods.epb.start import glorot
from embedprop.methods.random_streams import RandomStreams


def test_a_graph_without_gaps_needs_no_dummy_labels(path: Graph) -> None:
    learned = learned_labels(path, "node")
    assert learned.sets is path.labels["node"]
    assert learned.n_vectors == learned.n_labels == 5
    assert learned.dummy_nodes.tolist() == []


def test_a_node_without_labels_gets_one_of_its_own() -> None:
    graph = Graph.from_edges(
        [(0, 1), (1, 2), (2, 3)], labels={"word": {1: ["x", "y"], 3: ["y"]}}, nodes=range(5)
    )
    learned = learned_labels(graph, "word")
    assert learned.n_labels == 2
    assert learned.dummy_nodes.tolist() == [0, 2, 4]
    assert learned.n_vectors == 5
    assert [learned.sets.of(node).tolist() for node in range(5)] == [[2], [0, 1], [3], [1], [4]]


def test_a_dummy_weighs_the_mean_total_weight_of_labelled_nodes(star_with_words: Graph) -> None:
    learned = learned_labels(star_with_words, "word")
    lonely = star_with_words.nodes.find("leaf3")
    assert learned.dummy_nodes.tolist() == [lonely]
    # totals: hub 4, leaf1 1, leaf2 2.5, leaf4 2
    assert learned.sets.weights_of(lonely).tolist() == [9.5 / 4]
    hub = star_with_words.nodes.find("hub")
    assert learned.sets.weights_of(hub).tolist() == [1.0, 3.0]


def test_without_label_weights_a_dummy_weighs_the_mean_number_of_labels() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], labels={"word": {0: ["x", "y", "z"], 1: ["x"]}})
    assert learned_labels(graph, "word").sets.totals.tolist() == [3.0, 1.0, 2.0]


def test_the_graph_itself_is_left_as_it_was(star_with_words: Graph) -> None:
    learned_labels(star_with_words, "word")
    assert star_with_words.labels["word"].sizes.min() == 0


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
    from tests.methods.epb.runs import Run

    run = Run.of(toy_graphs.messy(missing=True), label_types=("word",))
    n_labels = learned_labels(run.graph, "word").n_labels
    moved = run.fused().label_vectors["word"] != run.start["word"]
    assert moved[n_labels:].any(axis=1).all()

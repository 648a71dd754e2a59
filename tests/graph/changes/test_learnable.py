from __future__ import annotations

from embedprop import Graph
from embedprop.graph.changes.inverses import inverse_of
from embedprop.graph.changes.learnable import LearnableGraph, learned_labels


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


def test_labels_are_filled_once(star_with_words: Graph) -> None:
    learnable = LearnableGraph.of(star_with_words)
    assert learnable.labels("word") is learnable.labels("word")
    assert learnable.graph is star_with_words


def test_of_numbers_each_node_that_has_some_has_a_label_of_its_own() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], labels={"age:numeric": {0: 3.0, 2: 3.0}})
    learned = LearnableGraph.of(graph).labels("age")
    assert [learned.sets.of(node).tolist() for node in range(3)] == [[0], [2], [1]]
    assert (learned.n_labels, learned.dummy_nodes.tolist()) == (2, [1])


def test_texts_are_words_where_these_are_learned() -> None:
    graph = Graph.from_edges([(0, 1)], labels={"title:text": {0: "a rose is a rose"}})
    learnable = LearnableGraph.of(graph, ["title"])
    assert list(learnable.graph.vocabulary("title")) == ["a", "rose", "is"]
    assert learnable.labels("title").n_labels == 3
    assert LearnableGraph.of(graph).labels("title").n_labels == 1  # the text itself


def test_each_edge_has_an_inverse_where_these_were_learned() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], relations=["r", "s"], directed=True)
    for given in (graph, graph.with_inverses()):
        learnable = LearnableGraph.of(given, inverses=True)
        assert list(learnable.graph.relations) == ["r", "s", inverse_of("r"), inverse_of("s")]
        assert learnable.graph.neighbors.n_values == 4
    assert LearnableGraph.of(graph).graph is graph
    plain = Graph.from_edges([(0, 1), (1, 2)])
    assert LearnableGraph.of(plain, inverses=True).graph is plain

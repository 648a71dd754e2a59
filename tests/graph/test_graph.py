from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph import Graph, Multisets, Vocabulary


@pytest.fixture
def path() -> Graph:
    """A path a - b - c and an isolated z; only a and c have words, b has an age."""
    return Graph.from_edges(
        [("a", "b"), ("b", "c"), ("c", "b"), ("c", "c")],
        labels={"age:numeric": {"b": 4}, "word": {"a": ["x", "y"], "c": ["y"]}},
        nodes=["z"],
    )


def neighbor_names(graph):
    return {
        node: {graph.nodes[i] for i in graph.neighbors.of(n)} for n, node in enumerate(graph.nodes)
    }


def test_undirected_neighbors_go_both_ways(path):
    assert neighbor_names(path) == {"z": set(), "a": {"b"}, "b": {"a", "c"}, "c": {"b"}}
    assert path.degrees.tolist() == [0, 1, 2, 1]
    assert (path.n_nodes, path.n_edges) == (4, 2)
    assert (path.n_self_loops_dropped, path.n_duplicates_dropped) == (1, 1)


def test_directed_neighbors_are_the_sources_of_edges_to_a_node():
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("c", "a")], directed=True)
    assert neighbor_names(graph) == {"a": {"c"}, "b": {"a"}, "c": {"a", "b"}}
    assert graph.degrees.tolist() == [3, 2, 3]
    assert graph.n_edges == 4


def test_a_kept_self_loop_makes_a_node_its_own_neighbor_once():
    graph = Graph.from_edges([("a", "b"), ("a", "a")], self_loops="keep")
    assert neighbor_names(graph) == {"a": {"a", "b"}, "b": {"a"}}
    assert graph.n_edges == 2
    assert graph.degrees.tolist() == [2, 1]


def test_a_node_named_only_in_a_self_loop_stays_isolated():
    graph = Graph.from_edges([("a", "b"), ("c", "c")])
    assert list(graph.nodes) == ["a", "b", "c"]
    assert graph.degrees.tolist() == [1, 1, 0]


def test_declared_nodes_come_first_in_their_order():
    graph = Graph.from_edges([(3, 1), (1, 7)], nodes=[7, 5, 3])
    assert list(graph.nodes) == [7, 5, 3, 1]
    assert neighbor_names(graph) == {7: {1}, 5: set(), 3: {1}, 1: {3, 7}}


def test_the_label_type_node_comes_first_and_gives_each_node_itself(path):
    assert path.label_types == ("node", "age", "word")
    assert list(path.labels) == ["node", "word"]
    assert path.kinds == {"node": "set", "age": "numeric", "word": "set"}
    assert path.vocabulary("node") is path.nodes
    assert path.labels["node"].ids.tolist() == [0, 1, 2, 3]


def test_who_has_labels_is_known_for_every_type(path):
    assert path.has_labels("node").all()
    assert path.has_labels("word").tolist() == [False, True, False, True]
    assert path.has_labels("age").tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda g: g.has_labels("words"),
            "'words' is not a label type .*word. Did you mean 'word'",
        ),
        (
            lambda g: g.vocabulary("age"),
            "'age' is not a label type of kind set .*: node, word",
        ),
    ],
)
def test_an_unknown_label_type_is_refused_with_the_known_ones(path, ask, message):
    with pytest.raises(InvalidParameterError, match=message):
        ask(path)


def test_relations_are_kept_and_only_equal_ones_collapse():
    graph = Graph.from_edges(
        [("a", "b"), ("b", "a"), ("a", "b")], relations=["likes", "knows", "likes"]
    )
    assert list(graph.relations) == ["likes", "knows"]
    assert graph.neighbors.of(0).tolist() == [1, 1]
    assert graph.neighbor_relations.tolist() == [0, 1, 0, 1]
    assert (graph.n_edges, graph.n_duplicates_dropped) == (2, 1)


def test_a_graph_cannot_be_changed(path):
    with pytest.raises(dataclasses.FrozenInstanceError):
        path.directed = True
    with pytest.raises(TypeError, match="does not support item assignment"):
        path.labels["word"] = None
    with pytest.raises(ValueError, match="read-only"):
        path.neighbors.ids[0] = 3
    with pytest.raises(ValueError, match="read-only"):
        path.degrees[0] = 3
    with pytest.raises(ValueError, match="read-only"):
        Graph.from_edges([(0, 1)], relations="r").neighbor_relations[0] = 3


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_a_copy_is_equal_and_frozen_too(path, clone):
    twin = clone(path)
    assert twin.summary() == path.summary()
    assert twin.nodes == path.nodes
    assert twin.neighbors.ids.tolist() == path.neighbors.ids.tolist()
    assert not twin.neighbors.ids.flags.writeable
    assert twin.values["age"].values.tolist() == path.values["age"].values.tolist()


def test_describe_prints_what_was_understood(path, capsys):
    path.describe()
    assert capsys.readouterr().out.splitlines() == [
        "nodes            4, 1 of them isolated",
        "edges            2 undirected",
        "dropped          1 self-loop, 1 duplicate",
        "label type node  each node's own id",
        "label type age   numeric, 3 nodes without",
        "label type word  2 labels, 3 on nodes, 2 nodes without",
    ]


def test_the_summary_tells_weights_and_relations():
    graph = Graph.from_edges(
        [("a", "b"), ("b", "c")],
        labels={"word": {"a": {"x": 2}}},
        weights=[1, 0],
        relations=["r", "s"],
        directed=True,
    )
    lines = graph.summary().splitlines()
    assert lines[1] == "edges            1 directed, weighted"
    assert lines[2] == "dropped          0 self-loops, 0 duplicates, 1 edge of weight 0"
    assert lines[3] == "relations        2"
    assert lines[5] == "label type word  1 label, 1 on nodes, weighted, 2 nodes without"


def test_repr_is_one_short_line(path):
    assert repr(path) == "Graph(4 nodes, 2 undirected edges, label types: node, age, word)"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": Vocabulary("ab")}, "neighbors of 2 nodes, got .*4 sets"),
        ({"neighbors": Multisets.from_lists([[9], [], [], []])}, "Neighbor 9 does not exist"),
        ({"relations": Vocabulary("r")}, "one relation for every neighbor, or none"),
        ({"neighbor_relations": np.zeros(4, np.int32)}, "one relation for every neighbor"),
        ({"label_types": ("word", "node", "age")}, "'node' and then every label type once"),
        ({"label_types": ("node", "word")}, "'node' and then every label type once"),
        (
            {"vocabularies": {"node": Vocabulary("zabc"), "word": Vocabulary("x")}},
            "'word' does not",
        ),
        (
            {"labels": {"node": Multisets.identity(4), "word": Multisets.identity(3)}},
            "3 sets, 3 va",
        ),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(path, changes, message):
    with pytest.raises(InvalidGraphError, match=message):
        dataclasses.replace(path, **changes)


def test_values_must_cover_all_nodes(path):
    other = Graph.from_edges([("a", "b")], labels={"age:numeric": {"b": 4}})
    with pytest.raises(InvalidGraphError, match="'age' does not fit: expected values for 4 nodes"):
        dataclasses.replace(path, values=other.values)


@pytest.mark.parametrize(
    ("nodes", "error", "message"),
    [
        (["a", "a"], InvalidGraphError, "nodes: Name 'a' is given twice"),
        (["a", None], InvalidGraphError, "nodes: .*position 1 .*missing"),
        ("nodes.csv", InvalidParameterError, "nodes: expected the names .* got 'nodes.csv'"),
    ],
)
def test_bad_declared_nodes_are_refused(nodes, error, message):
    with pytest.raises(error, match=message):
        Graph.from_edges([("a", "b")], nodes=nodes)


def test_directed_must_be_true_or_false():
    with pytest.raises(
        InvalidParameterError, match="directed must be one of False, True, not 'no'"
    ):
        Graph.from_edges([("a", "b")], directed="no")


def test_edges_are_counted_anew_when_neighbors_change():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 2)], self_loops="keep")
    assert graph.n_edges == 3
    is_kept = np.array([False, False, True, True, True])  # without the edge between 0 and 1
    assert dataclasses.replace(graph, neighbors=graph.neighbors.keeping(is_kept)).n_edges == 2


def test_one_edge_is_not_one_edges():
    graph = Graph.from_edges([("a", "b")], directed=True)
    assert repr(graph) == "Graph(2 nodes, 1 directed edge, label types: node)"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda g: g.vocabulary("wrod"), r"Did you mean 'word'\?$"),
        (lambda _: Graph.from_edges([(0, 1)], self_loops="keeep"), r"Did you mean 'keep'\?$"),
        (lambda _: Vocabulary(["paris", "rome"]).ids(["pariss"]), r"Did you mean 'paris'\?$"),
        (
            lambda _: Graph.from_edges([("paris", "rome")], {"word": {"pariss": ["x"]}}),
            r"Did you mean 'paris'\?$",
        ),
        (
            lambda _: Graph.read(__file__, columns={"sorce": "a"}),
            r"got 'sorce'.* Did you mean 'source'\?$",
        ),
    ],
)
def test_a_spelling_mistake_is_answered_with_the_nearest_name(path, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(path)

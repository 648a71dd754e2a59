from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph import Graph

EDGES = [("a", "b"), ("b", "c")]


def with_labels(labels, key="word", **parameters):
    return Graph.from_edges(EDGES, labels={key: labels}, **parameters)


def named_labels(graph, label_type="word"):
    """{node: {label: weight}} of the nodes that have labels."""
    names, sets = graph.vocabulary(label_type), graph.labels[label_type]
    return {
        node: {names[i]: float(w) for i, w in zip(sets.of(n), sets.weights_of(n), strict=True)}
        for n, node in enumerate(graph.nodes)
        if sets.sizes[n]
    }


ROWS = [("b", "y"), ("a", "x"), ("b", "x")]
COLUMNS = {"node": ["b", "a", "b"], "label": ["y", "x", "x"]}


@pytest.mark.parametrize(
    "labels",
    [
        {"b": ["y", "x"], "a": ["x"]},
        {"b": {"y": 1, "x": 1}, "a": "x"},
        {"b": ("y", "x"), "a": {"x"}, "c": []},
        ROWS,
        [list(row) for row in ROWS],
        iter(ROWS),
        np.array(ROWS),
        np.array(ROWS, dtype=object),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, dtype=object),
        pl.DataFrame(COLUMNS),
        pl.LazyFrame(COLUMNS),
        pa.table(COLUMNS),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_every_form_of_labels_means_the_same(labels):
    graph = with_labels(labels)
    assert named_labels(graph) == {"a": {"x": 1}, "b": {"y": 1, "x": 1}}
    assert list(graph.vocabulary("word")) == ["y", "x"]
    assert graph.labels["word"].weights is None
    assert graph.has_labels("word").tolist() == [True, True, False]


@pytest.mark.parametrize(
    "labels",
    [
        {"a": {"x": 2.5}, "b": ["x"]},
        [("a", "x", 1.5), ("a", "x"), ("b", "x")],
        [("a", "x", 2.5), ("b", "x", 1), ("c", "z", 0)],
        pd.DataFrame({"node": ["a", "b"], "label": ["x", "x"], "weight": [2.5, 1]}),
        pl.DataFrame({"node": ["a", "b"], "label": ["x", "x"], "weight": [2.5, 1]}),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_weights_of_labels_are_kept_and_repeated_rows_add_up(labels):
    assert named_labels(with_labels(labels)) == {"a": {"x": 2.5}, "b": {"x": 1}}


def test_a_label_that_comes_twice_weighs_two():
    assert named_labels(with_labels({"a": ["x", "x", "y"]})) == {"a": {"x": 2, "y": 1}}


def test_a_python_set_of_labels_has_the_same_order_in_every_run():
    words = {f"w{i}" for i in range(30)}
    assert list(with_labels({"a": words}).vocabulary("word")) == sorted(words)
    assert set(with_labels({"a": {1, "x"}}).vocabulary("word")) == {1, "x"}


@pytest.mark.parametrize("make", [csr_array, csr_matrix, coo_array])
def test_a_sparse_matrix_has_a_row_for_each_declared_node_and_a_label_for_each_column(make):
    matrix = make(np.array([[0, 2, 0], [0, 0, 0], [1, 0, 0]]))
    graph = with_labels(matrix, nodes=["c", "b", "a"])
    assert named_labels(graph) == {"c": {1: 2}, "a": {0: 1}}
    assert list(graph.vocabulary("word")) == [0, 1, 2]


def test_a_sparse_matrix_of_truth_values_has_no_weights():
    graph = with_labels(csr_array(np.eye(3, dtype=bool)), nodes=list("abc"))
    assert graph.labels["word"].weights is None
    assert named_labels(graph) == {"a": {0: 1}, "b": {1: 1}, "c": {2: 1}}


def test_the_users_matrix_is_left_as_it_was():
    matrix = coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(3, 2))
    assert named_labels(with_labels(matrix, nodes=list("abc"))) == {"a": {1: 3}}
    assert matrix.nnz == 2


@pytest.mark.parametrize(
    ("labels", "parameters", "message"),
    [
        (csr_array((3, 2)), {}, "the order of the nodes must be known. Declare it with nodes="),
        (
            csr_array((2, 2)),
            {"nodes": list("abc")},
            "with 3 rows, one for each declared .* got 2",
        ),
        (
            csr_array([[-1.0], [1], [1]]),
            {"nodes": list("abc")},
            "label 0 of node 'a' in row 0 .*-1.0",
        ),
        ({"a": {"x": np.nan}}, {}, "'word', label 'x' of node 'a' in row 0 .*got nan"),
        ([("a", "x", 1), ("b", "y", np.inf)], {}, "label 'y' of node 'b' in row 1 .*got inf"),
        ([("a", "x", "2")], {}, "row 0 .*expected a number, got '2'"),
        ([("a", "x"), ("b",)], {}, r"row 1 .*expected \(node, label\) or .* got \('b',\)"),
        (["ax"], {}, "row 0 .*got 'ax'"),
        ([("a", None)], {}, "'word', labels, row 0 .*missing"),
        ({"a": [["x"]]}, {}, r"labels, row 0 .*\['x'\] cannot be hashed"),
        ({None: ["x"]}, {}, "'word', nodes, row 0 .*missing"),
        (
            np.zeros((3, 4)),
            {"nodes": list("abc")},
            r"array of shape \(3, 4\).*scipy.sparse.csr_array",
        ),
        (pd.DataFrame({"node": ["a"]}), {}, "'word': expected one column 'label', but .* 'node'"),
        (pl.DataFrame({"label": ["a"]}), {}, "expected one column 'node'"),
        (pl.DataFrame({"node": ["a"], "label": [None]}), {}, "column 'label', row 0 .*missing"),
    ],
)
def test_labels_that_cannot_be_read_are_refused(labels, parameters, message):
    with pytest.raises(InvalidGraphError, match=message):
        with_labels(labels, **parameters)


@pytest.mark.parametrize("labels", ["words.csv", 5])
def test_what_are_no_labels_at_all_is_refused(labels):
    with pytest.raises(InvalidParameterError, match=r"'word': expected \{node: \[labels\]\}.*got"):
        with_labels(labels)


def test_labels_come_by_label_type():
    with pytest.raises(InvalidGraphError, match=r"such as \{'word': words\}, got list"):
        Graph.from_edges(EDGES, labels=[("a", "x")])


UNKNOWN = {"d": ["z"], "a": ["x"], "e": []}


def test_labels_of_unknown_nodes_are_an_error_that_names_the_first():
    with pytest.raises(
        InvalidGraphError,
        match=r"'word', row 0 .*node 'd' \(and 1 more\) is not among the 3 .*'ignore' or 'add'",
    ):
        with_labels(UNKNOWN)
    with pytest.raises(InvalidGraphError, match="'word': node 'e' is not among the 3"):
        with_labels({"e": []})


def test_labels_of_unknown_nodes_can_be_ignored_with_the_labels_only_they_have(caplog):
    with caplog.at_level(logging.INFO, "embedprop"):
        graph = with_labels(UNKNOWN, unknown_nodes="ignore")
    assert list(graph.nodes) == ["a", "b", "c"]
    assert list(graph.vocabulary("word")) == ["x"]
    assert named_labels(graph) == {"a": {"x": 1}}
    assert "Label type 'word': ignored the labels of 2 unknown nodes" in caplog.messages


def test_unknown_nodes_can_be_added_and_are_isolated(caplog):
    with caplog.at_level(logging.INFO, "embedprop"):
        graph = Graph.from_edges(
            EDGES,
            labels={"word": UNKNOWN, "age:numeric": {"f": 3}, "tag": {"d": ["t"]}},
            unknown_nodes="add",
        )
    assert list(graph.nodes) == ["a", "b", "c", "d", "e", "f"]
    assert named_labels(graph) == {"a": {"x": 1}, "d": {"z": 1}}
    assert graph.degrees.tolist() == [1, 2, 1, 0, 0, 0]
    assert graph.values["age"].values.tolist() == [[0], [0], [0], [0], [0], [3]]
    assert graph.labels["tag"].n_sets == 6
    assert "Label type 'word': added 2 nodes without edges" in caplog.messages


def test_a_weight_of_an_ignored_row_stays_with_its_row():
    rows = [("d", "x", 5), ("a", "y", 7)]
    assert named_labels(with_labels(rows, unknown_nodes="ignore")) == {"a": {"y": 7}}


def test_the_choice_for_unknown_nodes_is_checked():
    with pytest.raises(InvalidParameterError, match="unknown_nodes must be one of 'error', 'ign"):
        with_labels({}, unknown_nodes="skip")


@pytest.mark.parametrize(
    ("labels", "parameters"),
    [
        ({"c": [1, 2], "a": [3, 4]}, {}),
        ({"c": np.array([1, 2]), "a": (3, 4), "b": None}, {}),
        (pd.DataFrame({"node": ["c", "a"], "x": [1, 3], "y": [2, 4]}), {}),
        (pl.DataFrame({"node": ["c", "a", "b"], "x": [1, 3, None], "y": [2, 4, None]}), {}),
        (np.array([[3, 4], [np.nan, np.nan], [1, 2]]), {"nodes": list("abc")}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_numbers_come_as_dict_frame_or_array(labels, parameters):
    graph = with_labels(labels, key="size:numeric", **parameters)
    assert graph.values["size"].values.tolist() == [[3, 4], [0, 0], [1, 2]]
    assert graph.has_labels("size").tolist() == [True, False, True]


def test_numeric_columns_keep_their_names():
    frame = pl.DataFrame({"x": [1.0], "node": ["a"], "y": [2.0]})
    assert with_labels(frame, key="size:numeric").values["size"].names == ("x", "y")


@pytest.mark.parametrize(
    ("labels", "parameters", "message"),
    [
        ({"a": 1, "b": [1, 2]}, {}, "'size', node 'b': expected 1 number .* got"),
        ({"a": "tall"}, {}, "node 'a': expected 1 number as for the first node, got 'tall'"),
        ({"a": np.inf}, {}, "Label type 'size': Numeric labels, row 0 .*finite"),
        ([1, 2, 3], {}, "Declare it with nodes="),
        ([1, 2], {"nodes": list("abc")}, "3 rows"),
        ("sizes.csv", {}, "expected {node: numbers}, a frame .* got 'sizes.csv'"),
        (pd.DataFrame({"node": ["a"]}), {}, "expected columns of numbers beside 'node'"),
        (pd.DataFrame({"node": ["a"], "x": ["y"]}), {}, "column 'x', row 0 .*expected a number"),
        (pd.DataFrame({"node": ["a", "a"], "x": [1, 2]}), {}, "Rows 0 and 1 .*same node"),
    ],
)
def test_numbers_that_cannot_be_read_are_refused(labels, parameters, message):
    with pytest.raises(InvalidGraphError, match=message):
        with_labels(labels, key="size:numeric", **parameters)


@pytest.mark.parametrize(
    ("labels", "parameters"),
    [
        ({"c": "two", "a": "one"}, {}),
        (pd.DataFrame({"node": ["c", "a", "b"], "text": ["two", "one", None]}), {}),
        (pl.DataFrame({"node": ["c", "a", "b"], "text": ["two", "one", None]}), {}),
        (pa.table({"node": ["c", "a", "b"], "text": ["two", "one", None]}), {}),
        (["one", None, "two"], {"nodes": list("abc")}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_texts_come_as_dict_frame_or_list(labels, parameters):
    graph = with_labels(labels, key="bio:text", **parameters)
    assert graph.values["bio"].texts == ("one", None, "two")
    assert graph.kinds == {"node": "set", "bio": "text"}


def test_values_of_unknown_nodes_follow_the_same_policy():
    with pytest.raises(InvalidGraphError, match=r"'bio', row 0 .*node 'd' is not among"):
        with_labels({"d": "x"}, key="bio:text")
    graph = with_labels({"d": "x", "b": "y"}, key="bio:text", unknown_nodes="ignore")
    assert graph.values["bio"].texts == (None, "y", None)
    numbers = with_labels({"d": 1, "b": 2}, key="n:numeric", unknown_nodes="ignore")
    assert numbers.values["n"].values.tolist() == [[0], [2], [0]]


def test_images_come_as_dict_or_array():
    images = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    by_node = with_labels({"c": images[2], "a": images[0]}, key="photo:image").values["photo"]
    assert by_node.images.tolist() == [images[2].tolist(), images[0].tolist()]
    assert by_node.rows.tolist() == [1, -1, 0]
    in_order = with_labels(images, key="photo:image", nodes=list("abc")).values["photo"]
    assert in_order.images.tolist() == images.tolist()
    some = {"x": images[1], "b": images[2]}
    ignored = with_labels(some, key="photo:image", unknown_nodes="ignore").values["photo"]
    assert ignored.images.tolist() == [images[2].tolist()]


def test_images_of_two_sizes_are_refused_by_node():
    images = {"a": np.zeros((2, 2)), "b": np.zeros((2, 3))}
    with pytest.raises(InvalidGraphError, match=r"node 'b': .*\(2, 2\) .* got \(2, 3\). Bring all"):
        with_labels(images, key="photo:image")


def test_an_empty_table_of_labels_leaves_every_node_without():
    graph = Graph.from_edges(
        EDGES, labels={"word": {}, "tag": [], "n:numeric": {}, "t:text": {}, "i:image": {}}
    )
    for label_type in ("word", "tag", "n", "t", "i"):
        assert not graph.has_labels(label_type).any()

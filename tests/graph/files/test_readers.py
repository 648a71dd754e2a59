"""Files → Graph."""

import logging

import numpy as np
import polars as pl
import pytest

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.files.readers import read_targets
from embedprop.graph.graph import Graph


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "path.csv").write_text("source,target\na,b\nb,c\n")
    return tmp_path


def neighbors(graph: Graph) -> dict:
    return {
        name: [graph.nodes[i] for i in graph.neighbors.of(id_)]
        for id_, name in enumerate(graph.nodes)
    }


def labels(graph: Graph, label_type: str) -> dict:
    sets, vocabulary = graph.labels[label_type], graph.vocabulary(label_type)
    return {
        name: {vocabulary[i]: float(w) for i, w in zip(sets.of(v), sets.weights_of(v), strict=True)}
        for v, name in enumerate(graph.nodes)
        if len(sets.of(v))
    }


@pytest.mark.usefixtures("folder")
def test_a_path_is_read_with_nodes_in_the_order_of_the_file():
    graph = Graph.read("path.csv")
    assert list(graph.nodes) == ["a", "b", "c"]
    assert neighbors(graph) == {"a": ["b"], "b": ["a", "c"], "c": ["b"]}
    assert not graph.directed


@pytest.mark.usefixtures("folder")
def test_in_a_directed_graph_the_neighbors_are_the_sources():
    assert neighbors(Graph.read("path.csv", directed=True)) == {"a": [], "b": ["a"], "c": ["b"]}


def test_files_and_rows_give_the_same_graph(folder):
    edges = [("d", "a", 1.5), ("a", "b", 2.0), ("d", "a", 1.0), ("c", "c", 1.0), ("b", "d", 0.0)]
    words = [("a", "x"), ("b", "y"), ("a", "x"), ("d", "z")]
    (folder / "e.csv").write_text(
        "source,target,weight\n" + "".join(f"{s},{t},{w}\n" for s, t, w in edges)
    )
    (folder / "w.tsv").write_text("node\tlabel\n" + "".join(f"{n}\t{x}\n" for n, x in words))
    read = Graph.read("e.csv", {"word": "w.tsv"})
    made = Graph.from_edges(
        [edge[:2] for edge in edges], {"word": words}, weights=[w for *_, w in edges]
    )
    assert read.summary() == made.summary()
    assert read.nodes == made.nodes
    assert read.vocabularies == made.vocabularies
    for one, other in [
        (read.neighbors, made.neighbors),
        (read.labels["word"], made.labels["word"]),
    ]:
        np.testing.assert_array_equal(one.ptr, other.ptr)
        np.testing.assert_array_equal(one.ids, other.ids)
        np.testing.assert_array_equal(one.weights, other.weights)


def test_relations_are_read(folder):
    (folder / "e.csv").write_text("source,target,relation\na,b,likes\nb,c,knows\na,b,knows\n")
    graph = Graph.read("e.csv")
    assert list(graph.relations) == ["likes", "knows"]
    assert graph.n_edges == 3


def test_declared_nodes_come_first_and_may_be_isolated(folder):
    (folder / "nodes.txt").write_text("z\nb\nz\n")
    graph = Graph.read("path.csv", nodes="nodes.txt")
    assert list(graph.nodes) == ["z", "b", "a", "c"]
    assert neighbors(graph)["z"] == []


def test_labels_have_weights_where_the_file_has(folder):
    (folder / "w.csv").write_text("node,label,weight\na,x,0.5\na,y,2\nc,x,1\nc,x,1\n")
    graph = Graph.read("path.csv", {"word": "w.csv"})
    assert labels(graph, "word") == {"a": {"x": 0.5, "y": 2}, "c": {"x": 2}}


def test_an_unknown_node_of_a_label_file_is_an_error_by_default(folder):
    (folder / "w.csv").write_text("node,label\na,x\nq,y\n")
    message = r"w\.csv, line 3: node 'q' is not among the 3 nodes of the graph.*--unknown-nodes"
    with pytest.raises(InvalidGraphError, match=message):
        Graph.read("path.csv", {"word": "w.csv"})


def test_unknown_nodes_can_be_ignored(folder, caplog):
    (folder / "w.csv").write_text("node,label\nq,y\na,x\n")
    with caplog.at_level(logging.INFO, logger="embedprop"):
        graph = Graph.read("path.csv", {"word": "w.csv"}, unknown_nodes="ignore")
    assert list(graph.nodes) == ["a", "b", "c"]
    assert list(graph.vocabulary("word")) == ["x"]
    assert "ignored 1 label of unknown nodes" in caplog.text


def test_the_line_of_a_mistake_is_right_when_rows_are_ignored(folder):
    (folder / "w.csv").write_text("node,label,weight\nq,y,1\na,x,1\nb,x,-1\n")
    with pytest.raises(InvalidGraphError, match=r"line 4: .* got '-1'"):
        Graph.read("path.csv", {"word": "w.csv"}, unknown_nodes="ignore")


def test_unknown_nodes_can_be_added(folder, caplog):
    (folder / "w.csv").write_text("node,label\nq,y\na,x\n")
    (folder / "age.csv").write_text("node,value\nr,3\n")
    files = {"word": "w.csv", "age:numeric": "age.csv"}
    with caplog.at_level(logging.INFO, logger="embedprop"):
        graph = Graph.read("path.csv", files, unknown_nodes="add")
    assert list(graph.nodes) == ["a", "b", "c", "q", "r"]
    assert labels(graph, "word") == {"a": {"x": 1}, "q": {"y": 1}}
    assert graph.has_labels("age").tolist() == [False, False, False, False, True]
    assert caplog.text.count("added 1 node without edges") == 2


def test_numeric_labels_take_all_columns_and_empty_means_missing(folder):
    (folder / "n.csv").write_text("age,node,height\n30,b,1.8\n,a,\n")
    graph = Graph.read("path.csv", {"body:numeric": "n.csv"})
    assert graph.kinds["body"] == "numeric"
    assert graph.values["body"].names == ("age", "height")
    assert graph.has_labels("body").tolist() == [False, True, False]
    np.testing.assert_allclose(graph.values["body"].values[1], [30, 1.8])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("node,value\na,1\nb,tall\n", r"line 3: expected a number in column 'value', .* 'tall'"),
        ("node,value\na,inf\n", r"line 2: expected a finite number or nothing .* 'inf'"),
        ("node,value\na,1e39\n", r"line 2: expected a finite number or nothing"),
        ("node,value\na,1\nb,1\na,2\n", r"line 4: node 'a' already has a row"),
        ("node\na\n", r"the column 'value'"),
    ],
)
def test_bad_numeric_labels_are_refused(folder, content, message):
    (folder / "n.csv").write_text(content)
    with pytest.raises(InvalidGraphError, match=message):
        Graph.read("path.csv", {"age:numeric": "n.csv"})


def test_texts_are_read_and_an_empty_text_is_none(folder):
    (folder / "t.csv").write_text('node,text\nb,"one, two\nthree"\na,\n')
    graph = Graph.read("path.csv", {"bio:text": "t.csv"})
    assert graph.values["bio"].texts == (None, "one, two\nthree", None)


def test_a_text_longer_than_any_name_is_read(folder):
    text = 'words, "quoted" and not; ' * 20_000
    pl.DataFrame({"node": ["a"], "text": [text]}).write_csv(folder / "t.csv")
    assert Graph.read("path.csv", {"bio:text": "t.csv"}).values["bio"].texts[0] == text


@pytest.mark.usefixtures("folder")
def test_a_missing_label_file_is_told_before_the_edges_are_read():
    with pytest.raises(InvalidGraphError, match=r"w\.csv does not exist"):
        Graph.read("path.csv", {"word": "w.csv"}, separator="|")


@pytest.mark.usefixtures("folder")
def test_images_are_not_read_from_files():
    with pytest.raises(InvalidParameterError, match=r"images are not read from files.*from_edges"):
        Graph.read("path.csv", {"photo:image": "path.csv"})


def test_options_for_the_edge_file_do_not_disturb_label_files(folder):
    (folder / "e.txt").write_text("a|b\nb|c\n")
    (folder / "w.csv").write_text("node,label\na,x\n")
    (folder / "v.csv").write_text("b|y\n")
    graph = Graph.read("e.txt", {"word": "w.csv", "verb": "v.csv"}, has_header=False, separator="|")
    assert labels(graph, "word") == {"a": {"x": 1}}
    assert labels(graph, "verb") == {"b": {"y": 1}}


def test_columns_can_be_renamed_for_edges_and_labels(folder):
    (folder / "e.csv").write_text("from,to,w\na,b,2\n")
    (folder / "w.csv").write_text("paper,word,weight\na,x,3\n")
    columns = {"source": "from", "target": "to", "weight": "w", "node": "paper", "label": "word"}
    graph = Graph.read("e.csv", {"word": "w.csv"}, columns=columns)
    assert graph.neighbors.weights_of(0).tolist() == [2]
    assert labels(graph, "word") == {"a": {"x": 3}}


@pytest.mark.usefixtures("folder")
def test_an_unknown_role_of_a_column_is_refused():
    with pytest.raises(InvalidParameterError, match=r"expected keys among source, target.*'from'"):
        Graph.read("path.csv", columns={"from": "source"})


@pytest.mark.parametrize("path", [None, 3, "", [("a", "b")]])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(InvalidParameterError, match="edges: expected the path of a file, got"):
        Graph.read(path)


@pytest.mark.parametrize("option", ["unknown_nodes", "self_loops"])
def test_unknown_choices_are_refused_before_reading(option):
    with pytest.raises(InvalidParameterError, match=f"{option} must be one of"):
        Graph.read("not there", **{option: "perhaps"})


def test_a_file_of_self_loops_has_no_edges(folder):
    (folder / "e.csv").write_text("source,target\na,a\n")
    with pytest.raises(InvalidGraphError, match="no edges"):
        Graph.read("e.csv")


@pytest.mark.usefixtures("folder")
def test_names_are_strings_also_from_parquet():
    pl.DataFrame({"source": [1, 2], "target": [2, 10]}).write_parquet("e.parquet")
    assert list(Graph.read("e.parquet").nodes) == ["1", "2", "10"]


def test_targets_are_read_with_several_classes_per_node(folder):
    (folder / "c.csv").write_text("node,class\na,x\nb,y\na,z\n")
    assert read_targets("c.csv") == [("a", "x"), ("b", "y"), ("a", "z")]


def test_a_target_without_class_is_refused(folder):
    (folder / "c.csv").write_text("node,class\na,\n")
    with pytest.raises(InvalidGraphError, match=r"line 2: the class is empty"):
        read_targets("c.csv")

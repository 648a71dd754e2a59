"""Folders of data sets → graphs and targets; the counts are those that data/README.md states."""

import gzip
import json
import os

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from embedprop.datasets import load_dataset
from embedprop.datasets.folder import found_folders
from embedprop.errors import InvalidGraphError, InvalidParameterError

needs_data = pytest.mark.skipif(
    not os.environ.get("EMBEDPROP_DATA"), reason="EMBEDPROP_DATA names no folder of data sets"
)


def pack(path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode()))


@pytest.fixture
def data_dir(tmp_path):
    """One data set with every kind of file: nodes 0 - 1 - 2, and 3 alone."""
    folder = tmp_path / "toy"
    folder.mkdir()
    meta = {
        "name": "toy",
        "n_nodes": 4,
        "class_index_in_planetoid_files": {"tall": 0, "small": 1},
        "label_types": {
            "words": {"kind": "set of words"},
            "age": {"kind": "numeric"},
            "size": {"kind": "numeric, several attributes"},
            "partner": {"kind": "categorical (True/False)"},
            "bio": {"kind": "text"},
            "name": {"kind": "text", "file": "nodes.csv.gz, column name"},
        },
    }
    (folder / "meta.json").write_text(json.dumps(meta))
    (folder / "split_planetoid.json").write_text(
        json.dumps({"description": "by hand", "train": [0], "val": [1], "test": [2, 3]})
    )
    pack(
        folder / "edges.csv.gz",
        "source,target,weight,relation,split\n"
        "0,1,2,0,train\n1,0,2,0,train\n1,2,0.5,1,train\n2,3,1,1,test\n",
    )
    pack(folder / "relations.csv.gz", "relation,name\n0,likes\n1,knows\n")
    pack(folder / "classes.csv.gz", "node,class\n0,small\n1,tall\n1,small\n3,tall\n")
    pack(folder / "labels_age.csv.gz", "node,value\n0,30\n2,40\n")
    pack(folder / "labels_size.csv.gz", "node,attribute,value\n0,width,1\n3,height,2\n0,height,3\n")
    pack(folder / "labels_partner.csv.gz", "node,value\n0,True\n1,False\n")
    pack(folder / "labels_bio.csv.gz", 'node,value\n2,"a, b"\n')
    pack(folder / "nodes.csv.gz", "node,original_id,name\n0,00,zero\n1,01,\n2,02,two\n3,03,three\n")
    save_npz(folder / "words.npz", csr_array([[1, 0, 1], [0, 0, 0], [0, 0, 1], [1, 0, 0]]))
    return tmp_path


def test_nodes_are_numbers_in_order_and_isolated_ones_stay(data_dir):
    graph = load_dataset("toy", data_dir=data_dir).graph
    assert list(graph.nodes) == [0, 1, 2, 3]
    assert [graph.neighbors.of(v).tolist() for v in range(4)] == [[1], [0, 2], [1], []]


def test_weights_are_used_unless_refused(data_dir):
    weighted = load_dataset("toy", data_dir=data_dir).graph
    assert weighted.neighbors.weights_of(1).tolist() == [4, 0.5]
    assert load_dataset("toy", weighted=False, data_dir=data_dir).graph.neighbors.weights is None


def test_only_training_edges_are_loaded_unless_asked(data_dir):
    def n_edges(**options):
        return load_dataset("toy", directed=True, data_dir=data_dir, **options).graph.n_edges

    assert (n_edges(), n_edges(split="test"), n_edges(split="all")) == (3, 1, 4)


def test_relations_have_their_names(data_dir):
    graph = load_dataset("toy", directed=True, data_dir=data_dir).graph
    assert list(graph.relations) == ["likes", "knows"]
    assert graph.neighbor_relations.tolist() == [0, 0, 1]


def test_labels_of_every_kind_are_loaded(data_dir):
    graph = load_dataset("toy", data_dir=data_dir).graph
    assert graph.kinds == {
        "node": "set",
        "word": "set",
        "age": "numeric",
        "bio": "text",
        "partner": "set",
        "width": "numeric",
        "height": "numeric",
        "name": "text",
    }
    assert graph.labels["word"].weights is None
    assert [graph.labels["word"].of(v).tolist() for v in range(4)] == [[0, 2], [], [2], [0]]
    assert len(graph.vocabulary("word")) == 3
    assert graph.values["age"].values[:, 0].tolist() == [30, 0, 40, 0]
    assert graph.values["height"].values[:, 0].tolist() == [3, 0, 0, 2]
    assert graph.values["bio"].texts == (None, None, "a, b", None)
    assert graph.values["name"].texts == ("zero", None, "two", "three")
    assert list(graph.vocabulary("partner")) == ["True", "False"]


def test_matrix_entries_other_than_one_are_weights(data_dir):
    save_npz(data_dir / "toy" / "words.npz", csr_array([[0.5, 2], [0, 0], [0, 1], [1, 0]]))
    words = load_dataset("toy", data_dir=data_dir).graph.labels["word"]
    assert words.weights_of(0).tolist() == [0.5, 2]


def test_label_types_can_be_chosen(data_dir):
    graph = load_dataset("toy", label_types=["bio", "word"], data_dir=data_dir).graph
    assert graph.label_types == ("node", "bio", "word")
    with pytest.raises(
        InvalidParameterError, match=r"no label type 'verb'\. It has: word, age, bio"
    ):
        load_dataset("toy", label_types=["verb"], data_dir=data_dir)


def test_targets_say_which_node_has_which_classes(data_dir):
    dataset = load_dataset("toy", data_dir=data_dir)
    assert dataset.class_names == ("tall", "small")
    assert dataset.targets.dtype == np.bool_
    assert dataset.targets.toarray().tolist() == [
        [False, True], [True, True], [False, False], [True, False],
    ]  # fmt: skip


def test_classes_without_published_order_are_sorted_as_numbers(data_dir):
    pack(data_dir / "toy" / "classes.csv.gz", "node,class\n0,10\n1,9\n2,b\n3,a\n")
    assert load_dataset("toy", data_dir=data_dir).class_names == ("9", "10", "a", "b")


def test_the_published_split_is_loaded(data_dir):
    splits = load_dataset("toy", data_dir=data_dir).splits
    assert {part: nodes.tolist() for part, nodes in splits.items()} == {
        "train": [0],
        "val": [1],
        "test": [2, 3],
    }


def test_an_unknown_data_set_is_refused_with_the_known_ones(data_dir):
    with pytest.raises(InvalidParameterError, match=r"No data set 'Cora' in .*Available: toy"):
        load_dataset("Cora", data_dir=data_dir)


def test_a_missing_folder_is_named(tmp_path, monkeypatch):
    with pytest.raises(InvalidParameterError, match=r"data_dir: the folder .*none does not exist"):
        load_dataset("cora", data_dir=tmp_path / "none")
    monkeypatch.setenv("EMBEDPROP_DATA", str(tmp_path / "none"))
    with pytest.raises(
        InvalidParameterError, match=r"EMBEDPROP_DATA: the folder .* does not exist"
    ):
        load_dataset("cora")


@pytest.mark.usefixtures("cache")
def test_a_known_data_set_that_is_not_there_comes_with_the_command_that_gets_it():
    with pytest.raises(InvalidParameterError, match=r"No data set 'cora'.*embedprop data get cora"):
        load_dataset("cora")
    with pytest.raises(InvalidParameterError, match=r"No data set 'mine'.*embedprop data list"):
        load_dataset("mine")


def test_the_cache_is_searched_after_the_folder_of_the_variable(data_dir, cache, monkeypatch):
    (cache / "data").mkdir(parents=True)
    (data_dir / "toy").rename(cache / "data" / "toy")
    assert load_dataset("toy").graph.n_nodes == 4
    assert [folder.name for folder in found_folders()] == ["toy"]
    folder = data_dir / "mine"
    folder.mkdir()
    monkeypatch.setenv("EMBEDPROP_DATA", str(folder))
    assert load_dataset("toy").graph.n_nodes == 4
    with pytest.raises(InvalidParameterError, match=r"No data set 'toy' in .*mine\. .*data_dir"):
        load_dataset("toy", data_dir=folder)


def test_directions_that_the_files_do_not_tell_are_not_made_up(data_dir):
    path = data_dir / "toy" / "meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"directions_known": False}))
    assert load_dataset("toy", data_dir=data_dir).graph.directed is False
    with pytest.raises(InvalidParameterError, match="do not say which paper cites which"):
        load_dataset("toy", directed=True, data_dir=data_dir)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("edges.csv.gz", "source,target\n0,4\n", "line 2: expected a whole number from 0 to 3"),
        ("edges.csv.gz", "source,target\n0,1.5\n", "line 2: expected a whole number from 0 to 3"),
        ("classes.csv.gz", "node,class\n-1,a\n", "line 2: expected a whole number from 0 to 3"),
    ],
)
def test_damaged_tables_are_refused_with_their_line(data_dir, file, content, message):
    pack(data_dir / "toy" / file, content)
    with pytest.raises(InvalidGraphError, match=message):
        load_dataset("toy", data_dir=data_dir)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("meta.json", r"meta\.json cannot be read"),
        ("words.npz", r"words\.npz is not a sparse matrix"),
        ("split_planetoid.json", r"split_planetoid\.json cannot be read"),
    ],
)
def test_damaged_files_are_refused(data_dir, file, message):
    (data_dir / "toy" / file).write_bytes(b"junk")
    with pytest.raises(InvalidGraphError, match=message):
        load_dataset("toy", data_dir=data_dir)


def test_a_matrix_with_too_few_rows_is_refused(data_dir):
    save_npz(data_dir / "toy" / "words.npz", csr_array(np.eye(3)))
    with pytest.raises(InvalidGraphError, match="expected 4 rows, one for each node, got 3"):
        load_dataset("toy", data_dir=data_dir)


def test_an_unknown_split_is_refused(data_dir):
    with pytest.raises(InvalidParameterError, match="split must be one of train, valid, test, all"):
        load_dataset("toy", split="validation", data_dir=data_dir)


@needs_data
@pytest.mark.parametrize(
    ("name", "n_pairs", "n_self_loops", "n_classes"),
    [
        ("blogcatalog", 333_983, 0, 39),
        ("ppi", 37_845, 894, 50),
        ("pos", 92_295, 222, 40),
        ("cora", 5_278, 0, 7),
        ("citeseer", 4_552, 124, 6),
        ("pubmed", 44_324, 3, 3),
        ("twitch_engb", 35_324, 0, 2),
        ("dblp_prone", 127_968, 0, 60),
    ],
)
def test_undirected_counts_are_those_of_the_data_sheet(name, n_pairs, n_self_loops, n_classes):
    dataset = load_dataset(name)
    assert dataset.graph.n_nodes == dataset.meta["n_nodes"]
    assert dataset.graph.n_edges == n_pairs
    assert dataset.graph.n_self_loops_dropped == n_self_loops
    assert len(dataset.class_names) == n_classes
    assert dataset.targets.nnz == dataset.meta["class_statistics"]["rows"]


@needs_data
def test_cora_has_its_citations_words_and_split():
    cora = load_dataset("cora", directed=True)
    assert cora.graph.n_edges == 5_429
    assert cora.graph.labels["word"].n_values == 49_216
    assert cora.graph.labels["word"].weights is None
    assert len(cora.graph.vocabulary("word")) == 1433
    assert {part: len(nodes) for part, nodes in cora.splits.items()} == {
        "train": 140,
        "val": 500,
        "test": 1000,
    }
    # Twenty nodes of each class: the numbering of nodes, classes and split agree.
    assert cora.targets[cora.splits["train"]].sum(axis=0).tolist() == [20] * 7


@needs_data
def test_training_edges_of_a_multi_relational_graph_are_those_of_the_data_sheet():
    graph = load_dataset("wn18rr", directed=True, self_loops="keep").graph
    assert graph.n_edges + graph.n_duplicates_dropped == 86_835
    assert len(graph.relations) == 11


@needs_data
def test_every_data_set_in_the_folder_is_listed():
    found = {folder.name for folder in found_folders()}
    assert {"cora", "citeseer", "pubmed", "ppi", "pos", "blogcatalog"} <= found

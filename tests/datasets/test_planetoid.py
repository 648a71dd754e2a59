"""Planetoid's pickles: what is in them is read, what they would run is refused."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from tests.datasets import python2_pickles as py2

from embedprop.datasets.planetoid import ADMITTED, convert_planetoid, read_planetoid_pickle
from embedprop.errors import InvalidGraphError

CLASSES = ("even", "odd")


@pytest.fixture
def files(tmp_path):
    return py2.write_planetoid(tmp_path, "toy")


def test_exactly_six_names_are_admitted():
    assert set(ADMITTED) == {
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("scipy.sparse.csr", "csr_matrix"),
        ("collections", "defaultdict"),
        ("__builtin__", "list"),
    }


def test_edges_are_undirected_once_with_self_loops(files):
    data = convert_planetoid(files, CLASSES)
    assert data.n_nodes == 508
    assert data.directed is False
    assert data.edges.tolist() == [*([node, node + 1] for node in range(506)), [507, 507]]


def test_test_rows_go_to_the_nodes_that_test_index_names(files):
    data = convert_planetoid(files, CLASSES)
    assert data.words.shape == (508, 3)
    assert data.words[[506]].toarray().tolist() == [[0.5, 0, 2]]
    assert data.words[[504]].toarray().tolist() == [[0, 0.25, 0]]
    assert data.words[[2]].toarray().tolist() == [[0, 0, 1]]
    assert data.nodes_without_words == [505, 507]
    assert data.class_rows.tolist() == [
        *([node, node % 2] for node in range(504)), [504, 0], [506, 1],
    ]  # fmt: skip


def test_the_split_is_first_rows_next_500_and_the_test_rows(files):
    split = convert_planetoid(files, CLASSES).split
    assert split["train"].tolist() == [0, 1, 2, 3]
    assert split["val"].tolist() == list(range(4, 504))
    assert split["test"].tolist() == [504, 506]


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8", "b1", "u1"])
def test_arrays_of_any_number_are_read(tmp_path, dtype):
    values = np.array([[0, 1], [1, 0], [1, 1]], dtype=dtype)
    (tmp_path / "y").write_bytes(py2.pickled(py2.array(values)))
    found = read_planetoid_pickle(tmp_path / "y")
    assert found.dtype == values.dtype
    assert found.tolist() == values.tolist()


def call(module: str, name: str, *arguments: bytes) -> bytes:
    return py2.named(module, name) + b"(" + b"".join(arguments) + b"tR"


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("posix", "system"),
        ("__builtin__", "eval"),
        ("__builtin__", "getattr"),
        ("builtins", "list"),
        ("numpy", "load"),
        ("numpy.core.multiarray", "scalar"),
        ("scipy.sparse", "csr_matrix"),
        ("_codecs", "encode"),
        ("embedprop.datasets.planetoid", "Path"),
    ],
)
def test_a_pickle_that_asks_for_anything_else_is_refused_and_nothing_runs(tmp_path, module, name):
    proof = tmp_path / "it ran"
    order = f"touch '{proof}'".encode()
    (tmp_path / "x").write_bytes(py2.pickled(call(module, name, py2.string(order))))
    with pytest.raises(InvalidGraphError, match=rf"refused: it asks for {module}\.{name}"):
        read_planetoid_pickle(tmp_path / "x")
    assert not proof.exists()


class Touch:
    """Makes a file when unpickled without restraint."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_malicious_pickle_of_any_protocol_runs_nothing(tmp_path, protocol):
    proof = tmp_path / "it ran"
    evil = pickle.dumps({0: [Touch(proof)]}, protocol=protocol)
    pickle.loads(evil)
    assert proof.exists()
    proof.unlink()
    (tmp_path / "graph").write_bytes(evil)
    with pytest.raises(InvalidGraphError, match="refused"):
        read_planetoid_pickle(tmp_path / "graph")
    assert not proof.exists()


def build(target: bytes, state: bytes) -> bytes:
    return py2.pickled(target + state + b"b")


@pytest.mark.parametrize("name", sorted(ADMITTED))
def test_admitted_names_themselves_cannot_be_changed(tmp_path, name):
    attributes = b"N}" + py2.string(b"evil") + py2.number(1) + b"s\x86"
    (tmp_path / "x").write_bytes(build(py2.named(*name), attributes))
    with pytest.raises(InvalidGraphError, match="refused"):
        read_planetoid_pickle(tmp_path / "x")
    assert not hasattr(ADMITTED[name], "evil")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"junk",
        py2.HEAD,
        pickle.dumps([1, 2, 3]),
        pickle.dumps(None),
        py2.pickled(py2.array(np.arange(6, dtype="i4")))[:-9] + b".",
        py2.pickled(call("numpy", "dtype", py2.string(b"O"))),
        py2.pickled(call("__builtin__", "list")),
    ],
    ids=["empty", "junk", "cut", "list", "none", "short array", "objects", "empty list"],
)
def test_a_file_that_is_no_planetoid_pickle_is_refused(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InvalidGraphError, match=r"x is refused: .*Get the file again"):
        read_planetoid_pickle(tmp_path / "x")


def test_a_matrix_with_an_index_out_of_range_is_refused(tmp_path):
    good = py2.pickled(py2.matrix(np.eye(3)[::-1]))
    columns, wrong = (np.array(c, dtype="i4").tobytes() for c in ([2, 1, 0], [9, 1, 0]))
    assert good.count(columns) == 1
    (tmp_path / "x").write_bytes(good.replace(columns, wrong))
    with pytest.raises(InvalidGraphError, match="refused"):
        read_planetoid_pickle(tmp_path / "x")


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        ("graph", py2.lists({0: [1], 1: [2]}), "expected nodes from 0 to 1"),
        ("graph", py2.array(np.zeros(3, dtype="i4")), "expected the neighbors of each node"),
        ("tx", py2.matrix(np.eye(3)), "do not fit together"),
        ("tx", py2.matrix(np.ones((2, 4))), "do not fit together"),
        ("allx", py2.array(np.zeros((504, 3))), "expected a sparse matrix"),
        ("ty", py2.array(np.zeros((2, 3))), "expected an array with 2 columns"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(files, kind, body, message):
    files[kind].write_bytes(py2.pickled(body))
    with pytest.raises(InvalidGraphError, match=message):
        convert_planetoid(files, CLASSES)


@pytest.mark.parametrize("text", ["504\n504\n", "504\n", "504\n508\n", "503\n504\n", "504\nx\n"])
def test_a_test_index_that_names_no_rows_is_refused(files, text):
    files["test.index"].write_text(text)
    with pytest.raises(InvalidGraphError, match="expected 2 different nodes from 504 to 507"):
        convert_planetoid(files, CLASSES)

"""MATLAB files with network and group."""

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array, csc_matrix

from embedprop.datasets.converters import convert_mat
from embedprop.errors import InvalidGraphError

NETWORK = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
GROUP = np.array([[0, 1], [1, 1], [0, 0]])


@pytest.fixture
def convert(tmp_path):
    def run(**variables):
        savemat(tmp_path / "toy.mat", {"network": NETWORK, "group": GROUP} | variables)
        return convert_mat(tmp_path / "toy.mat")

    return run


@pytest.mark.parametrize("form", [np.asarray, lambda x: csc_matrix(x.astype(float))])
def test_edges_come_once_with_self_loops_and_classes_per_node(convert, form):
    data = convert(network=form(NETWORK), group=form(GROUP))
    assert data.edges.tolist() == [[0, 1], [1, 1], [1, 2]]
    assert data.class_rows.tolist() == [[0, 1], [1, 0], [1, 1]]
    assert list(data.class_names) == ["0", "1"]
    assert (data.directed, data.weights, data.words, data.split) == (False, None, None, None)


def test_numbers_other_than_one_are_weights(convert):
    assert convert(network=NETWORK * 0.5).weights.tolist() == [0.5, 0.5, 0.5]


def test_a_stored_zero_is_no_edge(convert):
    stored = csc_array(([1.0, 1.0, 0.0], ([0, 1, 2], [1, 0, 2])), shape=(3, 3))
    assert convert(network=csc_matrix(stored)).edges.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"network": np.triu(NETWORK)}, "expected a symmetric network"),
        ({"network": NETWORK[:2]}, "square network .* got 2 x 3 and 3 x 2"),
        ({"group": GROUP[:2]}, "square network .* got 3 x 3 and 2 x 2"),
        ({"network": -NETWORK}, "finite and not negative"),
        ({"network": np.where(NETWORK, np.inf, 0.0)}, "finite and not negative"),
        ({"network": "text"}, "expected a MATLAB file with the matrices"),
    ],
)
def test_matrices_that_make_no_graph_are_refused(convert, variables, message):
    with pytest.raises(InvalidGraphError, match=message):
        convert(**variables)


@pytest.mark.parametrize("content", [b"", b"junk" * 100])
def test_a_file_that_is_not_of_matlab_is_refused(tmp_path, content):
    (tmp_path / "toy.mat").write_bytes(content)
    with pytest.raises(InvalidGraphError, match=r"toy\.mat: expected a MATLAB file"):
        convert_mat(tmp_path / "toy.mat")


def test_a_file_without_group_is_refused(tmp_path):
    savemat(tmp_path / "toy.mat", {"network": NETWORK})
    with pytest.raises(InvalidGraphError, match="with the matrices network and group"):
        convert_mat(tmp_path / "toy.mat")

from __future__ import annotations

import logging
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors

from embedprop.errors import InvalidParameterError
from embedprop.files.export import export_vectors
from embedprop.methods.epb.pretrained import PretrainedVectors, start_from

NAMES = ["graph", "node", "label"]
ARRAY = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)


def keyed_vectors() -> KeyedVectors:
    vectors = KeyedVectors(vector_size=2)
    vectors.add_vectors(NAMES, ARRAY)
    return vectors


@pytest.mark.parametrize(
    "source",
    [
        (NAMES, ARRAY),
        [NAMES, ARRAY.astype(np.float64)],
        (np.array(NAMES), ARRAY.tolist()),
        (NAMES, ARRAY.astype(np.int8)),
        (NAMES, torch.from_numpy(ARRAY)),
        dict(zip(NAMES, ARRAY, strict=True)),
        MappingProxyType(dict(zip(NAMES, ARRAY.tolist(), strict=True))),
        keyed_vectors(),
        PretrainedVectors.of((NAMES, ARRAY)),
    ],
    ids=lambda source: type(source).__name__,
)
def test_vectors_come_from_everything_that_has_names_and_numbers(source):
    pretrained = PretrainedVectors.of(source)
    assert pretrained.names == tuple(NAMES)
    assert pretrained.vectors.dtype == np.float32
    assert pretrained.vectors.tolist() == ARRAY.tolist()
    assert pretrained.dim == 2
    assert len(pretrained.names) == 3


def test_what_was_given_stays_as_it_is():
    array = ARRAY.copy()
    pretrained = PretrainedVectors.of((NAMES, array))
    array[0] = 9
    assert pretrained.vectors[0].tolist() == [1, 2]
    assert array.flags.writeable
    assert not pretrained.vectors.flags.writeable


@pytest.mark.parametrize("as_string", [True, False])
def test_a_path_is_read_by_its_own_name_and_by_of(tmp_path, as_string):
    path = tmp_path / "v.vec"
    keyed_vectors().save_word2vec_format(path)
    for pretrained in (
        PretrainedVectors.of(str(path) if as_string else path),
        PretrainedVectors.read(str(path) if as_string else path),
    ):
        assert set(pretrained.names) == set(NAMES)
        assert pretrained.vectors[pretrained.names.index("label")].tolist() == [5, 6]
        assert not pretrained.vectors.flags.writeable
    assert PretrainedVectors.of(path, only=["label"]).names[1:] == ("label",)


def test_what_this_library_exports_can_be_the_start_of_another_model(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    export_vectors(tmp_path / "v.txt", NAMES, vectors, format="word2vec")
    pretrained = PretrainedVectors.read(tmp_path / "v.txt")
    assert pretrained.names == tuple(NAMES)
    np.testing.assert_array_equal(pretrained.vectors, vectors)


def test_word2vecs_binary_format_is_refused_with_the_way_out(tmp_path):
    keyed_vectors().save_word2vec_format(tmp_path / "v.bin", binary=True)
    with pytest.raises(InvalidParameterError, match=r"zero byte.*load_word2vec_format"):
        PretrainedVectors.read(tmp_path / "v.bin")


def test_a_missing_file_is_a_wrong_parameter(tmp_path):
    with pytest.raises(InvalidParameterError, match=r"absent.txt does not exist. Check its spell"):
        PretrainedVectors.of(tmp_path / "absent.txt")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "Expected pretrained vectors as a text file .* got None of type NoneType"),
        (ARRAY, "got array"),
        (SimpleNamespace(wv=1), r"Of a gensim model give model\.wv"),
        ((NAMES, ARRAY, 1), "of type tuple"),
        ((NAMES, ARRAY[:2]), r"\(names, dim\) for 3 names, .* float32 of shape \(2, 2\)"),
        ((NAMES, ARRAY[:, 0]), r"float32 of shape \(3,\)"),
        ((NAMES, ARRAY[:, :0]), r"shape \(3, 0\)"),
        (({}), r"for 0 names, at least one, got"),
        ((NAMES, [["1", "2"]] * 3), "got <U1 of shape"),
        ({"a": [1, 2], "b": [3]}, "that of 'a' has 2 numbers and that of 'b' has 1"),
        ({"a": 1.0}, r"float64 of shape \(1,\)"),
        ({"a": [1, 2], "b": [np.nan, 0]}, r"finite .* the vector of 'b' is \[nan, 0.0\]"),
        ({"a": [1e39, 0]}, r"float32 holds, but the vector of 'a' is \[1e\+39, 0.0\]"),
        ((["a", None], [[1], [2]]), r"name of row 1 \(counted from 0\) is missing \(None\)"),
        (([["a"], ["b"]], [[1], [2]]), "names that can be hashed"),
        ((3, [[1]]), "expected a list of names"),
        (
            (NAMES, torch.ones(3, 2, requires_grad=True)),
            r"they do not form an array: .*detach",
        ),
    ],
)
def test_what_makes_no_table_of_vectors_is_told(source, message):
    with pytest.raises(InvalidParameterError, match=message):
        PretrainedVectors.of(source)


def test_of_a_repeated_name_the_first_vector_counts_and_a_warning_tells(caplog):
    with caplog.at_level(logging.WARNING, "embedprop"):
        pretrained = PretrainedVectors.of((["a", "b", "a", "a"], [[1], [2], [3], [4]]))
    assert pretrained.names == ("a", "b")
    assert pretrained.vectors.tolist() == [[1], [2]]
    assert "repeated names (2), such as 'a'" in caplog.messages[0]


def test_known_labels_start_from_their_vector_and_others_as_usual(caplog):
    table = np.full((4, 2), 0.5, dtype=np.float32)  # the last row: a dummy label
    with caplog.at_level(logging.INFO, "embedprop"):
        matched = start_from(
            table, ["label", "edge", "graph"], PretrainedVectors.of((NAMES, ARRAY)), "word"
        )
    assert table.tolist() == [[5, 6], [0.5, 0.5], [1, 2], [0.5, 0.5]]
    assert matched.tolist() == [True, False, True, False]
    assert matched.dtype == np.bool_
    assert caplog.messages == ["label type 'word': 2 of 3 labels start from pretrained vectors"]
    assert caplog.records[0].levelno == logging.INFO


def test_another_number_of_dimensions_is_told_with_both_and_nothing_is_written():
    table = np.zeros((3, 7))
    with pytest.raises(
        InvalidParameterError,
        match=r"Label type 'word': the pretrained vectors have 2 dimensions, but dim=7\. "
        r"Set dim=2 \(for this type alone: dim=\{'word': 2, ...\}\)",
    ):
        start_from(table, NAMES, PretrainedVectors.of((NAMES, ARRAY)), "word")
    assert not table.any()


@pytest.mark.parametrize(
    ("labels", "names"), [(["Graph", "Node"], ["graph", "node"]), ([1, 2], ["1", "2"])]
)
def test_when_no_label_is_found_both_spellings_are_shown(caplog, labels, names):
    table = np.zeros((2, 2))
    with caplog.at_level(logging.WARNING, "embedprop"):
        matched = start_from(table, labels, PretrainedVectors.of((names, ARRAY[:2])), "word")
    assert not matched.any()
    assert not table.any()
    assert len(caplog.messages) == 1
    assert f"no label (such as {labels[0]!r})" in caplog.messages[0]
    assert f"(such as that of {names[0]!r})" in caplog.messages[0]


def test_labels_that_are_no_strings_are_found_if_they_are_equal():
    table = np.zeros((2, 2))
    pretrained = PretrainedVectors.of((np.array([2, 7]), ARRAY[:2]))
    assert start_from(table, [7, (1, 2)], pretrained, "code").tolist() == [True, False]
    assert table.tolist() == [[3, 4], [0, 0]]


def test_a_type_without_labels_is_no_reason_to_warn(caplog):
    matched = start_from(np.zeros((2, 2)), [], PretrainedVectors.of((NAMES, ARRAY)), "word")
    assert matched.tolist() == [False, False]
    assert not caplog.messages

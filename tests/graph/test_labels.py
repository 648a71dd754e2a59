from __future__ import annotations

import logging

import numpy as np
import pytest

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.labels import ImageLabels, NumericLabels, TextLabels, split_kind, split_kinds

NODE_IDS = np.array([2, 0], dtype=np.int32)


@pytest.mark.parametrize(
    ("key", "expected"),
    [("word", ("word", "set")), ("word:set", ("word", "set")), ("a:b:text", ("a:b", "text"))],
)
def test_the_kind_stands_after_the_last_colon(key, expected):
    assert split_kind(key) == expected


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("age:number", "unknown kind 'number' after the colon. Expected one of set, numeric"),
        ("node", "'node' is reserved"),
        ("node:text", "'node' is reserved"),
        (":text", "has no name"),
        ("", "has no name"),
        (3, "must be a string such as 'word' or 'age:numeric', not 3"),
    ],
)
def test_a_bad_label_type_is_refused(key, message):
    with pytest.raises(InvalidParameterError, match=message):
        split_kind(key)


def test_a_label_type_cannot_be_given_in_two_kinds():
    with pytest.raises(InvalidParameterError, match="'age' is given twice, as 'age' and 'age:num"):
        split_kinds(["age", "age:numeric"])


def test_numbers_stand_at_their_node_and_others_are_missing():
    labels = NumericLabels.from_rows(3, NODE_IDS, np.array([[1.0, 2.0], [3.0, 4.0]]), ["x", "y"])
    assert labels.values.tolist() == [[3, 4], [0, 0], [1, 2]]
    assert labels.values.dtype == np.float32
    assert labels.is_present.tolist() == [True, False, True]
    assert labels.names == ("x", "y")
    assert not labels.values.flags.writeable


def test_nan_means_missing_and_half_a_row_is_told(caplog):
    values = np.array([[1.0, np.nan], [np.nan, np.nan]])
    with caplog.at_level(logging.WARNING, "embedprop"):
        labels = NumericLabels.from_rows(3, NODE_IDS, values)
    assert not labels.is_present.any()
    assert not labels.values.any()
    assert caplog.messages[0].startswith("incomplete numbers of 1 node count as missing")


def test_infinite_numbers_are_refused_with_their_row():
    with pytest.raises(InvalidGraphError, match=r"row 1 .* finite numbers .* \[inf\]"):
        NumericLabels.from_rows(3, NODE_IDS, np.array([1.0, np.inf]))


def test_numbers_in_the_wrong_shape_are_refused():
    with pytest.raises(InvalidGraphError, match=r"expected 2 rows of numbers.*shape \(3, 1\)"):
        NumericLabels.from_rows(3, NODE_IDS, np.zeros(3))


def test_two_rows_of_one_node_are_refused_in_every_kind():
    ids = np.array([1, 0, 0, 1], dtype=np.int32)
    message = "Rows 1 and 2 .* belong to the same node"
    with pytest.raises(InvalidGraphError, match=message):
        NumericLabels.from_rows(2, ids, np.zeros(4))
    with pytest.raises(InvalidGraphError, match=message):
        TextLabels.from_rows(2, ids, list("abcd"))
    with pytest.raises(InvalidGraphError, match=message):
        ImageLabels.from_rows(2, ids, np.zeros((4, 2, 2)))


def test_texts_stand_at_their_node_and_nan_means_none():
    labels = TextLabels.from_rows(3, np.array([2, 0, 1], np.int32), ["c", "a", float("nan")])
    assert labels.texts == ("a", None, "c")
    assert labels.is_present.tolist() == [True, False, True]


def test_a_text_that_is_no_string_is_refused():
    with pytest.raises(InvalidGraphError, match=r"row 1 .* expected a string, got 5 of type in"):
        TextLabels.from_rows(3, NODE_IDS, ["a", 5])


def test_images_keep_their_type_and_belong_to_their_node():
    images = np.arange(8, dtype=np.uint8).reshape(2, 2, 2)
    labels = ImageLabels.from_rows(3, NODE_IDS, images)
    assert labels.images.dtype == np.uint8
    assert labels.rows.tolist() == [1, -1, 0]
    assert labels.is_present.tolist() == [True, False, True]
    assert images.flags.writeable


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((2, 3)), r"of shape \(images, height, width\[, channels\]\), got float64"),
        (np.array([[["a"]], [["b"]]]), "got <U1"),
        (np.full((2, 1, 1), np.nan), "NaN or infinite"),
    ],
)
def test_what_is_no_image_is_refused(images, message):
    with pytest.raises(InvalidGraphError, match=message):
        ImageLabels.from_rows(3, NODE_IDS, images)

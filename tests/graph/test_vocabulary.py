from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedprop.errors import InvalidGraphError, UnknownNodeError
from embedprop.graph.vocabulary import Vocabulary

NAMES = st.lists(
    st.one_of(st.text(max_size=3), st.integers(), st.tuples(st.text(max_size=2), st.integers())),
    unique=True,
)


@given(NAMES)
def test_ids_and_names_are_inverse_and_keep_their_order(names):
    vocabulary = Vocabulary(names)
    assert list(vocabulary) == names
    assert vocabulary.ids(names).tolist() == list(range(len(names)))
    assert [vocabulary[i] for i in range(len(vocabulary))] == names


@given(NAMES, NAMES)
def test_extending_keeps_old_ids_and_appends_only_new_names(names, more):
    old = Vocabulary(names)
    new, ids = old.extended(more)
    assert list(new)[: len(old)] == names
    assert [new[i] for i in ids] == more
    assert set(new) == set(names) | set(more)
    assert ids.dtype == np.int32


def test_extending_by_known_names_gives_the_same_object():
    vocabulary = Vocabulary("ab")
    assert vocabulary.extended(["b"])[0] is vocabulary


def test_numpy_scalars_become_plain_objects_also_inside_tuples():
    vocabulary = Vocabulary([np.int64(3), np.str_("a"), (np.int32(1), "x")])
    assert [type(name) for name in vocabulary] == [int, str, tuple]
    assert type(vocabulary[2][0]) is int
    assert [type(name) for name in Vocabulary(np.array([1, 2]))] == [int, int]
    assert 3 in vocabulary


def test_unknown_names_are_minus_one_or_an_error_that_names_the_first():
    vocabulary = Vocabulary(["1", "2", "3", "4"])
    assert vocabulary.find_all(["2", "x", 2]).tolist() == [1, -1, -1]
    assert vocabulary.find(["unhashable"]) == -1
    assert [] not in vocabulary
    with pytest.raises(UnknownNodeError, match=r"Unknown name 2: .* 4 known names \('1', '2', '3'"):
        vocabulary.ids(["1", 2, "y"])


def test_an_unknown_name_in_an_empty_vocabulary_is_told_without_examples():
    with pytest.raises(UnknownNodeError, match=r"among the 0 known names\. Check"):
        Vocabulary([]).ids(["a"])


@pytest.mark.parametrize("missing", [None, float("nan"), np.float64("nan"), pd.NA, pd.NaT])
def test_missing_names_are_refused_with_their_position(missing):
    with pytest.raises(InvalidGraphError, match=r"position 1 \(counted from 0\) is missing"):
        Vocabulary(["a", missing])
    with pytest.raises(InvalidGraphError, match="position 0"):
        Vocabulary(["a"]).extended([missing])


def test_doubles_are_refused_with_both_positions():
    with pytest.raises(InvalidGraphError, match="'b' is given twice, at positions 1 and 3"):
        Vocabulary(["a", "b", "c", "b"])


def test_an_unhashable_name_is_refused_by_name():
    with pytest.raises(InvalidGraphError, match=r"position 1 .* cannot be hashed: \['b'\]"):
        Vocabulary(["a", ["b"]])


def test_dates_of_numpy_stay_what_they_are():
    day = np.datetime64("2024-01-01", "ns")
    assert Vocabulary([day]).find(day) == 0


def test_equality_is_that_of_names_and_survives_pickling():
    vocabulary = Vocabulary(["a", 1])
    assert vocabulary == Vocabulary(["a", 1]) == pickle.loads(pickle.dumps(vocabulary))
    assert vocabulary != Vocabulary([1, "a"])
    assert vocabulary != ("a", 1)
    assert len({vocabulary, Vocabulary(["a", 1])}) == 1


def test_repr_shows_a_few_names():
    assert repr(Vocabulary("abcd")) == "Vocabulary(4 names: 'a', 'b', 'c', ...)"
    assert repr(Vocabulary("a")) == "Vocabulary(1 name: 'a')"

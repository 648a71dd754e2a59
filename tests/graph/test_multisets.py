from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import multisets

from embedprop.errors import InvalidGraphError
from embedprop.graph.multisets import Multisets


@given(multisets())
def test_sets_read_one_by_one_are_the_whole(sets):
    assert len(sets) == sets.n_sets == len(sets.sizes)
    members = [sets.of(i) for i in range(sets.n_sets)]
    assert [len(m) for m in members] == sets.sizes.tolist()
    assert np.concatenate([*members, np.empty(0, np.int32)]).tolist() == sets.ids.tolist()


@given(multisets())
def test_totals_are_the_sums_of_the_weights_of_each_set(sets):
    expected = [float(np.sum(sets.weights_of(i), dtype=np.float64)) for i in range(sets.n_sets)]
    np.testing.assert_allclose(sets.totals, expected, rtol=1e-6)
    assert sets.totals.dtype == np.float32


@given(multisets(), st.data())
def test_a_subset_holds_the_asked_sets_in_the_asked_order(sets, data):
    row = st.integers(0, max(sets.n_sets - 1, 0))
    indices = data.draw(st.lists(row, max_size=0 if not sets.n_sets else 8))
    subset = sets.subset(indices)
    assert subset.n_sets == len(indices)
    for place, index in enumerate(indices):
        assert subset.of(place).tolist() == sets.of(index).tolist()
        assert subset.weights_of(place).tolist() == sets.weights_of(index).tolist()


@given(multisets())
def test_pickling_keeps_values_and_read_only_arrays(sets):
    copy = pickle.loads(pickle.dumps(sets))
    assert copy.ids.tolist() == sets.ids.tolist()
    assert copy.ptr.tolist() == sets.ptr.tolist()
    assert not copy.ids.flags.writeable


def test_identity_gives_each_set_its_own_id():
    sets = Multisets.identity(3)
    assert [sets.of(i).tolist() for i in range(3)] == [[0], [1], [2]]
    assert sets.weights is None
    assert sets.totals.tolist() == [1, 1, 1]


def test_arrays_get_the_pinned_types_and_cannot_be_written():
    sets = Multisets([0, 1], np.array([7]), [2])
    assert (sets.ptr.dtype, sets.ids.dtype, sets.weights.dtype) == (np.int64, np.int32, np.float32)
    for array in (sets.ptr, sets.ids, sets.weights, sets.sizes, sets.totals):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_arrays_of_the_right_type_are_not_copied_and_stay_writable_for_their_owner():
    ids = np.array([1, 2], dtype=np.int32)
    sets = Multisets(np.array([0, 2]), ids)
    assert np.shares_memory(sets.ids, ids)
    assert ids.flags.writeable


@pytest.mark.parametrize(
    ("ptr", "ids", "weights", "message"),
    [
        ([], [], None, "must rise from 0 to the number of ids, 0"),
        ([1, 1], [4], None, "must rise from 0"),
        ([0, 2], [4], None, "must rise from 0 to the number of ids, 1"),
        ([0, 2, 1, 3], [1, 2, 3], None, "must rise"),
        ([0, 1], [-4], None, "position 0 holds -4"),
        ([0, 1], [2**31], None, "holds 2147483648, more than int32 can"),
        ([0, 1], [1.0], None, "must hold integers, but its type is float64"),
        ([0, 1], [[1]], None, r"one dimension, but its shape is \(1, 1\)"),
        ([0, 1], [1], [1.0, 2.0], "each of the 1 ids, got 2 weights"),
        ([0, 2], [1, 2], [1.0, 0.0], "position 1 holds 0.0"),
        ([0, 2], [1, 2], [np.nan, 1.0], "position 0 holds nan"),
        ([0, 2], [1, 2], [1.0, np.inf], "position 1 holds inf"),
        ([0, 2], [1, 2], [1.0, -1.0], "position 1 holds -1.0"),
    ],
)
def test_parts_that_make_no_multisets_are_refused(ptr, ids, weights, message):
    with pytest.raises(InvalidGraphError, match=message):
        Multisets(ptr, ids, weights)


def test_lists_of_weights_must_be_as_long_as_those_of_ids():
    with pytest.raises(InvalidGraphError, match=r"sizes \[2\]... have weights of sizes \[1\]"):
        Multisets.from_lists([[1, 2]], weights=[[1.0]])


@pytest.mark.parametrize("index", [-1, 2])
def test_a_set_that_does_not_exist_is_an_index_error(index):
    with pytest.raises(IndexError, match=rf"set {index} does not exist: expected 0 to 1"):
        Multisets.identity(2).of(index)


def test_repr_tells_the_size():
    assert repr(Multisets.from_lists([[1], []])) == "Multisets(2 sets, 1 value)"
    assert repr(Multisets([0, 1], [0], [2])) == "Multisets(1 set, 1 value, weighted)"

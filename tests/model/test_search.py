from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedprop.model.search import best_rows, lengths, most_similar

SCORES = st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 0.5, 2.0]), max_size=8)


@given(SCORES, st.integers(1, 9))
def test_the_best_rows_are_those_of_a_stable_sort(scores: list[float], k: int) -> None:
    found = best_rows(np.array(scores, np.float32), k)
    possible = [row for row, score in enumerate(scores) if score > -np.inf]
    expected = sorted(possible, key=lambda row: -scores[row])[:k]
    # Where more are equal than there is room for, any of them will do.
    assert [score for _, score in found] == [scores[row] for row in expected]
    assert len({row for row, _ in found}) == len(found)
    if k >= len(possible):
        assert [row for row, _ in found] == expected


def test_lengths_are_euclidean() -> None:
    assert lengths(np.array([[3, 4], [0, 0]], np.float32)).tolist() == [5, 0]


def test_the_query_itself_is_left_out() -> None:
    vectors = np.array([[1, 0], [2, 0], [0, 1], [-1, 0]], np.float32)
    assert most_similar(vectors, lengths(vectors), 0, 9) == [
        (1, pytest.approx(1)),
        (2, pytest.approx(0)),
        (3, pytest.approx(-1)),
    ]

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


class TestMostSimilar:
    VECTORS = np.array([[1, 0], [2, 0], [0, 3], [0, 0], [-1, 0], [1, 1]], np.float32)
    NORMS = np.linalg.norm(VECTORS, axis=1)

    def test_it_goes_by_angle_and_not_by_length(self) -> None:
        found = most_similar(self.VECTORS, self.NORMS, 0, 5)
        assert found == [(1, 1.0), (5, pytest.approx(0.5**0.5)), (2, 0.0), (3, 0.0), (4, -1.0)]

    @pytest.mark.parametrize("k", [1, 2, 4])
    def test_fewer_are_the_first_of_all(self, k: int) -> None:
        everyone = most_similar(self.VECTORS, self.NORMS, 5, 5)
        scores = [score for _, score in everyone]
        assert [score for _, score in most_similar(self.VECTORS, self.NORMS, 5, k)] == scores[:k]

    def test_a_vector_of_zeros_is_similar_to_nothing(self) -> None:
        assert most_similar(self.VECTORS, self.NORMS, 3, 9) == [
            (row, 0.0) for row in (0, 1, 2, 4, 5)
        ]

    def test_a_single_row_has_no_others(self) -> None:
        assert most_similar(self.VECTORS[:1], self.NORMS[:1], 0, 3) == []

from __future__ import annotations

import numpy as np
import pytest

from embedprop.kernels.epb.batch import Draws
from embedprop.kernels.epb.relations import with_relations


@pytest.mark.parametrize("weighted", [False, True])
def test_each_neighbor_is_followed_by_the_relation_of_its_edge(weighted: bool) -> None:
    starts, ends = np.array([3, 0, 1]), np.array([5, 1, 1])  # the last position hears nobody
    ids, relations = np.array([7, 8, 9, 4, 5], np.int32), np.array([0, 0, 0, 2, 1], np.int32)
    weights = np.arange(5 if weighted else 0, dtype=np.float32)
    draws = Draws(ids, starts, ends, ids, weights, ids[:, None], relations, starts)
    new_ids, new_weights, new_starts, new_ends = with_relations(draws, 100)
    lists = [new_ids[start:end].tolist() for start, end in zip(new_starts, new_ends, strict=True)]
    assert lists == [[4, 102, 5, 101], [7, 100], []]
    assert new_weights.tolist() == ([3, 3, 4, 4, 0, 0] if weighted else [])

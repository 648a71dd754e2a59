"""Edges are taken both ways, however they are given."""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.closed_form.made import KINDS, dense_adjacency, made_graph

from embedprop import Graph
from embedprop.graph.matrix import speakers_of, symmetric_adjacency


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_matrix_is_symmetric_and_has_all_edges(kind: dict[str, bool]) -> None:
    graph = made_graph(**kind)
    matrix = symmetric_adjacency(graph)
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(matrix.toarray(), dense_adjacency(graph), rtol=1e-6)


def test_of_two_opposite_edges_the_heavier_one_counts() -> None:
    graph = Graph.from_edges([(0, 1), (1, 0), (2, 1)], weights=[2, 5, 3], directed=True)
    assert symmetric_adjacency(graph).toarray().tolist() == [[0, 5, 0], [5, 0, 3], [0, 3, 0]]


@pytest.mark.parametrize("directed", [False, True])
def test_edges_of_several_relations_add_up(directed: bool) -> None:
    graph = Graph.from_edges(
        [(0, 1), (0, 1), (1, 2)], relations=["likes", "knows", "likes"], directed=directed
    )
    assert symmetric_adjacency(graph).toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    assert speakers_of(graph, np.array([0, 1])).totals.tolist() == [2, 3]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_speakers_are_the_rows_of_the_matrix(kind: dict[str, bool]) -> None:
    graph = made_graph(**kind)
    nodes = np.array([7, 3, 40])
    speakers = speakers_of(graph, nodes)
    rows = np.zeros((3, graph.n_nodes))
    for row in range(3):
        rows[row, speakers.of(row)] = speakers.weights_of(row)
    np.testing.assert_allclose(rows, dense_adjacency(graph)[nodes], rtol=1e-6)
    assert (speakers.weights is None) == ("weighted_edges" not in kind)

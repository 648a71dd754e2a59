"""The PageRank average, compared with powers of a dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.methods.closed_form.made import KINDS, dense_adjacency, dense_pagerank, made_graph, unit

from embedprop import Graph
from embedprop.graph.matrix import symmetric_adjacency
from embedprop.methods.closed_form.solve import pagerank_average
from embedprop.model.readout.eigen import shares, unit_rows


@pytest.mark.parametrize("restart", [0.01, 0.15, 0.5, 1.0])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_it_is_the_sum_over_paths(kind: dict[str, bool], restart: float) -> None:
    graph = made_graph(**kind)
    h = np.random.default_rng(0).standard_normal((graph.n_nodes, 5)).astype(np.float32)
    before = h.copy()
    r = pagerank_average(symmetric_adjacency(graph), h, restart)
    expected = unit(dense_pagerank(dense_adjacency(graph), h.astype(np.float64), restart))
    np.testing.assert_allclose(r, expected, atol=1e-5)
    np.testing.assert_array_equal(h, before)
    assert r.dtype == np.float32


def test_with_restart_1_nobody_is_heard() -> None:
    graph = made_graph()
    h = np.random.default_rng(0).standard_normal((graph.n_nodes, 5)).astype(np.float32)
    np.testing.assert_allclose(
        pagerank_average(symmetric_adjacency(graph), h, 1.0), unit_rows(h), rtol=1e-6
    )


def test_a_node_without_edges_keeps_its_h_and_one_without_h_hears_others() -> None:
    graph = Graph.from_edges([(0, 1)], nodes=range(4))
    h = np.array([[3, 4], [0, 0], [0, 2], [0, 0]], np.float32)
    r = pagerank_average(symmetric_adjacency(graph), h, 0.15)
    np.testing.assert_allclose(r, [[0.6, 0.8], [0.6, 0.8], [0, 1], [0, 0]], rtol=1e-6)


@given(st.lists(st.floats(0, 2**20, width=32)))
def test_a_share_is_the_root_of_the_inverse_degree_with_the_node_itself(
    degrees: list[float],
) -> None:
    found = shares(np.array(degrees, np.float32))
    np.testing.assert_allclose(found, 1 / np.sqrt(np.array(degrees) + 1), rtol=1e-6)
    assert found.dtype == np.float32


@given(arrays(np.float32, (4, 3), elements=st.floats(-1000, 1000, width=32)))
def test_unit_rows_have_length_1_or_0(vectors: np.ndarray) -> None:
    vectors = np.where(np.abs(vectors) < 1e-6, np.float32(0), vectors)
    rows = unit_rows(vectors)
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    np.testing.assert_allclose(lengths, vectors.any(axis=1).astype(float), rtol=1e-5)

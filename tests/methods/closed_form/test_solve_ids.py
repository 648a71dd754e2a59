"""Vectors of ids, compared with dense eigenvectors in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.closed_form.made import (
    KINDS,
    ExactBlock,
    assert_same_up_to_signs,
    dense_adjacency,
    gram,
    made_graph,
    random_start,
    unit,
)

from embedprop import Graph
from embedprop.graph.matrix import symmetric_adjacency
from embedprop.instance.closed_form import block_sizes
from embedprop.methods.closed_form import spectrum
from embedprop.methods.closed_form.solve import IdBlock, solve_ids

DIM = 12
EXPONENTS = (0.5, 0.25)


def solved(graph: Graph, dim: int = DIM, regularization: float = 0.3) -> list[IdBlock]:
    start = random_start(graph.n_nodes)
    return solve_ids(symmetric_adjacency(graph), dim, regularization, start)


@pytest.fixture(params=["dense", "Lanczos"])
def solver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "Lanczos":
        monkeypatch.setattr(spectrum, "_SMALL", 0)
        monkeypatch.setattr(spectrum, "_TOLERANCE", 1e-6)
    return str(request.param)


@pytest.mark.parametrize(
    ("dim", "sizes"), [(1, [1]), (3, [3]), (4, [3, 1]), (7, [6, 1]), (128, [96, 32])]
)
def test_a_quarter_of_the_dimensions_is_for_hubs(dim: int, sizes: list[int]) -> None:
    assert block_sizes(dim) == sizes
    assert sum(block_sizes(dim)) == dim


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("regularization", [0.01, 0.3, 10.0])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_blocks_are_the_eigenvectors_largest_in_size(
    kind: dict[str, bool], regularization: float
) -> None:
    graph = made_graph(**kind)
    blocks = solved(graph, regularization=regularization)
    assert [block.vectors.shape[1] for block in blocks] == [9, 3]
    for block, exponent, size in zip(blocks, EXPONENTS, [9, 3], strict=True):
        exact = ExactBlock.of(graph, regularization, exponent, size)
        assert_same_up_to_signs(block.vectors, unit(exact.rows), accuracy=5e-3)
        lengths = np.linalg.norm(exact.rows, axis=1)
        np.testing.assert_allclose(block.masses, lengths * exact.scale, rtol=5e-3)
        np.testing.assert_allclose(block.factors, 1 / exact.values, rtol=1e-4)
        np.testing.assert_allclose(np.linalg.norm(block.vectors, axis=1), 1, rtol=1e-5)
        assert block.residual < 1e-3


def test_negative_eigenvalues_count_by_their_size() -> None:
    rng = np.random.default_rng(0)
    pairs = np.stack([rng.integers(0, 30, 150), rng.integers(30, 60, 150)], axis=1)
    block = solved(Graph.from_edges(pairs), dim=3)[0]
    # A bipartite graph has every eigenvalue with both signs; the largest stand first.
    np.testing.assert_allclose(block.factors[0], -block.factors[1], rtol=1e-3)


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_rule_for_new_nodes_gives_known_nodes_their_own_directions(
    kind: dict[str, bool],
) -> None:
    graph = made_graph(**kind)
    for block in solved(graph):
        heard = dense_adjacency(graph) @ (block.masses[:, None] * block.vectors)
        cosines = (unit(heard * block.factors) * block.vectors).sum(axis=1)
        assert cosines.min() > 0.999


def test_nodes_without_edges_have_zeros() -> None:
    graph = made_graph(60)
    apart = Graph.from_edges(
        [(u, v) for u in range(60) for v in graph.neighbors.of(u).tolist()], nodes=range(64)
    )
    for block in solved(apart):
        assert not block.vectors[60:].any()
        assert not block.masses[60:].any()
        np.testing.assert_allclose(np.linalg.norm(block.vectors[:60], axis=1), 1, rtol=1e-5)


def test_parts_that_are_not_connected_are_orthogonal() -> None:
    parts = [range(0, 9), range(9, 17), range(17, 24)]
    graph = Graph.from_edges([(u, v) for part in parts for u in part for v in part if u < v])
    products = gram(solved(graph, dim=3)[0].vectors)
    part_of = np.repeat([0, 1, 2], [9, 8, 7])
    np.testing.assert_allclose(products, part_of[:, None] == part_of, atol=1e-5)


def test_dimensions_that_the_graph_does_not_have_are_zeros() -> None:
    for block in solved(Graph.from_edges([(0, 1)])):
        assert block.vectors.any(axis=0).sum() == 2 == (block.factors != 0).sum()
        np.testing.assert_allclose(gram(block.vectors), np.eye(2), atol=1e-6)


def test_a_solver_that_finds_nothing_gives_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectrum, "_SMALL", 0)
    monkeypatch.setattr(spectrum, "_MAX_RESTARTS", 1)
    for block in solved(Graph.from_edges([(i, i + 1) for i in range(400)]), dim=8):
        assert not block.vectors.any()
        assert not block.masses.any()
        assert not block.factors.any()

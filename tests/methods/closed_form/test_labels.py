"""Label vectors, compared with a dense solution in double precision."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.closed_form.made import (
    KINDS,
    ExactLabels,
    assert_same_up_to_signs,
    dense_labels,
    gram,
    made_graph,
    random_start,
)
from tests.toy_graphs import messy

from embedprop import Graph
from embedprop.errors import InvalidParameterError
from embedprop.graph.matrix import symmetric_adjacency
from embedprop.methods.closed_form import labels, spectrum
from embedprop.methods.closed_form.labels import LabeledNodes, label_matrix, solve_labels

DIM = 6


def parts(graph: Graph) -> tuple[Any, Any]:
    """A and L of the nodes with words."""
    sets = graph.labels["word"]
    matrix = label_matrix(sets, len(graph.vocabulary("word")))
    adjacency, known = symmetric_adjacency(graph), sets.sizes > 0
    if known.all():
        return adjacency, matrix
    return LabeledNodes(adjacency, known), matrix[np.flatnonzero(known)]


class Solution(NamedTuple):
    vectors: np.ndarray
    residual: float


def solved(graph: Graph, regularization: float = 5.0, dim: int = DIM) -> Solution:
    adjacency, matrix = parts(graph)
    start = random_start(matrix.shape[1])
    return Solution(*solve_labels(adjacency, matrix, dim, regularization, start))


def problem_of(graph: Graph, regularization: float = 5.0) -> labels._Problem:
    return labels._Problem(*parts(graph), regularization)


def decorrelated(exact: ExactLabels, vectors: np.ndarray) -> np.ndarray:
    """E of some label vectors: they are divided by their eigenvalues, and sum to 0 again."""
    e = vectors.astype(np.float64) / exact.values[: vectors.shape[1]]
    return e - e.mean(axis=0)


def objective(exact: ExactLabels, e: np.ndarray) -> float:
    """The sum of |h(u) - h(v)|^2 over the edges, one after the other, plus ridge |E|^2."""
    h = exact.labels @ e
    edges = np.argwhere(np.triu(exact.adjacency))
    apart = sum(exact.adjacency[u, v] * ((h[u] - h[v]) ** 2).sum() for u, v in edges)
    return float(apart + exact.ridge * (e**2).sum())


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_rows_of_the_label_matrix_are_means(kind: dict[str, bool]) -> None:
    graph = made_graph(**kind)
    matrix = label_matrix(graph.labels["word"], len(graph.vocabulary("word")))
    np.testing.assert_allclose(matrix.toarray(), dense_labels(graph), rtol=1e-6)


@pytest.mark.parametrize("regularization", [0.01, 5.0, 200.0])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_label_vectors_are_the_top_eigenvectors_times_their_eigenvalues(
    kind: dict[str, bool], regularization: float
) -> None:
    graph = made_graph(**kind)
    found = solved(graph, regularization)
    exact = ExactLabels.of(graph, regularization)
    assert_same_up_to_signs(found.vectors, exact.label_vectors(DIM))
    assert found.residual < 1e-4


@given(st.integers(0, 10**6), st.sampled_from(list(KINDS.values())), st.floats(0.05, 50))
def test_all_label_vectors_of_any_graph_are_those_of_the_dense_solution(
    seed: int, kind: dict[str, bool], regularization: float
) -> None:
    graph = messy(seed=seed, isolated=True, self_loops="keep", **kind)
    found = solved(graph, regularization, dim=30)
    exact = ExactLabels.of(graph, regularization)
    expected = gram(exact.label_vectors(30))
    np.testing.assert_allclose(gram(found.vectors), expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_dimensions_are_decorrelated(kind: dict[str, bool]) -> None:
    graph = made_graph(**kind)
    exact = ExactLabels.of(graph, 5.0)
    e = decorrelated(exact, solved(graph).vectors)
    np.testing.assert_allclose(e.T @ exact.b @ e, np.eye(DIM), atol=1e-3)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_objective_is_the_dimensions_less_their_eigenvalues(kind: dict[str, bool]) -> None:
    graph = made_graph(**kind)
    exact = ExactLabels.of(graph, 5.0)
    e = decorrelated(exact, solved(graph).vectors)
    assert objective(exact, e) == pytest.approx(DIM - exact.values[:DIM].sum(), rel=1e-4)


def test_no_other_decorrelated_vectors_have_a_smaller_objective() -> None:
    graph = made_graph(weighted_edges=True)
    exact = ExactLabels.of(graph, 5.0)
    e = decorrelated(exact, solved(graph).vectors)
    least = objective(exact, e)
    rng = np.random.default_rng(0)
    for nearness in (0.0, 0.01, 0.1, 1.0, 100.0) * 4:
        other = e + nearness * e.std() * rng.standard_normal(e.shape)
        root = np.linalg.cholesky(other.T @ exact.b @ other)
        other = np.linalg.solve(root, other.T).T
        np.testing.assert_allclose(other.T @ exact.b @ other, np.eye(DIM), atol=1e-8)
        assert objective(exact, other) >= least * (1 - 1e-6)


def test_the_mean_over_all_edge_ends_is_zero() -> None:
    graph = made_graph(weighted_edges=True)
    exact = ExactLabels.of(graph, 5.0)
    vectors = solved(graph).vectors
    np.testing.assert_allclose(exact.mean @ vectors, 0, atol=1e-6 * np.abs(vectors).max())


class TestMessagePassing:
    @pytest.fixture(autouse=True)
    def _no_dense_matrices(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(labels, "MAX_DENSE", 0)

    @pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
    def test_it_gives_what_the_dense_problem_gives(
        self, kind: dict[str, bool], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(spectrum, "_SMALL", 0)
        monkeypatch.setattr(spectrum, "_TOLERANCE", 1e-5)
        graph = made_graph(**kind)
        found = solved(graph)
        assert_same_up_to_signs(
            found.vectors, ExactLabels.of(graph, 5.0).label_vectors(DIM), accuracy=5e-3
        )
        assert found.residual < 1e-3

    def test_few_labels_are_decomposed_whole(self) -> None:
        graph = made_graph()
        assert_same_up_to_signs(
            solved(graph).vectors, ExactLabels.of(graph, 5.0).label_vectors(DIM)
        )

    @pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
    def test_products_are_those_of_the_dense_matrices(self, kind: dict[str, bool]) -> None:
        graph = made_graph(**kind)
        exact, problem = ExactLabels.of(graph, 5.0), problem_of(graph)
        x = np.eye(problem.n_labels, dtype=np.float32)
        for found, matrix in ((problem.m(x), exact.m), (problem.b(x), exact.b)):
            np.testing.assert_allclose(found, matrix, atol=1e-5 * np.abs(matrix).max())

    @pytest.mark.parametrize("regularization", [0.5, 5.0])
    def test_conjugate_gradients_solve_b(self, regularization: float) -> None:
        graph = made_graph(missing=True, weighted_labels=True)
        exact = ExactLabels.of(graph, regularization)
        y = np.random.default_rng(0).standard_normal((len(exact.b), 3)).astype(np.float32)
        y[:, 1] = 0
        x = problem_of(graph, regularization).solve_b(y)
        expected = np.linalg.solve(exact.b, y)
        np.testing.assert_allclose(x, expected, atol=1e-4 * np.abs(expected).max())
        assert not x[:, 1].any()


class TestDegenerate:
    @pytest.mark.parametrize("seed", range(8))
    def test_labels_that_all_nodes_share_make_no_dimension(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n = 40 + 35 * seed
        graph = Graph.from_edges(
            rng.integers(n, size=(3 * n, 2)),
            nodes=range(n),
            weights=rng.uniform(0.1, 9, 3 * n),
            labels={"word": {node: [f"w{i}" for i in range(1 + seed)] for node in range(n)}},
        )
        found = solved(graph)
        assert found.vectors.shape == (1 + seed, DIM)
        assert not found.vectors.any()
        assert found.residual == 0

    def test_a_label_that_every_node_has_alike_says_nothing(self) -> None:
        graph = made_graph()
        words = {node: ["all", node % 5, 5 + node % 7] for node in range(graph.n_nodes)}
        edges = [(u, v) for u in words for v in graph.neighbors.of(u).tolist()]
        graph = Graph.from_edges(edges, labels={"word": words})
        vectors = solved(graph).vectors
        e = vectors - vectors.mean(axis=0)
        assert np.abs(e[graph.vocabulary("word").find("all")]).max() < 1e-5 * np.abs(e).max()

    @pytest.mark.parametrize("max_dense", [0, 6000])
    def test_labels_of_hub_and_leaves_make_no_dimension(
        self, max_dense: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(labels, "MAX_DENSE", max_dense)
        graph = Graph.from_edges(
            [("hub", leaf) for leaf in range(30)],
            labels={"word": {node: [node] for node in ["hub", *range(30)]}},
        )
        found = solved(graph)
        assert not found.vectors.any()
        assert found.residual == 0

    def test_labels_of_isolated_nodes_alone_make_no_dimension(self) -> None:
        graph = Graph.from_edges(
            [(0, 1), (1, 2)], nodes=range(5), labels={"word": {3: ["x"], 4: ["y"]}}
        )
        assert not solved(graph).vectors.any()

    def test_without_any_label_there_is_none_to_embed(self) -> None:
        graph = Graph.from_edges([(0, 1), (1, 2)], labels={"word": {}})
        assert solved(graph, dim=3).vectors.shape == (0, 3)

    @pytest.mark.parametrize("regularization", [1e-9, 1e-5])
    @pytest.mark.parametrize("max_dense", [0, 6000])
    def test_a_regularization_that_rounding_swamps_is_refused(
        self, regularization: float, max_dense: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(labels, "MAX_DENSE", max_dense)
        with pytest.raises(
            InvalidParameterError,
            match=rf"regularization={regularization:.2g} is too small .* Give at least 0\.00\d\.",
        ):
            solved(made_graph(), regularization)

    def test_a_matrix_that_cannot_be_factored_is_refused_too(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(labels, "_LEAST_RIDGE", 1e-9)
        with pytest.raises(InvalidParameterError, match="is too small"):
            solved(made_graph(40, 400), 1e-8)

"""Nodes without labels: computed by hand, by dense matrices, and as users see them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.closed_form.made import (
    ExactLabels,
    dense_adjacency,
    dense_means,
    made_graph,
    random_start,
)
from tests.toy_graphs import TwoCliques, messy
from threadpoolctl import threadpool_limits

from embedprop import ClosedForm, Graph
from embedprop.graph.matrix import symmetric_adjacency
from embedprop.methods.closed_form import labels, spectrum
from embedprop.methods.closed_form.labels import (
    MAX_PASSED,
    LabeledNodes,
    label_matrix,
    solve_labels,
)

# a - x - y - b, and z for itself
PATH = Graph.from_edges([("a", "x"), ("x", "y"), ("y", "b")], nodes=["a", "x", "y", "b", "z"])
PATH_KNOWN = np.array([True, False, False, True, False])


def labelled(graph: Graph, known: np.ndarray) -> LabeledNodes:
    return LabeledNodes(symmetric_adjacency(graph), known)


class TestOnAPath:
    def test_a_node_without_labels_is_the_mean_of_its_neighbors(self) -> None:
        h = labelled(PATH, PATH_KNOWN).filled(np.array([[3.0], [9.0]], np.float32))
        np.testing.assert_allclose(h.ravel(), [3, 5, 7, 9, 0], rtol=1e-5)

    def test_labelled_nodes_are_neighbors_by_the_nodes_between_them(self) -> None:
        nodes = labelled(PATH, PATH_KNOWN)
        # From a the next step is x; from x a walk ends at a two times of three.
        expected = [[2 / 3, 1 / 3], [1 / 3, 2 / 3]]
        np.testing.assert_allclose(nodes @ np.eye(2, dtype=np.float32), expected, rtol=1e-5)
        np.testing.assert_allclose(nodes.degrees, 1, rtol=1e-5)

    def test_a_node_that_no_label_reaches_is_counted(self) -> None:
        assert labelled(PATH, PATH_KNOWN).n_unreached == 1

    def test_a_label_reaches_as_far_as_walks_go(self) -> None:
        n = MAX_PASSED + 3
        graph = Graph.from_edges([(i, i + 1) for i in range(n - 1)])
        nodes = labelled(graph, np.arange(n) == 0)
        h = nodes.filled(np.ones((1, 1), np.float32)).ravel()
        assert nodes.n_unreached == 2
        np.testing.assert_allclose(h, [1] * (MAX_PASSED + 1) + [0, 0], rtol=1e-5)


@given(st.integers(0, 10**6), st.booleans(), st.floats(0.1, 0.6))
def test_walks_are_the_dense_solution(seed: int, weighted: bool, share: float) -> None:
    graph = messy(seed=seed, isolated=True, weighted_edges=weighted)
    known = np.random.default_rng(seed).random(graph.n_nodes) >= share
    known[0] = True
    adjacency = dense_adjacency(graph)
    means = dense_means(adjacency, known)
    # Where walks are longer than is allowed, what is missing returns too late.
    passing = adjacency / np.maximum(adjacency.sum(axis=1), 1e-9)[:, None]
    late = np.linalg.matrix_power(passing[~known][:, ~known], MAX_PASSED).sum(axis=1)
    accuracy = 1e-5 + 3 * late.max(initial=0.0)
    nodes, one = labelled(graph, known), np.eye(int(known.sum()), dtype=np.float32)
    np.testing.assert_allclose(nodes.filled(one), means, atol=accuracy)
    near = nodes @ one
    size = adjacency.max()
    np.testing.assert_allclose(near, near.T, atol=1e-5 * size)
    np.testing.assert_allclose(near, (adjacency @ means)[known], atol=accuracy * 20 * size)
    np.testing.assert_allclose(near.sum(axis=1), nodes.degrees, rtol=1e-4, atol=1e-6)


def test_no_other_dummies_and_decorrelated_vectors_have_a_smaller_objective() -> None:
    graph = made_graph(missing=True, weighted_edges=True)
    exact = ExactLabels.of(graph, 5.0)
    known = graph.has_labels("word")
    matrix = label_matrix(graph.labels["word"], len(graph.vocabulary("word")))
    own = matrix.toarray()[known]
    nodes = labelled(graph, known)
    found, _ = solve_labels(nodes, matrix[known], 6, 5.0, random_start(own.shape[1]))
    e = found.astype(np.float64) / exact.values[:6]
    e -= e.mean(axis=0)

    def objective(e: np.ndarray, h: np.ndarray) -> float:
        apart = exact.adjacency * ((h[:, None] - h[None]) ** 2).sum(axis=2)
        return float(apart.sum() / 2 + exact.ridge * (e**2).sum())

    h = nodes.filled((own @ e).astype(np.float32)).astype(np.float64)
    least = objective(e, h)
    rng = np.random.default_rng(0)
    for nearness in (0.0, 0.01, 0.1, 1.0) * 4:
        other = e + nearness * e.std() * rng.standard_normal(e.shape)
        other = np.linalg.solve(np.linalg.cholesky(other.T @ exact.b @ other), other.T).T
        others = h + nearness * h.std() * rng.standard_normal(h.shape)
        others[known] = own @ other
        assert objective(other, others) >= least * (1 - 1e-5)


@pytest.mark.parametrize("max_dense", [0, 6000])
def test_the_number_of_threads_does_not_matter(
    max_dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "MAX_DENSE", max_dense)
    monkeypatch.setattr(spectrum, "_SMALL", 0)
    graph = made_graph(200, 150, missing=True)
    found = set()
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            model = ClosedForm(dim=8)
            found.add(model.fit_transform(graph).tobytes())
    assert len(found) == 1


class TestEstimator:
    def test_nodes_without_words_are_placed_with_their_neighbors(
        self, two_cliques: TwoCliques
    ) -> None:
        graph, clique_of = two_cliques.graph, two_cliques.clique_of
        edges = [
            (u, graph.nodes[i])
            for u in clique_of
            for i in graph.neighbors.of(graph.nodes.find(u)).tolist()
        ]
        words = {node: two_cliques.words_of[node[0]] for node in clique_of if int(node[1]) > 3}
        model = ClosedForm(dim=4).fit(Graph.from_edges(edges, labels={"word": words}))
        for node in clique_of:
            nearest = [other for other, _ in model.similar(node, k=5)]
            assert {clique_of[other] for other in nearest} == {clique_of[node]}

    def test_there_is_no_vector_but_those_of_labels(self) -> None:
        graph = made_graph(missing=True)
        model = ClosedForm(dim=4).fit(graph)
        assert model.n_parameters_ == 4 * len(graph.vocabulary("word"))

    def test_nodes_that_no_label_reaches_get_zeros_and_a_warning(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        graph = made_graph(missing=True)
        edges = [(u, v) for u in range(80) for v in graph.neighbors.of(u).tolist()]
        words = graph.labels["word"]
        grown = Graph.from_edges(
            [*edges, ("p", "q"), ("q", "r")],
            nodes=[*range(80), "alone"],
            labels={"word": {node: words.of(node).tolist() for node in range(80)}},
        )
        vectors = ClosedForm(dim=4).fit_transform(grown)
        assert vectors.any(axis=1).tolist() == [name in range(80) for name in grown.nodes]
        assert "4 of the 84 nodes get zeros for the label type 'word'" in caplog.text

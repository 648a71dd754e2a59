"""Made graphs for the closed form, and its matrices in float64, computed one entry at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from embedprop import ClosedForm, Graph

N_GROUPS = 5
RING = [(i, (i + 1) % 20) for i in range(20)]
KINDS: dict[str, dict[str, bool]] = {
    "plain": {},
    "weighted edges": {"weighted_edges": True},
    "weighted labels": {"weighted_labels": True},
    "missing labels": {"missing": True},
    "directed": {"directed": True},
    "all at once": {
        "weighted_edges": True,
        "weighted_labels": True,
        "missing": True,
        "directed": True,
    },
}


def closed_form(dim: Any = 8, **params: Any) -> ClosedForm:
    """Return an estimator of the closed form, not yet fitted."""
    return ClosedForm(dim=dim, **params)


def made_graph(
    n_nodes: int = 80,
    n_words: int = 50,
    *,
    weighted_edges: bool = False,
    weighted_labels: bool = False,
    missing: bool = False,
    directed: bool = False,
    seed: int = 0,
    **options: Any,
) -> Graph:
    """Groups of nodes that link and speak alike, mostly; "w0" is a word of every node.

    missing: every sixth node has no words.
    """
    rng = np.random.default_rng(seed)
    sources = rng.integers(n_nodes, size=4 * n_nodes)
    near = (sources + N_GROUPS * rng.integers(1, n_nodes // N_GROUPS, len(sources))) % n_nodes
    targets = np.where(rng.random(len(sources)) < 0.8, near, rng.permutation(sources))
    words = [
        (node, f"w{word}", float(rng.uniform(0.2, 3.0)) if weighted_labels else 1.0)
        for node in range(n_nodes)
        if not (missing and node % 6 == 1)
        for word in {0, *_words(rng, node % N_GROUPS, n_words)}
    ]
    return Graph.from_edges(
        np.stack([sources, targets], axis=1),
        labels={"word": words},
        nodes=range(n_nodes),
        directed=directed,
        weights=rng.uniform(0.1, 4.0, len(sources)) if weighted_edges else None,
        **options,
    )


def _words(rng: np.random.Generator, group: int, n_words: int) -> list[int]:
    of_group = N_GROUPS * rng.integers(n_words // N_GROUPS, size=4) + group
    return [*of_group.tolist(), int(rng.integers(n_words))]


def dense_adjacency(graph: Graph) -> np.ndarray:
    """A: symmetric; of two opposite edges the heavier one."""
    a = np.zeros((graph.n_nodes, graph.n_nodes))
    for node in range(graph.n_nodes):
        np.add.at(a[node], graph.neighbors.of(node), graph.neighbors.weights_of(node))
    return np.maximum(a, a.T)


def dense_labels(graph: Graph, label_type: str = "word") -> np.ndarray:
    """L: rows that sum to 1, or to 0 where a node has no labels."""
    sets = graph.labels[label_type]
    matrix = np.zeros((graph.n_nodes, len(graph.vocabulary(label_type))))
    for node in range(graph.n_nodes):
        np.add.at(matrix[node], sets.of(node), sets.weights_of(node))
    totals = matrix.sum(axis=1, keepdims=True)
    return matrix / np.where(totals > 0, totals, 1)


def dense_means(adjacency: np.ndarray, known: np.ndarray) -> np.ndarray:
    """h of all nodes from h of the known ones: each other node is the mean of its neighbors.

    Zeros for nodes from which no known one is reached.
    """
    laplacian = np.diag(adjacency.sum(axis=1)) - adjacency
    means = np.eye(len(known))[:, known]
    inverse = np.linalg.pinv(laplacian[~known][:, ~known], hermitian=True)
    means[~known] = inverse @ adjacency[~known][:, known]
    return means


@dataclass(frozen=True)
class ExactLabels:
    """The problem M e = lambda B e of the labels, and all of its solution, best first.

    labels: L with rows for nodes without labels, too: the means of their neighbors' rows.
    """

    adjacency: np.ndarray
    labels: np.ndarray
    mean: np.ndarray
    m: np.ndarray
    b: np.ndarray
    ridge: float
    values: np.ndarray
    vectors: np.ndarray

    @classmethod
    def of(cls, graph: Graph, regularization: float) -> ExactLabels:
        adjacency, labels = dense_adjacency(graph), dense_labels(graph)
        known = labels.any(axis=1)
        means = dense_means(adjacency, known)
        near, own = (adjacency @ means)[known], labels[known]
        degrees = near.sum(axis=1)
        mean = degrees @ own / degrees.sum()
        b = (own - mean).T @ np.diag(degrees) @ (own - mean)
        ridge = regularization * np.diag(b).mean()
        b += ridge * np.eye(len(b))
        m = (own - mean).T @ near @ (own - mean)
        values, vectors = eigh((m + m.T) / 2, b)
        rows = means @ own
        return cls(adjacency, rows, mean, m, b, ridge, values[::-1], vectors[:, ::-1])

    def label_vectors(self, dim: int) -> np.ndarray:
        values = self.values[:dim][self.values[:dim] > 1e-5]
        vectors = self.vectors[:, : len(values)] * values
        return vectors - self.mean @ vectors

    def representations(self, dim: int, restart: float) -> np.ndarray:
        """r of all nodes: rows of length 2."""
        h = unit(self.labels @ self.label_vectors(dim))
        return 2 * unit(dense_pagerank(self.adjacency, h, restart))


def dense_pagerank(adjacency: np.ndarray, h: np.ndarray, restart: float) -> np.ndarray:
    """The sum over paths of up to ten edges."""
    root = np.diag((adjacency.sum(axis=1) + 1) ** -0.5)
    passed = (1 - restart) * root @ (adjacency + np.eye(len(h))) @ root
    powers = [np.linalg.matrix_power(passed, step) for step in range(11)]
    return restart * sum(powers[:10]) @ h + powers[10] @ h


@dataclass(frozen=True)
class ExactBlock:
    """The eigenpairs largest in size of B^-x A B^-x, for the exponent x of one block."""

    scale: np.ndarray
    values: np.ndarray
    vectors: np.ndarray

    @classmethod
    def of(cls, graph: Graph, regularization: float, exponent: float, dim: int) -> ExactBlock:
        a = dense_adjacency(graph)
        degrees = a.sum(axis=1)
        scale = (degrees + regularization * degrees.mean()) ** -exponent
        values, vectors = np.linalg.eigh(scale[:, None] * a * scale)
        order = np.argsort(-np.abs(values))[:dim]
        return cls(scale, values[order], vectors[:, order])

    @property
    def rows(self) -> np.ndarray:
        return self.vectors * np.sqrt(np.abs(self.values))


def unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def gram(vectors: np.ndarray) -> np.ndarray:
    """The same for any signs of the columns, and for any basis of equal eigenvalues."""
    wide = np.asarray(vectors, np.float64)
    return wide @ wide.T


def assert_same_up_to_signs(found: np.ndarray, exact: np.ndarray, accuracy: float = 1e-3) -> None:
    """Columns that `exact` does not have are zeros."""
    width = exact.shape[1]
    assert not found[:, width:].any()
    inner = (found[:, :width] * exact).sum(axis=0)
    np.testing.assert_allclose(
        found[:, :width] * np.sign(inner), exact, atol=accuracy * np.abs(exact).max()
    )


def random_start(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(n, dtype=np.float32)

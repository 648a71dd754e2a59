"""The closed form for labels that nodes share, such as words.

L is the node x label matrix with rows that sum to 1, so that h = L E, centered by the degrees.
Among all E that are decorrelated, E' (L'DL + eps t I) E = I, those of the top eigenvectors of
(L'AL) e = lambda (L'DL + eps t I) e have the smallest sum of |h(u) - h(v)|^2 over the edges, plus
eps t |E|^2: the number of dimensions less the sum of their eigenvalues.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.errors import InvalidParameterError
from embedprop.graph import Multisets
from embedprop.graph.arrays import Vectors
from embedprop.instance.closed_form import REGULARIZATION_OF_LABELS
from embedprop.methods.closed_form.spectrum import CountPasses, Metric, largest

# Up to this number of labels B is factored as a dense matrix; beyond, only messages are passed.
MAX_DENSE = 6000
# Below such a share of the mean weight of a label, rounding in single precision makes dimensions.
_LEAST_RIDGE = 1e-4
# Labels that vary less than this are the same: the usual regularization could not keep them apart.
_LEAST_SPREAD = _LEAST_RIDGE / REGULARIZATION_OF_LABELS
# Nodes without labels that a walk passes at most; what would return later changes little.
MAX_PASSED = 40
_CG_STEPS = 60
_CG_ACCURACY = 1e-5


class LabeledNodes:
    """The neighbors of the nodes with labels, directly or by nodes without: A of their problem.

    `known` tells which nodes have labels. Of the dummy label of another node nothing is known but
    the edges of that node. So it has no say in which dimensions there are, and no regularizer; the
    sum over the edges is then smallest if its vector is the mean of the neighbors' h, those of
    other dummies included. That is the mean over the ends of walks through nodes without labels to
    the first node with some. What remains is the problem of the nodes with labels, where two are
    neighbors by every such walk from one to the other.
    """

    def __init__(self, adjacency: csr_array[np.float32], known: NDArray[np.bool_]) -> None:
        self._known, self._others = np.flatnonzero(known), np.flatnonzero(~known)
        rows = csr_array(adjacency[self._others])
        degrees = np.asarray(rows.sum(axis=1), np.float32).ravel()
        steps = csr_array(rows.multiply(1 / np.where(degrees > 0, degrees, 1)[:, None]))
        self._arriving, self._passing = steps[:, self._known], steps[:, self._others]
        rows = csr_array(adjacency[self._known])
        self._direct, self._leaving = rows[:, self._known], rows[:, self._others]
        ones = np.ones((len(self._known), 1), np.float32)
        self._arrived = self._ends(ones)
        self.degrees = np.asarray(self @ ones, np.float32).ravel()

    def __matmul__(self, x: Vectors) -> Vectors:
        """Return the sum over neighbors, for each node with labels."""
        return np.asarray(self._direct @ x + self._leaving @ self._ends(x), np.float32)

    def filled(self, h: Vectors) -> Vectors:
        """Return h of all nodes from that of those with labels; zeros where no walk arrives."""
        out = np.zeros((len(self._known) + len(self._others), h.shape[1]), np.float32)
        out[self._known] = h
        out[self._others] = self._ends(h) / np.where(self._arrived > 0, self._arrived, 1)
        return out

    @property
    def n_unreached(self) -> int:
        """How many nodes without labels no label reaches."""
        return int((self._arrived == 0).sum())

    def _ends(self, x: Vectors) -> Vectors:
        """Return the sum of x over where walks end, for each node without labels."""
        at_once = np.asarray(self._arriving @ x, np.float32)
        ends = at_once
        for _ in range(MAX_PASSED - 1):
            ends = self._passing @ ends
            ends += at_once
        return ends


def label_matrix(sets: Multisets, n_labels: int) -> csr_array[np.float32]:
    """Return L: (nodes, labels), rows that sum to 1, or to 0 where a node has no labels."""
    totals = np.repeat(np.where(sets.totals > 0, sets.totals, 1), sets.sizes)
    weights = np.ones(sets.n_values, np.float32) if sets.weights is None else sets.weights
    shape = (sets.n_sets, n_labels)
    matrix = csr_array(((weights / totals).astype(np.float32), sets.ids, sets.ptr), shape=shape)
    matrix.sum_duplicates()
    return matrix


def solve_labels(
    adjacency: csr_array[np.float32] | LabeledNodes,
    matrix: csr_array[np.float32],
    dim: int,
    regularization: float,
    start: Vectors,
    count_passes: CountPasses | None = None,
) -> tuple[Vectors, float]:
    """Return a vector for each label, e times lambda, centered; and the residual.

    `adjacency` is symmetric, and every row of L sums to 1.
    """
    n = matrix.shape[1]
    vectors = np.zeros((n, dim), np.float32)
    problem = _Problem(adjacency, matrix, regularization)
    if problem.spread <= 0 or problem.own_spread <= _LEAST_SPREAD * problem.spread:
        return vectors, 0.0  # all nodes with edges have the same labels
    if problem.ridge < _LEAST_RIDGE * problem.spread:
        raise _too_small(problem)
    if n <= MAX_DENSE:
        whitened = _Whitened(problem)
        found = largest(
            whitened.product, n, dim, start[:n], both_ends=False, count_passes=count_passes
        )
        solved = whitened.back(found.vectors)
    else:
        metric = Metric(problem.b, problem.solve_b)
        found = largest(
            problem.m, n, dim, start[:n], both_ends=False, metric=metric, count_passes=count_passes
        )
        solved = found.vectors
    values = found.values[found.values > 1e-5]
    label_vectors = solved[:, : len(values)] * values.astype(np.float32)
    # L's rows sum to 1, so what is taken off every label is taken off every h.
    vectors[:, : len(values)] = label_vectors - problem.mean @ label_vectors
    return vectors, found.residual if len(values) else 0.0


class _Problem:
    """M = L'AL - s mu mu' and B = L'DL - s mu mu' + ridge I; mu: mean row, s: sum of degrees."""

    def __init__(
        self,
        adjacency: csr_array[np.float32] | LabeledNodes,
        matrix: csr_array[np.float32],
        regularization: float,
    ) -> None:
        self.adjacency, self.matrix = adjacency, matrix
        self.transposed = csr_array(matrix.T)
        if isinstance(adjacency, LabeledNodes):
            self.degrees = adjacency.degrees
        else:
            self.degrees = np.asarray(adjacency.sum(axis=1), np.float32).ravel()
        self.total = np.float32(self.degrees.sum())
        # In double precision: where all nodes have the same labels, the spread is a difference of
        # equals, and rounding must not look like a dimension.
        degrees = self.degrees.astype(np.float64)
        mean = np.asarray(degrees @ matrix, np.float64) / np.float64(degrees.sum() or 1)
        self.mean = mean.astype(np.float32)
        self.n_labels = matrix.shape[1]
        squares = csr_array((matrix.data**2, matrix.indices, matrix.indptr), shape=matrix.shape)
        diagonal = degrees @ squares
        self.diagonal = diagonal - degrees.sum() * mean**2
        n = max(1, self.n_labels)
        self.spread, self.own_spread = float(diagonal.sum() / n), float(self.diagonal.sum() / n)
        self.ridge = regularization * self.own_spread

    def m(self, x: Vectors) -> Vectors:
        """Return M x: labels to nodes, nodes to neighbors, and back."""
        return self._centered(self.transposed @ (self.adjacency @ (self.matrix @ x)), x)

    def b(self, x: Vectors) -> Vectors:
        """Return B x."""
        spoken = self.transposed @ (self.degrees[:, None] * (self.matrix @ x))
        return self._centered(spoken, x) + np.float32(self.ridge) * x

    def solve_b(self, y: Vectors) -> Vectors:
        """Return x with B x = y, by conjugate gradients scaled with B's diagonal."""
        scale = (1 / (self.diagonal + self.ridge)).astype(np.float32)[:, None]
        x: Vectors = np.zeros_like(y)
        rest: Vectors = y.copy()
        z = scale * rest
        p = z.copy()
        power = (rest * z).sum(axis=0)
        enough = _CG_ACCURACY * np.linalg.norm(y, axis=0)
        for _ in range(_CG_STEPS):
            product = self.b(p)
            step = power / np.maximum((p * product).sum(axis=0), 1e-30)
            x += step * p
            rest -= step * product
            if (np.linalg.norm(rest, axis=0) <= enough).all():
                break
            z = scale * rest
            new_power = (rest * z).sum(axis=0)
            p = z + new_power / np.maximum(power, 1e-30) * p
            power = new_power
        return x

    def _centered(self, y: Vectors, x: Vectors) -> Vectors:
        y -= (self.total * self.mean)[:, None] * (self.mean @ x)
        return y


def _too_small(problem: _Problem) -> InvalidParameterError:
    enough = 10 * _LEAST_RIDGE * problem.spread / problem.own_spread
    return InvalidParameterError(
        f"regularization={problem.ridge / problem.own_spread:.2g} is too small for these "
        f"{problem.n_labels} labels, which cannot be told apart in single precision. Give at least "
        f"{enough:.1g}."
    )


class _Whitened:
    """C^-1 M C^-T with B = C C': the standard form; a dense matrix unless M is made of walks."""

    def __init__(self, problem: _Problem) -> None:
        from scipy.linalg import LinAlgError, cholesky, solve_triangular

        p = self._problem = problem
        speakers = csr_array(p.matrix.multiply(p.degrees[:, None]))
        b = self._centered(p.transposed @ speakers)
        b[np.diag_indices(p.n_labels)] += np.float32(p.ridge)
        try:
            root = cholesky(b, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            raise _too_small(p) from None
        self._solve = partial(solve_triangular, root, lower=True, check_finite=False)
        self._standard: Vectors | None = None
        if not isinstance(p.adjacency, LabeledNodes):
            m = self._centered(p.transposed @ (p.adjacency @ p.matrix))
            for _ in range(2):  # from the left, and by M's symmetry from the right
                m = self._solved(m).T
            self._standard = np.asarray(m, np.float32)

    def _centered(self, product: csr_array[np.float32]) -> Vectors:
        p = self._problem
        return np.asarray(product.toarray() - np.outer(p.total * p.mean, p.mean), np.float32)

    def _solved(self, y: Vectors) -> Vectors:
        """Return C^-1 y, written over y."""
        return np.asarray(self._solve(y, overwrite_b=True), np.float32)

    def product(self, x: Vectors) -> Vectors:
        """Return the standard form times x."""
        if self._standard is None:
            return self._solved(self._problem.m(self.back(x)))
        y: Vectors = self._standard @ x
        return y

    def back(self, x: Vectors) -> Vectors:
        """Return e = C^-T x."""
        return np.asarray(self._solve(x, trans=1), np.float32)

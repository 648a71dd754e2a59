"""The closed form for ids, where every node is its own label: spectral embedding, regularized.

With L = I the problem is A e = lambda B e with a diagonal B, and so that of the symmetric matrix
B^-1/2 A B^-1/2. B = D + eps t I weights each node by its degree; t is the mean degree. A quarter of
the dimensions is decorrelated with the square root of these weights instead: there, hubs keep more
of their say, which graphs with a few strong hubs need and others do not mind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.graph.arrays import Vectors
from embedprop.instance.closed_form import block_sizes
from embedprop.methods.closed_form.spectrum import Told, largest

# Exponents of B^-1/2 and of its quarter; eigenvalues count by the root of their size.
_WHITENING = (0.5, 0.25)
_POWER = 0.5


class IdBlock(NamedTuple):
    """Vectors of unit length (zeros for nodes without edges), and what new nodes are made with.

    masses: how much each node says to a new one. factors: what each column of the sum is
    multiplied with. Together they are the eigenvector equation, solved for one more row.
    """

    vectors: Vectors
    masses: NDArray[np.float32]
    factors: NDArray[np.float32]
    residual: float


def solve_ids(
    adjacency: csr_array[np.float32],
    dim: int,
    regularization: float,
    start: Vectors,
    told: Told | None = None,
) -> list[IdBlock]:
    """Return the blocks of the type `node`; `adjacency` is symmetric."""
    degrees = np.asarray(adjacency.sum(axis=1), np.float64).ravel()
    weights = degrees + regularization * degrees.mean()
    return [
        _block(adjacency, size, weights**-exponent, start, told)
        for size, exponent in zip(block_sizes(dim), _WHITENING, strict=False)
    ]


def _block(
    adjacency: csr_array[np.float32],
    dim: int,
    whitening: NDArray[np.float64],
    start: Vectors,
    told: Told | None,
) -> IdBlock:
    scale = whitening.astype(np.float32)[:, None]

    def product(x: Vectors) -> Vectors:
        y: Vectors = adjacency @ (scale * x)
        y *= scale
        return y

    found = largest(product, len(scale), dim, start, both_ends=True, told=told)
    # What is left of the spectrum of a small or degenerate graph is rounding.
    kept = np.abs(found.values) > 1e-5 * np.abs(found.values).max(initial=0.0)
    values = found.values[kept]
    vectors = np.zeros((len(scale), dim), np.float32)
    vectors[:, : len(values)] = found.vectors[:, kept]
    vectors[:, : len(values)] *= (np.abs(values) ** _POWER).astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    # Nodes without edges have nothing but the solver's noise.
    alone = lengths <= 1e-6 * lengths.max(initial=0.0)
    vectors /= np.where(alone, 1, lengths)[:, None]
    vectors[alone] = 0
    factors = np.zeros(dim, np.float32)
    factors[: len(values)] = 1 / values
    return IdBlock(vectors, lengths * scale.ravel(), factors, found.residual)

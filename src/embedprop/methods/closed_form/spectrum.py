"""The largest eigenpairs of a symmetric problem M e = lambda B e: dense, or by Lanczos."""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embedprop.graph.arrays import Vectors

logger = logging.getLogger(__name__)

Product = Callable[[Vectors], Vectors]
CountPasses = Callable[[int], None]

# Below it a whole dense decomposition takes less than a second.
_SMALL = 600
# Directions of the bulk of a spectrum are as good as their neighbors: more would be wasted.
_TOLERANCE = 1e-3
# A million nodes have a bulk that is flatter yet: half the products, with residuals of 4e-3.
_TOLERANCE_OF_LARGE, _LARGE = 1e-2, 200_000
_MAX_RESTARTS = 60


class Spectrum(NamedTuple):
    """Eigenvalues, best first; eigenvectors as columns; how far they are from solving it.

    residual: the largest |M e - lambda B e|, relative to the largest |lambda B e|.
    """

    values: NDArray[np.float64]
    vectors: Vectors
    residual: float


class Metric(NamedTuple):
    """B of a generalized problem: multiplies with it, and solves B x = y."""

    product: Product
    solve: Product


def largest(
    product: Product,
    n: int,
    k: int,
    start: Vectors,
    *,
    both_ends: bool,
    metric: Metric | None = None,
    count_passes: CountPasses | None = None,
) -> Spectrum:
    """Return the k largest eigenpairs of a symmetric problem, at most n.

    Parameters
    ----------
    product
        Multiplies M with a matrix (n, columns).
    n, k
        Size of the problem, pairs wanted.
    start
        A vector of n to start from: the same one gives the same result.
    both_ends
        Largest in size, negative ones too, instead of largest.
    metric
        B, if it is not the identity.
    count_passes
        Called with the number of products after each.
    """
    k = min(k, n)
    if n <= max(_SMALL, 3 * k):
        values, vectors = _decomposed(product, n, metric)
    else:
        which = "LM" if both_ends else "LA"
        values, vectors = _lanczos(product, n, k, metric, count_passes, v0=start, which=which)
    order = np.argsort(-np.abs(values) if both_ends else -values, kind="stable")[:k]
    values, vectors = values[order].astype(np.float64), _with_signs(vectors[:, order])
    return Spectrum(values, vectors, _residual(product, values, vectors, metric))


def _decomposed(
    product: Product, n: int, metric: Metric | None
) -> tuple[NDArray[np.float64], Vectors]:
    from scipy.linalg import eigh

    one = np.eye(n, dtype=np.float32)
    m = product(one).astype(np.float64)
    b = None if metric is None else metric.product(one).astype(np.float64)
    values, vectors = eigh((m + m.T) / 2, None if b is None else (b + b.T) / 2)
    return values, vectors.astype(np.float32)


def _lanczos(
    product: Product,
    n: int,
    k: int,
    metric: Metric | None,
    count_passes: CountPasses | None,
    **settings: Any,
) -> tuple[NDArray[np.float64], Vectors]:
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n_products = 0

    def counted(x: Vectors) -> Vectors:
        nonlocal n_products
        n_products += 1
        if count_passes is not None:
            count_passes(n_products)
        return product(x)

    def operator(of: Product) -> LinearOperator:
        return LinearOperator((n, n), lambda x: of(x.reshape(n, 1)).ravel(), dtype=np.float32)

    tolerance = _TOLERANCE if n <= _LARGE else _TOLERANCE_OF_LARGE
    if metric is not None:
        settings |= {"M": operator(metric.product), "Minv": operator(metric.solve)}
    try:
        values, vectors = eigsh(
            operator(counted), k, tol=tolerance, maxiter=_MAX_RESTARTS, **settings
        )
    except ArpackNoConvergence as stopped:
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
        logger.warning(
            f"The solver stopped after {n_products} products with {len(values)} of {k} dimensions; "
            f"the others are zeros. A smaller dim, or a larger regularization, is easier to solve."
        )
    return np.asarray(values, np.float64), np.asarray(vectors, np.float32)


def _with_signs(vectors: Vectors) -> Vectors:
    """Make the largest entry of each vector positive: an eigenvector has no sign of its own."""
    if vectors.size == 0:
        return vectors
    rows = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[rows, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1, signs).astype(np.float32)


def _residual(
    product: Product, values: NDArray[np.float64], vectors: Vectors, metric: Metric | None
) -> float:
    worst = largest_side = 0.0
    for low in range(0, len(values), 16):  # a few columns at a time: little memory
        part = vectors[:, low : low + 16]
        right = part if metric is None else metric.product(part)
        right = right * values[low : low + 16].astype(np.float32)
        left = np.linalg.norm(product(part) - right, axis=0)
        worst = max(worst, float(left.max()))
        largest_side = max(largest_side, float(np.linalg.norm(right, axis=0).max()))
    return worst / max(largest_side, 1e-30)

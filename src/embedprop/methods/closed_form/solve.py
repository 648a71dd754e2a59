"""From a graph to the vectors of all label types, one type after the other."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.graph import Graph
from embedprop.graph.arrays import Vectors, Weights
from embedprop.graph.matrix import symmetric_adjacency
from embedprop.instance.closed_form import ClosedFormInstance, block_sizes
from embedprop.methods.closed_form.labels import (
    MAX_DENSE,
    LabeledNodes,
    label_matrix,
    solve_labels,
)
from embedprop.methods.closed_form.spectrum import CountPasses, largest
from embedprop.methods.random_streams import RandomStreams
from embedprop.model.readout.eigen import N_STEPS, scaled, shares, unit_rows

logger = logging.getLogger(__name__)

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
    count_passes: CountPasses | None = None,
) -> list[IdBlock]:
    """Return the blocks of the type `node`; `adjacency` is symmetric.

    With L = I the problem is A e = lambda B e with a diagonal B, and so that of the symmetric
    matrix B^-1/2 A B^-1/2. B = D + eps t I weights each node by its degree; t is the mean degree. A
    quarter of the dimensions is decorrelated with the square root of these weights instead: there,
    hubs keep more of their say, which graphs with a few strong hubs need and others do not mind.
    """
    degrees = np.asarray(adjacency.sum(axis=1), np.float64).ravel()
    weights = degrees + regularization * degrees.mean()
    return [
        _block(adjacency, size, weights**-exponent, start, count_passes)
        for size, exponent in zip(block_sizes(dim), _WHITENING, strict=False)
    ]


def _block(
    adjacency: csr_array[np.float32],
    dim: int,
    whitening: NDArray[np.float64],
    start: Vectors,
    count_passes: CountPasses | None,
) -> IdBlock:
    scale = whitening.astype(np.float32)[:, None]

    def product(x: Vectors) -> Vectors:
        y: Vectors = adjacency @ (scale * x)
        y *= scale
        return y

    found = largest(product, len(scale), dim, start, both_ends=True, count_passes=count_passes)
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


class SolvedType(NamedTuple):
    """What was solved for one label type.

    vectors (nodes, dim): of nodes. masses (blocks, nodes): how much each node says to a new one.
    factors (dim,): what a new node's column is multiplied with, of ids alone. label_vectors: of
    labels that nodes share, None for ids.
    """

    vectors: Vectors
    masses: Vectors
    factors: Weights
    label_vectors: Vectors | None
    residual: float


@dataclass
class Solver:
    """Solves the label types of a graph, one at a time; what is solved can be kept and restored.

    The bytes are the same for any number of threads.
    """

    graph: Graph
    instance: ClosedFormInstance
    streams: RandomStreams
    solved: dict[str, SolvedType] = field(default_factory=dict)

    def missing(self) -> Iterator[str]:
        """Yield the label types that are still to be solved."""
        return (name for name in self.instance.label_types if name not in self.solved)

    def solve(self, name: str, count_passes: CountPasses) -> None:
        """Solve one label type; `count_passes` hears how many message passes it took."""
        from threadpoolctl import threadpool_limits

        size = max(self.graph.n_nodes, len(self.graph.vocabulary(name)))
        guess = self.streams.generator(f"solver {name}").standard_normal(size, dtype=np.float32)
        with threadpool_limits(1, user_api="blas"):  # BLAS may round differently with more
            of_type = self._ids if name == "node" else self._shared_labels
            self.solved[name] = of_type(name, guess, count_passes)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what is solved as arrays, for `restore`."""
        return {
            f"{part} {name}": np.asarray(value)
            for name, one in self.solved.items()
            for part, value in one._asdict().items()
            if value is not None
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state of the same graph and instance."""
        for name in self.instance.label_types:
            if f"vectors {name}" in state:
                parts: Any = {part: state.get(f"{part} {name}") for part in SolvedType._fields}
                self.solved[name] = SolvedType(**parts | {"residual": float(parts["residual"])})

    @cached_property
    def _adjacency(self) -> csr_array[np.float32]:
        return symmetric_adjacency(self.graph)

    def _ids(self, name: str, guess: Weights, count_passes: CountPasses) -> SolvedType:
        one = self.instance.label_types[name]
        start = guess[: self.graph.n_nodes]
        blocks = solve_ids(self._adjacency, one.dim, one.regularization, start, count_passes)
        vectors = np.concatenate([scaled(block.vectors, one.dim) for block in blocks], axis=1)
        _warn_unreached(vectors, one.dim)
        _, masses, factors, residuals = zip(*blocks, strict=True)
        return SolvedType(vectors, np.stack(masses), np.concatenate(factors), None, max(residuals))

    def _shared_labels(self, name: str, guess: Weights, count_passes: CountPasses) -> SolvedType:
        one, adjacency = self.instance.label_types[name], self._adjacency
        sets = self.graph.labels[name]
        known = sets.sizes > 0
        matrix = label_matrix(sets, len(self.graph.vocabulary(name)))
        nodes: csr_array[np.float32] | LabeledNodes = adjacency
        if not known.all():
            nodes = LabeledNodes(adjacency, known)
            matrix = csr_array(matrix[np.flatnonzero(known)])
        vectors, residual = solve_labels(
            nodes, matrix, one.dim, one.regularization, guess, count_passes
        )
        _warn_empty(name, vectors)
        h = np.asarray(matrix @ vectors)
        if isinstance(nodes, LabeledNodes):
            h = nodes.filled(h)
            if vectors.any() and nodes.n_unreached:
                logger.warning(
                    f"{nodes.n_unreached} of the {len(h)} nodes get zeros for the label type "
                    f"{name!r}: neither they nor the nodes that they are linked to have such "
                    f"labels. Ids tell them apart: add 'node' to label_types."
                )
        r = pagerank_average(adjacency, unit_rows(h), self.instance.restart)
        masses = shares(np.asarray(adjacency.sum(axis=1), np.float32).ravel())
        none = np.empty(0, np.float32)
        return SolvedType(scaled(r, one.dim), masses[None], none, vectors, residual)


def pagerank_average(adjacency: csr_array[np.float32], h: Vectors, restart: float) -> Vectors:
    """Return r = restart h + (1 - restart) S r after 10 steps, rows of length 1.

    S averages over the neighbors and the node itself, symmetrically normalized.
    """
    share = shares(np.asarray(adjacency.sum(axis=1), np.float32).ravel())[:, None]
    r = h
    for _ in range(N_STEPS):
        spoken = share * r
        r = adjacency @ spoken
        r += spoken
        r *= np.float32(1 - restart) * share
        r += np.float32(restart) * h
    return unit_rows(r)


def needed_bytes(graph: Graph, instance: ClosedFormInstance) -> int:
    """Return about how much memory the solver needs at its peak, beside the graph."""
    total = most = 0
    for name, one in instance.label_types.items():
        n_labels = len(graph.vocabulary(name))
        # Lanczos keeps twice as many vectors as are wanted; a dense problem three matrices.
        work = 3 * n_labels * one.dim
        if name != "node":
            dense = 3 * n_labels * n_labels if n_labels <= MAX_DENSE else 0
            work += dense + 3 * graph.n_nodes * one.dim
        most = max(most, work)
        total += graph.n_nodes * one.dim
    return 4 * (2 * total + most)


def _warn_unreached(vectors: Vectors, dim: int) -> None:
    zeros = np.flatnonzero(~np.asarray(vectors.any(axis=1)))
    if len(zeros):
        logger.warning(
            f"{len(zeros)} of the {len(vectors)} nodes get zeros: they have no edges, or are in a "
            f"part of the graph that dim={dim} does not reach. A larger dim reaches more; labels "
            f"that nodes share reach all."
        )


def _warn_empty(label_type: str, vectors: Vectors) -> None:
    n_used = int(vectors.any(axis=0).sum())
    if n_used == 0:
        logger.warning(
            f"Label type {label_type!r}: neighbors have no more of its labels in common than other "
            f"nodes, so all its vectors are zeros. Learn from another type, for example "
            f"label_types=['node']; a far too large regularization has the same effect."
        )
    elif n_used < vectors.shape[1]:
        logger.info(
            f"Label type {label_type!r} uses {n_used} of its {vectors.shape[1]} dimensions; the "
            f"others are zeros."
        )

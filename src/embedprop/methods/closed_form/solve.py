"""From a graph to all blocks of the closed form, one label type after the other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.graph import Graph
from embedprop.graph.matrix import symmetric_adjacency
from embedprop.instance.description import Instance, LabelTypeInstance
from embedprop.methods.closed_form.ids import solve_ids
from embedprop.methods.closed_form.labels import (
    MAX_DENSE,
    LabelSolution,
    label_matrix,
    solve_labels,
)
from embedprop.methods.closed_form.missing import LabelledNodes
from embedprop.methods.closed_form.pagerank import pagerank_average, shares, unit_rows
from embedprop.methods.random_streams import RandomStreams

logger = logging.getLogger(__name__)

Vectors = NDArray[np.float32]
Told = Callable[[str, int], None]


@dataclass(frozen=True, eq=False)
class Block:
    """Some columns of the node vectors.

    vectors: rows of unit length. masses, factors: see `IdBlock`; factors are None where new nodes
    are averages (labels).
    """

    label_type: str
    vectors: Vectors
    masses: NDArray[np.float32]
    factors: NDArray[np.float32] | None


@dataclass(frozen=True, eq=False)
class Solution:
    """Blocks in the order of their columns; vectors of labels that nodes share."""

    blocks: list[Block]
    label_vectors: Mapping[str, Vectors]
    residuals: Mapping[str, float]


def needed_bytes(graph: Graph, instance: Instance) -> int:
    """Return about how much memory `solve` needs at its peak, beside the graph."""
    total = most = 0
    for name, settings in instance.label_types.items():
        n_labels = len(graph.vocabulary(name))
        # Lanczos keeps twice as many vectors as are wanted; a dense problem three matrices.
        work = 3 * n_labels * settings.dim
        if name != "node":
            dense = 3 * n_labels * n_labels if n_labels <= MAX_DENSE else 0
            work += dense + 3 * graph.n_nodes * settings.dim
        most = max(most, work)
        total += graph.n_nodes * settings.dim
    return 4 * (2 * total + most)


def solve(graph: Graph, instance: Instance, streams: RandomStreams, told: Told) -> Solution:
    """Solve every label type of `instance`; same bytes for any number of threads."""
    from threadpoolctl import threadpool_limits

    if graph.relations is not None:
        logger.warning("The closed form does not tell relations apart: all edges count alike.")
    if graph.directed:
        logger.info("The closed form takes edges both ways: it does not see their direction.")
    adjacency = symmetric_adjacency(graph)
    masses = shares(np.asarray(adjacency.sum(axis=1), np.float32).ravel())
    blocks: list[Block] = []
    vectors: dict[str, Vectors] = {}
    residuals: dict[str, float] = {}
    with threadpool_limits(1, user_api="blas"):  # BLAS may round differently with more
        for name, settings in instance.label_types.items():
            assert settings.regularization is not None
            start = streams.generator(f"solver {name}")
            size = max(graph.n_nodes, len(graph.vocabulary(name)))
            guess = start.standard_normal(size, dtype=np.float32)

            def count(n: int, name: str = name) -> None:
                told(name, n)

            if name == "node":
                found = solve_ids(
                    adjacency, settings.dim, settings.regularization, guess[: graph.n_nodes], count
                )
                blocks += [Block(name, b.vectors, b.masses, b.factors) for b in found]
                residuals[name] = max(b.residual for b in found)
                _tell_unreached(blocks[-len(found) :], settings.dim)
                continue
            h, solved = _shared_labels(graph, name, adjacency, settings, guess, count)
            r = pagerank_average(adjacency, unit_rows(h), instance.restart or 0.0)
            blocks.append(Block(name, r, masses, None))
            vectors[name], residuals[name] = solved.vectors, solved.residual
    return Solution(blocks, vectors, residuals)


def _shared_labels(
    graph: Graph,
    name: str,
    adjacency: csr_array[np.float32],
    settings: LabelTypeInstance,
    start: Vectors,
    told: Callable[[int], None],
) -> tuple[Vectors, LabelSolution]:
    """Return h of all nodes, and the vectors of the labels that it is made of."""
    assert settings.regularization is not None
    sets = graph.labels[name]
    known = sets.sizes > 0
    matrix = label_matrix(sets, len(graph.vocabulary(name)))
    nodes: csr_array[np.float32] | LabelledNodes = adjacency
    if not known.all():
        nodes = LabelledNodes(adjacency, known)
        matrix = csr_array(matrix[np.flatnonzero(known)])
    solved = solve_labels(nodes, matrix, settings.dim, settings.regularization, start, told)
    _tell_empty(name, solved.vectors)
    h = np.asarray(matrix @ solved.vectors)
    if isinstance(nodes, LabelledNodes):
        h = nodes.filled(h)
        if solved.vectors.any():
            _tell_unlabelled(name, nodes.n_unreached, graph.n_nodes)
    return h, solved


def _tell_unlabelled(label_type: str, n_unreached: int, n_nodes: int) -> None:
    if n_unreached:
        logger.warning(
            "%d of the %d nodes get zeros for the label type %r: neither they nor the nodes that "
            "they are linked with have such labels. Ids tell them apart: add 'node' to "
            "label_types.",
            n_unreached,
            n_nodes,
            label_type,
        )


def _tell_unreached(blocks: Sequence[Block], dim: int) -> None:
    zeros = ~np.any([block.vectors.any(axis=1) for block in blocks], axis=0)
    if zeros.any():
        logger.warning(
            "%d of the %d nodes get zeros: they have no edges, or are in a part of the graph that "
            "dim=%d does not reach. A larger dim reaches more; labels that nodes share reach all.",
            int(zeros.sum()),
            len(zeros),
            dim,
        )


def _tell_empty(label_type: str, vectors: Vectors) -> None:
    n_used = int(vectors.any(axis=0).sum())
    if n_used == 0:
        logger.warning(
            "Label type %r: neighbors have no more of its labels in common than other nodes, so "
            "all its vectors are zeros. Learn from another type, for example "
            "label_types=['node']; a regularization that is far too large does this as well.",
            label_type,
        )
    elif n_used < vectors.shape[1]:
        logger.info(
            "Label type %r fills %d of its %d dimensions; the others are zeros.",
            label_type,
            n_used,
            vectors.shape[1],
        )

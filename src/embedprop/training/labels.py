"""The labels that are learned: the graph's own, and dummy labels for nodes that lack a type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedprop.graph import Graph
from embedprop.graph.multisets import Multisets
from embedprop.training.random_streams import RandomStreams


@dataclass(frozen=True, eq=False)
class LearnedLabels:
    """l_i(v) without a gap: ids below n_labels are labels, those from there on dummy labels.

    dummy_nodes[j] is the node whose only label is the dummy n_labels + j.
    """

    sets: Multisets
    n_labels: int
    dummy_nodes: NDArray[np.int64]

    @property
    def n_vectors(self) -> int:
        """How many vectors are learned."""
        return self.n_labels + len(self.dummy_nodes)


def learned_labels(graph: Graph, label_type: str) -> LearnedLabels:
    """Return the labels of a type, with a dummy for every node that has none.

    A dummy weighs the mean total weight of the nodes that have labels, so that a node without
    labels has the same say in its neighbors' reconstructions as an average one.
    """
    sets, n_labels = graph.labels[label_type], len(graph.vocabulary(label_type))
    dummy_nodes = np.flatnonzero(sets.sizes == 0)
    if len(dummy_nodes) == 0:
        return LearnedLabels(sets, n_labels, dummy_nodes)
    sizes = np.where(sets.sizes == 0, 1, sets.sizes)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    is_dummy = np.zeros(ptr[-1], bool)
    is_dummy[ptr[dummy_nodes]] = True
    ids = np.empty(ptr[-1], np.int32)
    ids[~is_dummy] = sets.ids
    ids[is_dummy] = n_labels + np.arange(len(dummy_nodes))
    weights = np.ones(ptr[-1], np.float32)
    if sets.weights is not None:
        weights[~is_dummy] = sets.weights
    labelled = sets.totals[sets.sizes > 0].astype(np.float64)
    weights[is_dummy] = labelled.mean() if len(labelled) else 1.0
    return LearnedLabels(Multisets(ptr, ids, weights), n_labels, dummy_nodes)


def glorot(
    label_type: str, n_vectors: int, dim: int, streams: RandomStreams
) -> NDArray[np.float32]:
    """Return Glorot-uniform vectors: within +- sqrt(6 / (n_vectors + dim))."""
    limit = np.sqrt(6.0 / (n_vectors + dim))
    generator = streams.generator(f"init {label_type}")
    vectors = generator.random((n_vectors, dim), dtype=np.float32)
    vectors -= np.float32(0.5)
    vectors *= np.float32(2 * limit)
    return vectors

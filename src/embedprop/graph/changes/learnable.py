"""The labels that are learned: the graph's own, and dummy labels for nodes that lack a type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedprop.graph import Graph
from embedprop.graph.labels import ImageLabels, NumericLabels
from embedprop.graph.multisets import Multisets
from embedprop.methods.epb.tables.storage import MEMORY, Tables, chunks
from embedprop.methods.random_streams import RandomStreams


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
    labels has the same say in its neighbors' reconstructions as an average one. Numbers, a text
    or an image are one label, of the nodes that have it in their order.
    """
    if label_type in graph.values:
        sets = _single_labels(graph.has_labels(label_type))
        n_labels = sets.n_values
    else:
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


def _single_labels(is_present: NDArray[np.bool_]) -> Multisets:
    """Return one label for each node that has one, numbered in their order."""
    ptr = np.concatenate([[0], np.cumsum(is_present)])
    return Multisets(ptr, np.arange(ptr[-1], dtype=np.int32))


def label_contents(graph: Graph, label_type: str) -> NDArray[np.float32]:
    """Return the numbers (labels, width) or images (labels, channels, height, width) as float32.

    Images of whole numbers are divided by the largest that their type holds.
    """
    labels = graph.values[label_type]
    if isinstance(labels, NumericLabels):
        return labels.values[labels.is_present]
    if not isinstance(labels, ImageLabels):
        raise TypeError(f"{label_type!r} is of kind {labels.kind!r}")
    images = labels.images[labels.rows[labels.is_present]]
    scale = np.iinfo(images.dtype).max if images.dtype.kind in "iu" else 1
    images = images[..., None] if images.ndim == 3 else images
    return np.ascontiguousarray(np.moveaxis(images, 3, 1), np.float32) / np.float32(scale)


def glorot(
    label_type: str,
    n_vectors: int,
    dim: int,
    streams: RandomStreams,
    tables: Tables = MEMORY,
) -> NDArray[np.float32]:
    """Return Glorot-uniform vectors: within +- sqrt(6 / (n_vectors + dim))."""
    limit = np.sqrt(6.0 / (n_vectors + dim))
    generator = streams.generator(f"init {label_type}")
    vectors = tables.zeros((n_vectors, dim), np.float32)
    for some in chunks(vectors):
        generator.random(out=some, dtype=np.float32)
        some -= np.float32(0.5)
        some *= np.float32(2 * limit)
    return vectors

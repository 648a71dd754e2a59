"""What f reads of a label type: which labels a node has, and what they hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.framework.modules import Labels
from embedprop.graph import Graph
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.graph.changes.texts import Tokens
from embedprop.graph.labels import ImageLabels, NumericLabels, TextLabels
from embedprop.instance.epb import TypeInstance

# A sequence encoder reads this many of the most frequent words, and this many words of a text.
MAX_TOKENS = 50_000
MAX_LENGTH = 128


def labels_of(learnable: LearnableGraph, label_type: str, settings: TypeInstance) -> Labels:
    """Return the labels of a type with a dummy for every node that has none."""
    learned = learnable.labels(label_type)
    sets, n_labels, n_vectors = learned.sets, learned.n_labels, learned.n_vectors
    if settings.is_set:
        return Labels(sets, n_labels, n_vectors, None, (n_vectors,))
    labels = learnable.graph.values[label_type]
    tokens = Tokens.of(labels.texts, MAX_TOKENS) if isinstance(labels, TextLabels) else None
    contents = contents_of(learnable.graph, label_type, tokens)
    shape = contents.shape[1:] if tokens is None else (len(tokens),)
    return Labels(sets, n_labels, n_vectors, contents, shape, tokens)


def contents_of(graph: Graph, label_type: str, tokens: Tokens | None) -> NDArray[Any]:
    """Return what f reads of the labels of the nodes that have one, in their order.

    Ids of tokens (labels, length); numbers (labels, width) and images (labels, channels, height,
    width) as float32. Images of whole numbers are divided by the largest that their type holds.
    """
    labels = graph.values[label_type]
    if isinstance(labels, TextLabels) and tokens is not None:
        texts = [text for text in labels.texts if text is not None]
        return tokens.encode(texts, MAX_LENGTH)
    if isinstance(labels, NumericLabels):
        return labels.values[labels.is_present]
    if not isinstance(labels, ImageLabels):
        raise TypeError(f"{label_type!r} is of kind {labels.kind!r}")
    images = labels.images[labels.rows[labels.is_present]]
    scale = np.iinfo(images.dtype).max if images.dtype.kind in "iu" else 1
    images = images[..., None] if images.ndim == 3 else images
    return np.ascontiguousarray(np.moveaxis(images, 3, 1), np.float32) / np.float32(scale)

"""What the torch engine reads of a label type: which labels a node has, and what they hold."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from embedprop.framework.modules import Labels
from embedprop.graph import Graph
from embedprop.graph.changes.learnable import label_contents, learned_labels
from embedprop.graph.changes.texts import Tokens
from embedprop.graph.labels import TextLabels
from embedprop.instance.description import LabelTypeInstance

# A sequence encoder reads so many of the most frequent words, and so many words of a text.
MAX_TOKENS = 50_000
MAX_LENGTH = 128


def labels_of(graph: Graph, label_type: str, settings: LabelTypeInstance) -> Labels:
    """Return the labels of a type with a dummy for every node that has none."""
    learned = learned_labels(graph, label_type)
    sets, n_labels, n_vectors = learned.sets, learned.n_labels, learned.n_vectors
    if settings.is_set:
        return Labels(sets, n_labels, n_vectors, None, (n_vectors,))
    labels = graph.values[label_type]
    tokens = Tokens.of(labels.texts, MAX_TOKENS) if isinstance(labels, TextLabels) else None
    contents = contents_of(graph, label_type, tokens)
    shape = contents.shape[1:] if tokens is None else (len(tokens),)
    return Labels(sets, n_labels, n_vectors, contents, shape, tokens)


def contents_of(graph: Graph, label_type: str, tokens: Tokens | None) -> NDArray[Any]:
    """Return what f reads of the labels of the nodes that have one, in their order."""
    labels = graph.values[label_type]
    if isinstance(labels, TextLabels) and tokens is not None:
        texts = [text for text in labels.texts if text is not None]
        return tokens.encode(texts, MAX_LENGTH)
    return label_contents(graph, label_type)

"""A graph as it is learned from: texts as words, and a dummy label where a node has none."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from embedprop.graph import Graph, Multisets
from embedprop.graph.arrays import Rows
from embedprop.graph.changes.texts import as_word_sets


@dataclass(frozen=True, eq=False)
class LearnedLabels:
    """l_i(v) without a gap: ids below n_labels are labels, those from there on dummy labels.

    dummy_nodes[j] is the node whose only label is the dummy n_labels + j.
    """

    sets: Multisets
    n_labels: int
    dummy_nodes: Rows

    @property
    def n_vectors(self) -> int:
        """How many vectors are learned."""
        return self.n_labels + len(self.dummy_nodes)


@dataclass(frozen=True, eq=False)
class LearnableGraph:
    """A graph whose texts are words where these are learned, and the labels without a gap.

    >>> graph = Graph.from_edges([("a", "b")], labels={"word": {"a": ["x", "y"]}})
    >>> learnable = LearnableGraph.of(graph)
    >>> learnable.labels("word").sets.of(1), learnable.labels("word").dummy_nodes
    (array([2], dtype=int32), array([1]))
    """

    graph: Graph
    _labels: dict[str, LearnedLabels] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Graph, word_sets: Collection[str] = (), *, inverses: bool = False) -> Self:
        """Return a graph as it is learned from.

        word_sets: the texts that are learned as sets of words. inverses: whether each relation has
        an inverse in what was learned, so that it needs one here too.
        """
        for name in word_sets:
            if name in graph.values:
                graph = as_word_sets(graph, name)
        if inverses and graph.relations is not None:
            graph = graph.with_inverses()
        return cls(graph)

    def labels(self, label_type: str) -> LearnedLabels:
        """Return the labels of a type, with a dummy for every node that has none; made once."""
        if label_type not in self._labels:
            self._labels[label_type] = learned_labels(self.graph, label_type)
        return self._labels[label_type]


def learned_labels(graph: Graph, label_type: str) -> LearnedLabels:
    """Return the labels of a type, with a dummy for every node that has none.

    A dummy weighs the mean total weight of the nodes that have labels, so that a node without
    labels has the same say in its neighbors' reconstructions as an average one. Numbers, a text
    or an image are one label, of the nodes that have it in their order.
    """
    if label_type in graph.values:
        ptr = np.concatenate([[0], np.cumsum(graph.has_labels(label_type))])
        n_labels = int(ptr[-1])
        sets = Multisets(ptr, np.arange(n_labels, dtype=np.int32))
    else:
        sets, n_labels = graph.labels[label_type], len(graph.vocabulary(label_type))
    dummy_nodes = np.flatnonzero(sets.sizes == 0)
    if len(dummy_nodes) == 0:
        return LearnedLabels(sets, n_labels, dummy_nodes)
    # Each dummy is put where its node's empty list stands, so that lists stay in node order.
    places = sets.ptr[dummy_nodes]
    ids = np.insert(sets.ids, places, n_labels + np.arange(len(dummy_nodes)))
    weights = np.ones(sets.n_values, np.float32) if sets.weights is None else sets.weights
    labeled = sets.totals[sets.sizes > 0].astype(np.float64)
    weights = np.insert(weights, places, labeled.mean() if len(labeled) else 1.0)
    ptr = sets.ptr + np.concatenate([[0], np.cumsum(sets.sizes == 0)])
    return LearnedLabels(Multisets(ptr, ids, weights), n_labels, dummy_nodes)

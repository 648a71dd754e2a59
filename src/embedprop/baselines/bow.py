"""BoW: the bag of words of a node is its vector."""

from __future__ import annotations

import numpy as np

from embedprop.baselines.registry import Embedder, Vectors, baseline
from embedprop.baselines.words import WordReader
from embedprop.graph.graph import Graph


@baseline("bow")
class BagOfWords(WordReader, Embedder):
    """The binary vector of a node's words, as "BoW Feat" in the paper. The graph plays no part.

    Parameters
    ----------
    label_types
        Which label types of kind set to take, side by side. Default: all but the nodes' ids.
    words
        ``"binary"`` as in the paper, or ``"weighted"`` to keep weights such as TF-IDF.
    random_state, n_threads
        Not used: nothing is drawn.

    Examples
    --------
    >>> from embedprop import Graph
    >>> graph = Graph.from_edges([("a", "b")], labels={"word": {"a": ["x", "y"], "b": ["y"]}})
    >>> BagOfWords().fit_transform(graph)
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """

    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, n_words), zeros for a node without words."""
        return np.asarray(self.word_matrix(graph).toarray(), np.float32)

    def fit_transform_inductive(self, known: Graph, full: Graph) -> Vectors:  # noqa: ARG002
        """Return the words of all nodes: a new node has its own."""
        return self.fit_transform(full)

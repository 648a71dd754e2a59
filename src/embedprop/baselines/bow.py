"""BoW: the bag of words of a node is its vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from embedprop.baselines.registry import BASELINES, Vectors
from embedprop.baselines.words import Words, word_matrix

if TYPE_CHECKING:
    from embedprop.graph.graph import Graph


@BASELINES.register("bow")
class BagOfWords:
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

    name: ClassVar[str] = "bow"

    def __init__(
        self,
        *,
        label_types: Sequence[str] | None = None,
        words: Words = "binary",
        random_state: int | None = 0,
        n_threads: int | None = None,
    ) -> None:
        self.label_types = label_types
        self.words = words
        self.random_state = random_state
        self.n_threads = n_threads

    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, n_words), zeros for a node without words."""
        matrix = word_matrix(self.name, graph, self.label_types, self.words)
        return np.asarray(matrix.toarray(), np.float32)

    def fit_transform_inductive(self, known: Graph, full: Graph) -> Vectors:  # noqa: ARG002
        """Return the words of all nodes: a new node has its own."""
        return self.fit_transform(full)

"""BoW, and the matrix of words that other methods read: binary, or with their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from embedprop.baselines.registry import Baseline, Embedder, Vectors, baseline
from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.graph import Graph
from embedprop.graph.matrix import as_matrix

Words = Literal["binary", "weighted"]


@dataclass(frozen=True, kw_only=True)
class WordReader(Baseline):
    """A method that reads words; parameters as in `BagOfWords`."""

    label_types: Sequence[str] | None = None
    words: Words = "binary"

    def word_matrix(self, graph: Graph) -> csr_array[np.float32]:
        """Return (n_nodes, n_labels): the labels of all `label_types` side by side.

        None takes every label type that is a set, except the nodes' own ids; ``["node"]`` takes
        just these (an identity matrix). A node without labels has a row of zeros.
        """
        if self.words not in ("binary", "weighted"):
            raise UnknownComponentError(
                f"words={self.words!r} is not known. Choose one of: 'binary', 'weighted'."
            )
        chosen = self.label_types
        if chosen is None:
            chosen = [label_type for label_type in graph.labels if label_type != "node"]
        if not chosen:
            raise InvalidParameterError(
                f"baseline {self.name!r} needs labels of kind set, such as words, but the graph "
                f"has none. Give some, or set label_types=['node'] to learn from the nodes' ids."
            )
        parts = []
        for label_type in chosen:
            n_labels = len(graph.vocabulary(label_type))  # refuses an unknown type
            part = as_matrix(graph.labels[label_type], n_labels)
            # A word that a node has several times is one entry, and weighs 1 if binary.
            part.sum_duplicates()
            if self.words == "binary":
                part.data[:] = 1
            parts.append(part)
        return csr_array(hstack(parts, format="csr", dtype=np.float32))


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


def row_normalized(matrix: csr_array[np.float32]) -> csr_array[np.float32]:
    """Return the matrix with rows that sum to 1; rows of zeros stay."""
    totals: NDArray[np.float32] = np.asarray(matrix.sum(axis=1)).ravel()
    sizes = np.diff(matrix.indptr)
    data = matrix.data / np.repeat(np.where(totals > 0, totals, 1), sizes)
    return csr_array((data.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)

"""Labels that are sets as a matrix of words: binary, or with their weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError, UnknownComponentError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from embedprop.graph.graph import Graph

Words = Literal["binary", "weighted"]


def word_matrix(
    baseline: str, graph: Graph, label_types: Sequence[str] | None, words: str
) -> csr_array[np.float32]:
    """Return (n_nodes, n_labels): the labels of all `label_types` side by side.

    None takes every label type that is a set, except the nodes' own ids; ``["node"]`` takes just
    these (an identity matrix). A node without labels has a row of zeros.
    """
    from scipy.sparse import csr_array, hstack

    if words not in ("binary", "weighted"):
        raise UnknownComponentError(
            f"words={words!r} is not known. Choose one of: 'binary', 'weighted'."
        )
    chosen = [t for t in graph.labels if t != "node"] if label_types is None else list(label_types)
    if not chosen:
        raise InvalidParameterError(
            f"baseline {baseline!r} needs labels of kind set, such as words, but the graph has "
            f"none. Give some, or set label_types=['node'] to learn from the nodes' ids."
        )
    parts = []
    for label_type in chosen:
        n_labels = len(graph.vocabulary(label_type))
        sets = graph.labels[label_type]
        weights = None if words == "binary" else sets.weights
        data = np.ones(sets.n_values, np.float32) if weights is None else weights.copy()
        part = csr_array((data, sets.ids, sets.ptr), shape=(graph.n_nodes, n_labels))
        part.sum_duplicates()
        if words == "binary":
            part.data[:] = 1
        parts.append(part)
    return csr_array(hstack(parts, format="csr", dtype=np.float32))


def row_normalized(matrix: csr_array[np.float32]) -> csr_array[np.float32]:
    """Return the matrix with rows that sum to 1; rows of zeros stay."""
    from scipy.sparse import csr_array

    totals: NDArray[np.float32] = np.asarray(matrix.sum(axis=1)).ravel()
    sizes = np.diff(matrix.indptr)
    data = matrix.data / np.repeat(np.where(totals > 0, totals, 1), sizes)
    return csr_array((data.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)

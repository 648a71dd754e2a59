"""What a converter makes of original files, and the counts that describe it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.errors import InvalidGraphError


@dataclass(frozen=True, eq=False)
class Converted:
    """A data set in the form in which the folder format writes it.

    Parameters
    ----------
    n_nodes
        Nodes are 0 to n_nodes - 1.
    edges
        (n_edges, 2), sorted, no row twice. Undirected: source ≤ target.
    class_rows
        (n_rows, 2): node and index in `class_names`, sorted.
    weights
        One per edge, or None.
    words
        (n_nodes, n_words) float32, or None.
    split
        ``train``, ``val``, ``test`` → nodes, or None.
    original_ids
        The name of each node in the original files, or None if they number the nodes.
    """

    n_nodes: int
    edges: NDArray[np.int64]
    class_rows: NDArray[np.int64]
    class_names: Sequence[str]
    directed: bool = False
    weights: NDArray[np.float64] | None = None
    words: csr_array[np.float32] | None = None
    split: Mapping[str, NDArray[np.int64]] | None = None
    original_ids: Sequence[str] | None = None

    @property
    def nodes_without_words(self) -> list[int]:
        """The nodes whose row of words is empty."""
        if self.words is None:
            return []
        return np.flatnonzero(np.diff(self.words.indptr) == 0).tolist()


def unexpected(place: object, expected: str) -> InvalidGraphError:
    """Return the error about an original file that does not hold what it should."""
    return InvalidGraphError(f"{place}: expected {expected}. Get the file again.")


def undirected_rows(sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:
    """Return each pair once, smaller node first, sorted; self-loops stay."""
    pairs = np.stack([np.minimum(sources, targets), np.maximum(sources, targets)], axis=1)
    return np.unique(pairs.astype(np.int64).reshape(-1, 2), axis=0)

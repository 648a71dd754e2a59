"""Nodes without labels of a type: their dummy labels, put where they reconstruct best.

Of a dummy label nothing is known but the edges of its one node. So it has no say in which
dimensions there are, and no regularizer; the sum over the edges is then smallest if its vector is
the mean of the neighbors' h, those of other dummies included. That is the mean over the ends of
walks through nodes without labels to the first node with some. What remains is the problem of the
nodes with labels, where two are neighbors by every such walk from one to the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.graph.arrays import Vectors

# Nodes without labels that a walk passes at most; what would return later changes little.
MAX_PASSED = 40


class LabelledNodes:
    """The neighbors of the nodes with labels, directly or by nodes without: A of their problem.

    `known` tells which nodes have labels.
    """

    def __init__(self, adjacency: csr_array[np.float32], known: NDArray[np.bool_]) -> None:
        self._known, self._others = np.flatnonzero(known), np.flatnonzero(~known)
        rows = csr_array(adjacency[self._others])
        degrees = np.asarray(rows.sum(axis=1), np.float32).ravel()
        steps = csr_array(rows.multiply(1 / np.where(degrees > 0, degrees, 1)[:, None]))
        self._arriving, self._passing = steps[:, self._known], steps[:, self._others]
        rows = csr_array(adjacency[self._known])
        self._direct, self._leaving = rows[:, self._known], rows[:, self._others]
        ones = np.ones((len(self._known), 1), np.float32)
        self._arrived = self._ends(ones)
        self.degrees = np.asarray(self @ ones, np.float32).ravel()

    def __matmul__(self, x: Vectors) -> Vectors:
        """Return the sum over neighbors, for each node with labels."""
        return np.asarray(self._direct @ x + self._leaving @ self._ends(x), np.float32)

    def filled(self, h: Vectors) -> Vectors:
        """Return h of all nodes from that of those with labels; zeros where no walk arrives."""
        out = np.zeros((len(self._known) + len(self._others), h.shape[1]), np.float32)
        out[self._known] = h
        out[self._others] = self._ends(h) / np.where(self._arrived > 0, self._arrived, 1)
        return out

    @property
    def n_unreached(self) -> int:
        """How many nodes without labels no label reaches."""
        return int((self._arrived == 0).sum())

    def _ends(self, x: Vectors) -> Vectors:
        """Return the sum of x over where walks end, for each node without labels."""
        at_once = np.asarray(self._arriving @ x, np.float32)
        ends = at_once
        for _ in range(MAX_PASSED - 1):
            ends = self._passing @ ends
            ends += at_once
        return ends

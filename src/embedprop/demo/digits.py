"""Handwritten digits as a graph: each linked to those that look most like it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedprop.files.atomic import replaced

N_NEIGHBORS = 10
SIDE = 8
INK = 16  # the darkest a pixel can be


@dataclass(frozen=True, eq=False)
class Digits:
    """Images (n, 64) from 0 to 16, what each shows, and which of them arrive after training."""

    images: NDArray[np.float64]
    targets: NDArray[np.int64]
    is_new: NDArray[np.bool_]

    @classmethod
    def load(cls, n_digits: int | None = None, n_new: int = 200) -> Digits:
        """Take scikit-learn's digits (the first `n_digits`) and hold back some of them."""
        from sklearn.datasets import load_digits

        images, targets = load_digits(return_X_y=True)
        images, targets = images[:n_digits], targets[:n_digits]
        is_new = np.zeros(len(images), bool)
        is_new[np.random.default_rng(0).choice(len(images), n_new, replace=False)] = True
        return cls(images, targets.astype(np.int64), is_new)

    @property
    def known(self) -> NDArray[np.int64]:
        """The digits that are there from the beginning."""
        return np.flatnonzero(~self.is_new)

    @property
    def new(self) -> NDArray[np.int64]:
        """The digits that arrive after training."""
        return np.flatnonzero(self.is_new)

    @property
    def order(self) -> NDArray[np.int64]:
        """All digits, the known ones first."""
        return np.concatenate([self.known, self.new])

    def edges(self, digits: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the pairs of `digits` with the known digits that look most like them."""
        from scipy.spatial.distance import cdist

        distances = cdist(self.images[digits], self.images[self.known], "sqeuclidean")
        distances[digits[:, None] == self.known] = np.inf
        # Pixels are whole numbers, so distances are exact and ties break the same way everywhere.
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :N_NEIGHBORS]
        pairs = np.stack([np.repeat(digits, N_NEIGHBORS), self.known[nearest.ravel()]], axis=1)
        # Two digits that chose each other are one edge; the order is that of first appearance.
        _, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
        return pairs[np.sort(first)]

    def drawn(self, digit: int) -> list[str]:
        """Return an image as lines of text, two letters per pixel."""
        shades = " .:*#"
        image = self.images[digit].reshape(SIDE, SIDE)
        levels = np.ceil(image / INK * (len(shades) - 1)).astype(int)
        return ["".join(shades[level] * 2 for level in row) for row in levels]

    def write(self, folder: Path) -> dict[str, Path]:
        """Write the graph as the files that `embedprop fit` and `transform` read."""
        classes = [f"{digit_name(i)},{target}" for i, target in enumerate(self.targets)]
        pixels = [
            f"{digit_name(digit)},{pixel_name(pixel)},{int(self.images[digit, pixel])}"
            for digit in self.known.tolist()
            for pixel in np.flatnonzero(self.images[digit]).tolist()
        ]
        tables = {
            "edges": ["source,target", *self._named_edges(self.known)],
            "pixels": ["node,label,weight", *pixels],
            "new_edges": ["source,target", *self._named_edges(self.new)],
            "classes": ["node,class", *classes],
        }
        places = {name: folder / f"{name}.csv" for name in tables}
        with replaced(*places.values()) as files:
            for file, table in zip(files, tables.values(), strict=True):
                file.writelines(f"{row}\n".encode() for row in table)
        return places

    def _named_edges(self, digits: NDArray[np.int64]) -> list[str]:
        return [f"{digit_name(a)},{digit_name(b)}" for a, b in self.edges(digits).tolist()]


def digit_name(index: int) -> str:
    """Return the node that a digit is."""
    return f"digit-{index}"


def pixel_name(index: int) -> str:
    """Return the label that a pixel is; rows and columns count from 1.

    >>> pixel_name(10)
    'r2c3'
    """
    return f"r{index // SIDE + 1}c{index % SIDE + 1}"

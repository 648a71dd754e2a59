"""The head that learns targets beside the reconstruction."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional


class Head(nn.Module):
    """Linear scores of the classes, read from h(v) and from h~(v) alike.

    classes (nodes,): the class of each node as a number, -1 where it is not known. weight: of the
    loss beside the label types'.
    """

    classes: Tensor

    def __init__(
        self, classes: NDArray[np.int64], n_classes: int, width: int, weight: float = 1.0
    ) -> None:
        super().__init__()
        self.weight = weight
        self.scores = nn.Linear(width, n_classes)
        self.register_buffer("classes", torch.from_numpy(classes), persistent=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return a score for each class: (nodes, classes)."""
        scores: Tensor = self.scores(vectors)
        return scores

    def loss(self, nodes: Tensor, h: Tensor, h_tilde: Tensor) -> Tensor:
        """Return the cross-entropy of the nodes whose class is known, summed."""
        classes = self.classes[nodes]
        known = classes >= 0
        total = h.new_zeros(())
        for vectors in (h, h_tilde):
            scores = self(vectors[known])
            total = total + functional.cross_entropy(scores, classes[known], reduction="sum")
        return total

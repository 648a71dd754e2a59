"""The head that learns targets beside the reconstruction."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from embedprop.model.heads import Targets


class Head(nn.Module):
    """Linear scores of the classes, read from h(v) and from h~(v) alike."""

    def __init__(self, targets: Targets, width: int) -> None:
        super().__init__()
        self.weight, self.names = targets.weight, targets.names
        self.scores = nn.Linear(width, len(targets.names))
        self.register_buffer("classes", torch.from_numpy(targets.classes), persistent=False)

    classes: Tensor

    def forward(self, vectors: Tensor) -> Tensor:
        """Return a score for each class: (nodes, classes)."""
        scores: Tensor = self.scores(vectors)
        return scores

    def loss(self, nodes: Tensor, h: Tensor, h_tilde: Tensor) -> Tensor:
        """Return the cross-entropy of the nodes whose class is known, summed."""
        classes = self.classes[nodes]
        known = classes >= 0
        return sum(
            (functional.cross_entropy(self(x[known]), classes[known], reduction="sum")
             for x in (h, h_tilde)),
            h.new_zeros(()),
        )  # fmt: skip

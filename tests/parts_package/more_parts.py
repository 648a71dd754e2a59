"""A loss, a distance and an aggregator that embedprop finds by their entry points."""

from __future__ import annotations

import torch
from torch import Tensor

from embedprop.framework.aggregators import Aggregator, Messages
from embedprop.framework.distances import Distance
from embedprop.framework.losses import Compared, Loss


class SquaredRankingLoss(Loss):
    """max(0, margin + d(h~(v), h(v)) - d(h~(v), h(u)))^2, summed over the negatives u."""

    def __init__(self, margin: float = 1.0) -> None:
        super().__init__()
        self.margin = margin

    def forward(self, compared: Compared) -> Tensor:
        """Return the loss of each node."""
        lost = torch.relu(self.margin + compared.own[:, None] - compared.negative)
        return lost.square().sum(dim=1)


class ManhattanDistance(Distance):
    """The sum of the differences of all dimensions, each without its sign."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Return |a - b|_1."""
        return (a - b).abs().sum(dim=-1)


class MidrangeAggregator(Aggregator):
    """The middle between the smallest and the largest value in each dimension."""

    def forward(self, messages: Messages) -> Tensor:
        """Return the middle of each set, zeros for an empty one."""
        return (self._ends(messages, "amax") + self._ends(messages, "amin")) / 2

    def _ends(self, messages: Messages, which: str) -> Tensor:
        index = messages.owners[:, None].expand_as(messages.vectors)
        zeros = messages.vectors.new_zeros(messages.n_sets, messages.vectors.shape[1])
        return zeros.scatter_reduce(0, index, messages.vectors, which, include_self=False)

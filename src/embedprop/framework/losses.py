"""The reconstruction loss: h~(v) should be near h(v), far from h(u); and the loss of targets."""

import math
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from embedprop.graph.arrays import Rows
from embedprop.instance.require import require_positive


class Compared(NamedTuple):
    """What a loss reads, for the nodes of a batch.

    own (nodes,): d(h~(v), h(v)); negative (nodes, negatives): d(h~(v), h(u)); reconstructed and
    embedding (nodes, dim): h~(v) and h(v) themselves.
    """

    own: Tensor
    negative: Tensor
    reconstructed: Tensor
    embedding: Tensor


class Loss(nn.Module):
    """Base of the losses; `uses_negatives` says whether any u need to be drawn."""

    uses_negatives = True

    def forward(self, compared: Compared) -> Tensor:
        """Return the loss of each node of the batch: (nodes,)."""
        raise NotImplementedError


class MarginRankingLoss(Loss):
    """max(0, margin + d(h~(v), h(v)) - d(h~(v), h(u))), summed over the negatives u: EP-B's."""

    def __init__(self, margin: float = 1.0) -> None:
        super().__init__()
        self.margin = require_positive("margin", margin)

    def forward(self, compared: Compared) -> Tensor:
        """Return the loss of each node."""
        return torch.relu(self.margin + compared.own[:, None] - compared.negative).sum(dim=1)


class SoftmaxLoss(Loss):
    """-log of the share of v among v and all its negatives, by exp(-d / temperature): InfoNCE."""

    def __init__(self, temperature: float = 1.0, negative_weight: float = 1.0) -> None:
        super().__init__()
        self.temperature = require_positive("temperature", temperature)
        # With n of N nodes drawn, N / n makes the sum an estimate of that over all nodes.
        self.log_weight = math.log(require_positive("negative_weight", negative_weight))

    def forward(self, compared: Compared) -> Tensor:
        """Return the loss of each node; each negative counts `negative_weight` times."""
        own = -compared.own / self.temperature
        negative = torch.logsumexp(-compared.negative / self.temperature, dim=1)
        return torch.logaddexp(own, negative + self.log_weight) - own


class LogisticLoss(Loss):
    """log(1 + exp(d - margin)) for v, and log(1 + exp(margin - d)) for each negative u."""

    def __init__(self, margin: float = 1.0) -> None:
        super().__init__()
        self.margin = require_positive("margin", margin) if margin != 0 else 0.0

    def forward(self, compared: Compared) -> Tensor:
        """Return the loss of each node."""
        near = functional.softplus(compared.own - self.margin)
        return near + functional.softplus(self.margin - compared.negative).sum(dim=1)


class DecorrelationLoss(Loss):
    """Pulls h~ and h together and their dimensions apart, without negatives or distance."""

    uses_negatives = False

    def __init__(self, weight: float = 0.001) -> None:
        super().__init__()
        self.weight = require_positive("weight", weight)

    def forward(self, compared: Compared) -> Tensor:
        """Return |z~ - z|^2 of each node and its part of the batch's correlations, z standardized.

        The correlations are those between different dimensions of z~, and of z, squared.
        """
        z_tilde, z = _standardized(compared.reconstructed), _standardized(compared.embedding)
        apart = (z_tilde - z).square().sum(dim=1)
        return apart + self.weight * (_correlation(z_tilde) + _correlation(z))


class Head(nn.Module):
    """What learns targets: linear scores of the classes, read from h(v) and from h~(v) alike.

    classes (nodes,): the class of each node as a number, -1 where it is not known. weight: of the
    loss beside the label types'.
    """

    classes: Tensor

    def __init__(self, classes: Rows, n_classes: int, width: int, weight: float = 1.0) -> None:
        super().__init__()
        self.weight = weight
        self.scores = nn.Linear(width, n_classes)
        self.register_buffer("classes", torch.from_numpy(classes), persistent=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return a score for each class: (nodes, classes)."""
        return cast(Tensor, self.scores(vectors))

    def loss(self, nodes: Tensor, h: Tensor, h_tilde: Tensor) -> Tensor:
        """Return the cross-entropy of the nodes whose class is known, summed."""
        known = self.classes[nodes] >= 0
        classes, total = self.classes[nodes][known], h.new_zeros(())
        for vectors in (h, h_tilde):
            scores = self(vectors[known])
            total = total + functional.cross_entropy(scores, classes, reduction="sum")
        return total


def _standardized(vectors: Tensor) -> Tensor:
    """Return the columns with mean 0 and variance 1 over the batch; a constant one is 0."""
    centered = vectors - vectors.mean(dim=0)
    return centered / (centered.square().mean(dim=0) + 1e-6).sqrt()


def _correlation(z: Tensor) -> Tensor:
    """Return the sum of the squared correlations between different dimensions."""
    correlations = z.T @ z / len(z)
    return (correlations - torch.diag(torch.diagonal(correlations))).square().sum()

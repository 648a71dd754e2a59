"""d: how far a reconstruction is from an embedding."""

from typing import cast

import torch
from torch import Tensor, nn


class Distance(nn.Module):
    """Base of d. Smaller is nearer; one formula in two shapes."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Return d between vectors along the last dimension, the others broadcast."""
        raise NotImplementedError

    def between(self, a: Tensor, b: Tensor) -> Tensor:
        """Return d between each row of a (n, dim) and each of b (m, dim): (n, m)."""
        return cast(Tensor, self(a[:, None], b[None]))


def _squares_between(a: Tensor, b: Tensor) -> Tensor:
    """Return |a - b|^2 of all pairs by one matrix product; rounding may bring it below 0."""
    squares = a.square().sum(dim=1)[:, None] + b.square().sum(dim=1)
    return torch.addmm(squares, a, b.T, alpha=-2)


class EuclideanDistance(Distance):
    """The length of the difference: EP-B's."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Return |a - b|; its gradient at 0 is 0."""
        return cast(Tensor, torch.linalg.vector_norm(a - b, dim=-1))

    def between(self, a: Tensor, b: Tensor) -> Tensor:
        """Return |a - b| of all pairs, by matrix products also for the gradient; at 0 it is 0."""
        return _squares_between(a, b).clamp_min(1e-20).sqrt()


class SquaredEuclideanDistance(Distance):
    """The squared length of the difference."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Return |a - b|^2."""
        return (a - b).square().sum(dim=-1)

    def between(self, a: Tensor, b: Tensor) -> Tensor:
        """Return |a - b|^2 of all pairs, by one matrix product."""
        return _squares_between(a, b).clamp_min(0)


class CosineDistance(Distance):
    """1 - cosine of the angle; lengths are ignored."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Return 1 - a.b / |a||b|; 1 where one of them is 0."""
        return 1 - torch.cosine_similarity(a, b, dim=-1, eps=1e-8)

    def between(self, a: Tensor, b: Tensor) -> Tensor:
        """Return 1 - cosine of all pairs, by one matrix product."""
        norms = [torch.linalg.vector_norm(x, dim=1, keepdim=True).clamp_min(1e-8) for x in (a, b)]
        return cast(Tensor, 1 - (a / norms[0]) @ (b / norms[1]).T)


class NegativeDotDistance(Distance):
    """Minus the dot product."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Return -a.b."""
        return -(a * b).sum(dim=-1)

    def between(self, a: Tensor, b: Tensor) -> Tensor:
        """Return -a.b of all pairs, by one matrix product."""
        return -a @ b.T

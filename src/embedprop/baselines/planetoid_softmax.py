"""The softmax over all contexts, with its gradient, for a few nodes at a time.

A batch of Planetoid's graph contexts has thousands of nodes, and Pubmed 19,717 contexts: all
logits at once are 170 MB, which autograd writes and reads a dozen times. A few rows of them stay
in the cache (measured: three times faster).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_ROWS_AT_ONCE = 32


class ContextSoftmax(torch.autograd.Function):
    """Minus the summed log-probability of contexts[i] given the node encoded[rows[i]]."""

    @staticmethod
    def forward(
        ctx: Any, encoded: Tensor, weights: Tensor, bias: Tensor, rows: Tensor, contexts: Tensor
    ) -> Tensor:
        """Return the loss, a sum over all pairs; the gradients are computed on the way."""
        order = torch.argsort(rows, stable=True)
        rows, contexts = rows[order], contexts[order]
        times = torch.bincount(rows, minlength=len(encoded))
        ends = times.cumsum(0)
        slopes = [torch.zeros_like(part) for part in (encoded, weights, bias)]
        loss = encoded.new_zeros(())
        for low in range(0, len(encoded), _ROWS_AT_ONCE):
            high = min(low + _ROWS_AT_ONCE, len(encoded))
            pairs = slice(int(ends[low] - times[low]), int(ends[high - 1]))
            part, places = encoded[low:high], (rows[pairs] - low, contexts[pairs])
            logits = torch.addmm(bias, part, weights.T)  # (rows at once, contexts)
            sums = logits.logsumexp(dim=1)
            loss += (times[low:high] * sums).sum() - logits[places].sum()
            slope = logits.sub_(sums[:, None]).exp_().mul_(times[low:high, None])
            slope.index_put_(places, slope.new_tensor(-1.0), accumulate=True)
            slopes[0][low:high] = slope @ weights
            slopes[1].addmm_(slope.T, part)
            slopes[2] += slope.sum(dim=0)
        ctx.save_for_backward(*slopes)
        return loss

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients, times that of the loss; rows and contexts have none."""
        return (*(upstream[0] * slope for slope in ctx.saved_tensors), None, None)

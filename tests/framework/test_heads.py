"""The head that learns targets beside the reconstruction."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from embedprop.framework.heads import Head


def test_the_loss_is_the_cross_entropy_of_known_nodes_from_h_and_from_h_tilde() -> None:
    head = Head(np.array([0, -1, 1]), n_classes=2, width=2)
    with torch.no_grad():
        head.scores.weight.copy_(torch.tensor([[1.0, 0], [0, 2]]))
        head.scores.bias.copy_(torch.tensor([0.0, 1.0]))
    h, h_tilde = torch.tensor([[1.0, 0], [9, 9], [0, 1]]), torch.tensor([[2.0, 0], [9, 9], [0, 0]])
    expected = 0.0
    for x in (h, h_tilde):
        for row, right in ((0, 0), (2, 1)):
            scores = [float(x[row, 0]), 2 * float(x[row, 1]) + 1]
            expected += np.log(np.exp(scores).sum()) - scores[right]
    assert head.loss(torch.arange(3), h, h_tilde).item() == pytest.approx(expected, rel=1e-5)
    assert head.loss(torch.tensor([1]), h[1:2], h_tilde[1:2]).item() == 0

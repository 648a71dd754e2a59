import numpy as np
import pytest
import torch

from embedprop.baselines.planetoid_model import ContextSoftmax, descend


@pytest.mark.parametrize("n_nodes", [1, 32, 75])  # less than, just, and more than are done at once
def test_the_softmax_in_pieces_equals_autograd_over_all_logits(n_nodes):
    rng = np.random.default_rng(n_nodes)
    encoded, weights, bias = (
        torch.from_numpy(rng.normal(size=size)).requires_grad_()
        for size in ((n_nodes, 4), (9, 4), (9,))
    )
    rows, contexts = (torch.from_numpy(rng.integers(n, size=100)) for n in (n_nodes, 9))
    loss = 3.0 * ContextSoftmax.apply(encoded, weights, bias, rows, contexts)
    logits = encoded @ weights.T + bias
    expected = 3.0 * torch.nn.functional.cross_entropy(logits[rows], contexts, reduction="sum")
    torch.testing.assert_close(loss, expected)
    parameters = (encoded, weights, bias)
    for ours, theirs in zip(
        torch.autograd.grad(loss, parameters),
        torch.autograd.grad(expected, parameters),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("longest", [float("inf"), 0.1])
def test_a_sparse_gradient_takes_the_same_step_as_a_dense_one(longest):
    start, looked_up = torch.arange(12.0).reshape(4, 3), torch.tensor([2, 0])
    tables = []
    for sparse in (True, False):
        table = start.clone().requires_grad_()
        found = torch.nn.functional.embedding(looked_up, table, sparse=sparse)
        descend(found.square().sum(), [table], 0.5, longest)
        tables.append(table)
    torch.testing.assert_close(*tables)
    assert not torch.equal(tables[0], start)

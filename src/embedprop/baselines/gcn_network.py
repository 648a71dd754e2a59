"""The network of GCN and GCN-I: two graph convolutions, and how they are trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import dropout, log_softmax, relu

from embedprop.baselines.registry import Examples, Nodes, Scores, shares

if TYPE_CHECKING:
    from embedprop.baselines.gcn import Edges, TwoLayers


class Network:
    """Two graph convolutions over sparse words; dropout comes before both."""

    def __init__(
        self, method: TwoLayers, features: csr_array[np.float32], edges: Edges, n_classes: int
    ) -> None:
        self.method = method
        self.rows = torch.from_numpy(np.stack(features.nonzero()).astype(np.int64))
        self.values = torch.from_numpy(features.data)
        self.shape = features.shape
        self.edges = torch.from_numpy(edges[0])
        self.weights = None if edges[1] is None else torch.from_numpy(edges[1])
        self.first = _convolution(features.shape[1], method.hidden_dim)
        self.second = _convolution(method.hidden_dim, n_classes)

    def log_probabilities(self, training: bool) -> Tensor:
        """Return (nodes, classes)."""
        share = self.method.dropout
        # In a sparse matrix dropout of words is dropout of its values: zeros stay zeros.
        values = dropout(self.values, share, training)
        words = torch.sparse_coo_tensor(
            self.rows, values, self.shape, is_coalesced=True, check_invariants=False
        )
        h = dropout(relu(self.first(words, self.edges, self.weights)), share, training)
        return log_softmax(self.second(h, self.edges, self.weights), dim=1)

    def scores(self) -> Scores:
        """Return log-probabilities for all nodes, without dropout."""
        with torch.no_grad():
            return self.log_probabilities(training=False).numpy().astype(np.float64)

    def train(self, examples: Examples) -> None:
        """Learn from training nodes; if there are validation nodes, stop when their loss rises."""
        method = self.method
        groups = [
            {"params": self.first.parameters(), "weight_decay": method.l2},
            {"params": self.second.parameters(), "weight_decay": 0.0},
        ]
        optimizer = torch.optim.Adam(groups, lr=method.learning_rate)
        losses: list[float] = []
        for _ in range(method.epochs):
            optimizer.zero_grad()
            found = self.log_probabilities(training=True)
            _cross_entropy(found, examples.train, examples.classes).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if not len(examples.validation):
                continue
            with torch.no_grad():
                found = self.log_probabilities(training=False)
                loss = _cross_entropy(found, examples.validation, examples.validation_classes)
                squares = sum(float(w.square().sum()) for w in self.first.parameters())
            # The reference's loss contains the L2 term, so it counts here too.
            losses.append(float(loss) + method.l2 * squares / 2)
            recent = losses[-method.patience - 1 : -1]
            if len(losses) > method.patience + 1 and losses[-1] > np.mean(recent):
                break


def _convolution(n_in: int, n_out: int) -> Any:
    """Return a layer of PyTorch Geometric without bias, as Kipf & Welling's has none."""
    with catch_warnings():
        # Some versions use deprecated parts of torch when imported; the user can do nothing there.
        simplefilter("ignore", DeprecationWarning)
        from torch_geometric.nn import GCNConv

    # Cached: the edges never change, so they are normalized once.
    return GCNConv(n_in, n_out, cached=True, bias=False)


def _cross_entropy(log_probabilities: Tensor, nodes: Nodes, classes: NDArray[np.float64]) -> Tensor:
    wanted = torch.from_numpy(shares(classes).astype(np.float32))
    return -(wanted * log_probabilities[torch.from_numpy(nodes)]).sum(dim=1).mean()

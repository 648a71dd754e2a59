"""What Planetoid-T and Planetoid-I share: three losses, stepped in turn by gradient descent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import embedding, logsigmoid

from embedprop.baselines.classifier import shares
from embedprop.baselines.planetoid_contexts import Pairs
from embedprop.baselines.planetoid_softmax import ContextSoftmax
from embedprop.baselines.registry import Nodes, Scores

_ROWS_AT_ONCE = 4096


class Encoder(Protocol):
    """A vector per node, for its contexts and for its classes; they share parameters."""

    dim: int
    context_parameters: list[Tensor]
    class_parameters: list[Tensor]

    def for_contexts(self, nodes: Tensor) -> Tensor:
        """Return (nodes, dim): what predicts the contexts of a node."""
        ...

    def for_classes(self, nodes: Tensor) -> Tensor:
        """Return (nodes, dim): what predicts the classes of a node."""
        ...


class Lookup:
    """A vector per node, learned by both losses."""

    def __init__(self, vectors: Tensor) -> None:
        self.vectors = vectors
        self.dim = vectors.shape[1]
        self.context_parameters = self.class_parameters = [vectors]

    def for_contexts(self, nodes: Tensor) -> Tensor:
        return embedding(nodes, self.vectors, sparse=True)

    def for_classes(self, nodes: Tensor) -> Tensor:
        return self.for_contexts(nodes)


class WordLayer:
    """Rectified units over words; both losses share the weights, each has its own bias."""

    def __init__(self, words: csr_array[np.float32], dim: int, rng: np.random.Generator) -> None:
        self.words = words
        self.dim = dim
        self.weights = glorot(rng, words.shape[1], dim)
        self.context_bias, self.class_bias = zeros(dim), zeros(dim)
        self.context_parameters = [self.weights, self.context_bias]
        self.class_parameters = [self.weights, self.class_bias]

    def for_contexts(self, nodes: Tensor) -> Tensor:
        return (word_rows(self.words, nodes.numpy()) @ self.weights + self.context_bias).relu()

    def for_classes(self, nodes: Tensor) -> Tensor:
        return (word_rows(self.words, nodes.numpy()) @ self.weights + self.class_bias).relu()


def glorot(rng: np.random.Generator, n_in: int, n_out: int) -> Tensor:
    """Return weights (n_in, n_out), uniform within Glorot & Bengio's limits, with gradients."""
    limit = np.sqrt(6.0 / (n_in + n_out))
    return _parameter(rng.uniform(-limit, limit, (n_in, n_out)))


def normal(rng: np.random.Generator, n_rows: int, dim: int) -> Tensor:
    """Return a lookup table with a deviation of 0.01, as the reference's library starts it."""
    return _parameter(rng.normal(0.0, 0.01, (n_rows, dim)))


def zeros(n: int) -> Tensor:
    """Return a bias."""
    return _parameter(np.zeros(n))


def _parameter(values: NDArray[np.float64]) -> Tensor:
    return torch.from_numpy(values.astype(np.float32)).requires_grad_()


def word_rows(words: csr_array[np.float32], nodes: NDArray[np.int64]) -> Tensor:
    """Return the words of some nodes, (nodes, n_words), sparse: most nodes have few."""
    rows = words[nodes]
    owners = np.repeat(np.arange(len(nodes)), np.diff(rows.indptr))
    places = torch.from_numpy(np.stack([owners, rows.indices.astype(np.int64)]))
    values = torch.from_numpy(rows.data)
    # Entries of CSR are in order and none stands twice, which is what "coalesced" promises.
    return torch.sparse_coo_tensor(
        places, values, rows.shape, is_coalesced=True, check_invariants=False
    )


def descend(
    loss: Tensor,
    parameters: Sequence[Tensor],
    rate: float,
    longest: float = float("inf"),
) -> None:
    """Take one step of gradient descent; no row moves further than `longest`."""
    with torch.no_grad():
        for parameter, slope in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            # A lookup table's gradient holds the rows that were looked up, and no others.
            looked_up = slope.coalesce() if slope.is_sparse else None
            step = rate * (slope if looked_up is None else looked_up.values())
            rows = step if step.ndim == 2 else step[:, None]
            if longest < float("inf"):
                rows *= (longest / rows.norm(dim=1, keepdim=True)).clamp(max=1)
            if looked_up is None:
                parameter -= step
            else:
                parameter.index_add_(0, looked_up.indices()[0], step, alpha=-1)


class ContextLoss:
    """Predicts the context of a node: by softmax over all, or against negatives."""

    def __init__(
        self, encoder: Encoder, n_contexts: int, n_negatives: int, rng: np.random.Generator
    ) -> None:
        self.encoder = encoder
        self.n_negatives = n_negatives
        self.own: list[Tensor]
        # As the reference: a table of contexts against negatives, a layer for the softmax.
        if n_negatives:
            self.own = [normal(rng, n_contexts, encoder.dim)]
        else:
            self.own = [glorot(rng, n_contexts, encoder.dim), zeros(n_contexts)]

    @property
    def parameters(self) -> list[Tensor]:
        """Those of the encoder, then its own."""
        return [*self.encoder.context_parameters, *self.own]

    def __call__(self, pairs: Pairs) -> Tensor:
        # A node that comes often is encoded once: the softmax over all nodes is the costly part.
        unique, places = np.unique(pairs.nodes, return_inverse=True)
        encoded = self.encoder.for_contexts(torch.from_numpy(unique))
        rows, contexts = torch.from_numpy(places), torch.from_numpy(pairs.contexts)
        if self.n_negatives:
            agreement = (encoded[rows] * self.own[0][contexts]).sum(dim=1)
            return -logsigmoid(agreement * torch.from_numpy(pairs.signs)).sum()
        # torch gives this call no type.
        loss: Tensor = ContextSoftmax.apply(encoded, *self.own, rows, contexts)  # type: ignore[no-untyped-call]
        return loss


class ClassLoss:
    """Predicts the classes from words and from the encoding, then from both predictions."""

    def __init__(
        self,
        encoder: Encoder,
        words: csr_array[np.float32],
        n_classes: int,
        rng: np.random.Generator,
    ) -> None:
        self.encoder = encoder
        self.words = words
        self.by_words = [glorot(rng, words.shape[1], n_classes), zeros(n_classes)]
        self.by_encoding = [glorot(rng, encoder.dim, n_classes), zeros(n_classes)]
        self.by_both = [glorot(rng, 2 * n_classes, n_classes), zeros(n_classes)]

    @property
    def parameters(self) -> list[Tensor]:
        """Those of the encoder, then its own."""
        own = [*self.by_words, *self.by_encoding, *self.by_both]
        return [*self.encoder.class_parameters, *own]

    def log_probabilities(self, nodes: NDArray[np.int64]) -> list[Tensor]:
        """Return three predictions (nodes, classes): by both, by words, by the encoding."""
        encoded = self.encoder.for_classes(torch.from_numpy(nodes))
        inputs = (word_rows(self.words, nodes), self.by_words), (encoded, self.by_encoding)
        parts = [(x @ weights + bias).log_softmax(dim=1) for x, (weights, bias) in inputs]
        both = torch.cat([part.exp() for part in parts], dim=1)
        weights, bias = self.by_both
        return [(both @ weights + bias).log_softmax(dim=1), *parts]

    def __call__(self, nodes: Nodes, classes: NDArray[np.float64]) -> Tensor:
        wanted = torch.from_numpy(shares(classes).astype(np.float32))
        losses = [-(wanted * found).sum(dim=1).mean() for found in self.log_probabilities(nodes)]
        return torch.stack(losses).sum()

    def scores(self, n_nodes: int) -> Scores:
        """Return log-probabilities for all nodes."""
        with torch.no_grad():
            parts = [
                self.log_probabilities(part)[0].numpy()
                for part in np.split(
                    np.arange(n_nodes), range(_ROWS_AT_ONCE, n_nodes, _ROWS_AT_ONCE)
                )
            ]
        return np.concatenate(parts).astype(np.float64)

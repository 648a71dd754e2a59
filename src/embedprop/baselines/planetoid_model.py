"""What Planetoid-T and Planetoid-I share: their losses, and the schedule of gradient descent.

The schedule: contexts first, then classes, with some contexts between.

The softmax over all contexts takes a few nodes at a time: a batch of graph contexts has thousands
of nodes, and Pubmed 19,717 contexts. All logits at once are 170 MB, which autograd writes and reads
a dozen times. A few rows of them stay in the cache (measured: three times faster).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import embedding, logsigmoid

from embedprop.baselines.planetoid_contexts import Pairs, batches
from embedprop.baselines.registry import Examples, Nodes, Scores, shares
from embedprop.methods.random_streams import RandomStreams

if TYPE_CHECKING:
    from embedprop.baselines.planetoid import Planetoid

_ROWS_AT_ONCE = 4096
_SOFTMAX_ROWS_AT_ONCE = 32

# The context loss is a sum over thousands of pairs, as in the reference: a node that many walks
# meet takes long steps, and some seeds diverge (measured on Cora: vectors of length 160,000 where
# 1.3 is usual). Most steps are shorter than this, so it changes little else.
_LONGEST_CONTEXT_STEP = 1.0


class Lookup:
    """A vector per node, learned by both losses."""

    def __init__(self, words: csr_array[np.float32], dim: int, rng: np.random.Generator) -> None:
        self.dim = dim
        self.context_parameters = self.class_parameters = [normal(rng, words.shape[0], dim)]

    def __call__(self, nodes: Nodes, parameters: Sequence[Tensor]) -> Tensor:
        return embedding(torch.from_numpy(nodes), parameters[0], sparse=True)


class WordLayer:
    """Rectified units over words; both losses share the weights, each has its own bias."""

    def __init__(self, words: csr_array[np.float32], dim: int, rng: np.random.Generator) -> None:
        self.dim = dim
        self.words = words
        weights = glorot(rng, words.shape[1], dim)
        self.context_parameters = [weights, zeros(dim)]
        self.class_parameters = [weights, zeros(dim)]

    def __call__(self, nodes: Nodes, parameters: Sequence[Tensor]) -> Tensor:
        weights, bias = parameters
        return (word_rows(self.words, nodes) @ weights + bias).relu()


# Makes the vectors of nodes: for their contexts and for their classes, by the parameters of each.
Encoder = Lookup | WordLayer


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
    # Entries of CSR are in order and none stands twice, which is what "coalesced" promises.
    return torch.sparse_coo_tensor(
        places, torch.from_numpy(rows.data), rows.shape, is_coalesced=True, check_invariants=False
    )


def descend(
    loss: Tensor, parameters: Sequence[Tensor], rate: float, longest: float = float("inf")
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
        for low in range(0, len(encoded), _SOFTMAX_ROWS_AT_ONCE):
            high = min(low + _SOFTMAX_ROWS_AT_ONCE, len(encoded))
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


class ContextLoss:
    """Predicts the context of a node: by softmax over all, or against negatives."""

    def __init__(
        self, encoder: Encoder, n_contexts: int, n_negatives: int, rng: np.random.Generator
    ) -> None:
        self.encoder = encoder
        # As the reference: a table of contexts against negatives, a layer for the softmax.
        if n_negatives:
            self.own = [normal(rng, n_contexts, encoder.dim)]
        else:
            self.own = [glorot(rng, n_contexts, encoder.dim), zeros(n_contexts)]
        self.parameters = [*encoder.context_parameters, *self.own]

    def __call__(self, pairs: Pairs) -> Tensor:
        # A node that comes often is encoded once: the softmax over all nodes is the costly part.
        unique, places = np.unique(pairs.nodes, return_inverse=True)
        encoded = self.encoder(unique, self.encoder.context_parameters)
        rows, contexts = torch.from_numpy(places), torch.from_numpy(pairs.contexts)
        if len(self.own) == 1:
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
        self.by_words, self.by_encoding, self.by_both = own = [
            [glorot(rng, n_in, n_classes), zeros(n_classes)]
            for n_in in (words.shape[1], encoder.dim, 2 * n_classes)
        ]
        self.parameters = sum(own, encoder.class_parameters)

    def log_probabilities(self, nodes: Nodes) -> list[Tensor]:
        """Return three predictions (nodes, classes): by both, by words, by the encoding."""
        encoded = self.encoder(nodes, self.encoder.class_parameters)
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
        pieces = np.split(np.arange(n_nodes), range(_ROWS_AT_ONCE, n_nodes, _ROWS_AT_ONCE))
        with torch.no_grad():
            parts = [self.log_probabilities(nodes)[0].numpy() for nodes in pieces]
        return np.concatenate(parts).astype(np.float64)


def train_planetoid(
    method: Planetoid,
    class_loss: ClassLoss,
    context_loss: ContextLoss,
    graph_pairs: Iterator[Pairs],
    class_pairs: Iterator[Pairs],
    examples: Examples,
    streams: RandomStreams,
) -> None:
    """Move the parameters of both losses in place."""
    train, classes = examples.train, examples.classes

    def learn_contexts(pairs: Pairs) -> None:
        if len(pairs.nodes):
            loss, rate = context_loss(pairs), method.context_rate
            descend(loss, context_loss.parameters, rate, _LONGEST_CONTEXT_STEP)

    for _ in range(method.n_class_contexts):
        learn_contexts(next(class_pairs))
    for _ in range(method.n_graph_contexts):
        learn_contexts(next(graph_pairs))
    rng = streams.generator("planetoid steps")
    rows_at_once = batches(np.arange(len(train)), method.batch_size, rng)
    for _ in range(method.n_steps):
        if rng.random() < method.graph_share:
            learn_contexts(next(graph_pairs))
        rows = next(rows_at_once)
        loss = class_loss(train[rows], classes[rows])
        descend(loss, class_loss.parameters, method.learning_rate)

"""The schedule of Planetoid: contexts first, then classes, with some contexts between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.classifier import Examples
from embedprop.baselines.planetoid_contexts import Pairs
from embedprop.baselines.planetoid_model import ClassLoss, ContextLoss, descend
from embedprop.methods.random_streams import RandomStreams

if TYPE_CHECKING:
    from embedprop.baselines.planetoid import Planetoid

# The context loss is a sum over thousands of pairs, as in the reference: a node that many walks
# meet takes long steps, and some seeds diverge (measured on Cora: vectors of length 160,000 where
# 1.3 is usual). Most steps are shorter than this, so it changes little else.
_LONGEST_CONTEXT_STEP = 1.0


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
    batches = _batches(len(train), method.batch_size, rng)
    for _ in range(method.n_steps):
        if rng.random() < method.graph_share:
            learn_contexts(next(graph_pairs))
        rows = next(batches)
        loss = class_loss(train[rows], classes[rows])
        descend(loss, class_loss.parameters, method.learning_rate)


def _batches(n: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    while True:
        order = rng.permutation(n)
        yield from np.split(order, range(size, n, size))

"""The schedule of Planetoid: contexts first, then classes, with some contexts between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.planetoid_contexts import Pairs
from embedprop.baselines.planetoid_model import ClassLoss, ContextLoss, descend
from embedprop.baselines.registry import Nodes
from embedprop.methods.random_streams import RandomStreams

# The context loss is a sum over thousands of pairs, as in the reference: a node that many walks
# meet takes long steps, and some seeds diverge (measured on Cora: vectors of length 160,000 where
# 1.3 is usual). Most steps are shorter than this, so it changes little else.
_LONGEST_CONTEXT_STEP = 1.0


@dataclass(frozen=True)
class Schedule:
    """How often each loss is stepped, and how far; names as in `PlanetoidT`."""

    n_steps: int
    n_class_contexts: int
    n_graph_contexts: int
    graph_share: float
    batch_size: int
    learning_rate: float
    context_rate: float


def train_planetoid(
    schedule: Schedule,
    class_loss: ClassLoss,
    context_loss: ContextLoss,
    graph_pairs: Iterator[Pairs],
    class_pairs: Iterator[Pairs],
    train: Nodes,
    classes: NDArray[np.float64],
    streams: RandomStreams,
) -> None:
    """Move the parameters of both losses in place."""

    def learn_contexts(pairs: Pairs) -> None:
        if len(pairs.nodes):
            rate = schedule.context_rate
            descend(context_loss(pairs), context_loss.parameters, rate, _LONGEST_CONTEXT_STEP)

    for _ in range(schedule.n_class_contexts):
        learn_contexts(next(class_pairs))
    for _ in range(schedule.n_graph_contexts):
        learn_contexts(next(graph_pairs))
    rng = streams.generator("planetoid steps")
    batches = _batches(len(train), schedule.batch_size, rng)
    for _ in range(schedule.n_steps):
        if rng.random() < schedule.graph_share:
            learn_contexts(next(graph_pairs))
        rows = next(batches)
        descend(
            class_loss(train[rows], classes[rows]), class_loss.parameters, schedule.learning_rate
        )


def _batches(n: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    while True:
        order = rng.permutation(n)
        yield from np.split(order, range(size, n, size))

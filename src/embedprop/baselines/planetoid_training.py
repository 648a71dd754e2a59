"""The schedule of Planetoid: contexts first, then classes, with some contexts between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.planetoid_contexts import Pairs
from embedprop.baselines.planetoid_model import ClassLoss, ContextLoss, descend
from embedprop.baselines.registry import Nodes
from embedprop.training.random_streams import RandomStreams


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
            descend(context_loss(pairs), context_loss.parameters, schedule.context_rate)

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

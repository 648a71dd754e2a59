"""Pairs (node, context) for Planetoid: from random walks, and from nodes of the same class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.registry import Nodes
from embedprop.baselines.walking import WalkGraph
from embedprop.methods.random_streams import RandomStreams


@dataclass(frozen=True, eq=False)
class Pairs:
    """Nodes and contexts; the sign is +1 for what was seen, -1 for a negative."""

    nodes: NDArray[np.int64]
    contexts: NDArray[np.int64]
    signs: NDArray[np.float32]

    @classmethod
    def of(
        cls, nodes: NDArray[np.int64], contexts: NDArray[np.int64], negatives: NDArray[np.int64]
    ) -> Pairs:
        """Join the pairs that were seen with negatives (pairs, n_negatives) of the same nodes."""
        n_negatives = negatives.shape[1]
        return cls(
            np.concatenate([nodes, np.repeat(nodes, n_negatives)]),
            np.concatenate([contexts, negatives.ravel()]),
            np.repeat(np.array([1, -1], np.float32), [len(nodes), negatives.size]),
        )


def window_pairs(
    walks: NDArray[np.int32], window: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every node of a walk with every node at most `window` steps away, itself included.

    >>> nodes, contexts = window_pairs(np.array([[5, 6, -1]], np.int32), window=1)
    >>> sorted(zip(nodes.tolist(), contexts.tolist()))
    [(5, 5), (5, 6), (6, 5), (6, 6)]
    """
    length = walks.shape[1]
    nodes, contexts = [], []
    for shift in range(-min(window, length - 1), min(window, length - 1) + 1):
        nodes.append(walks[:, max(0, -shift) : length - max(0, shift)].ravel())
        contexts.append(walks[:, max(0, shift) : length - max(0, -shift)].ravel())
    first, second = np.concatenate(nodes), np.concatenate(contexts)
    there = (first >= 0) & (second >= 0)
    return first[there].astype(np.int64), second[there].astype(np.int64)


def graph_contexts(
    walk_graph: WalkGraph,
    starts: Nodes,
    n_steps: int,
    window: int,
    batch_size: int,
    n_negatives: int,
    streams: RandomStreams,
) -> Iterator[Pairs]:
    """Yield the pairs of walks from `batch_size` nodes at a time, without end.

    Nodes without an edge to follow are left out.
    """
    starts = starts[walk_graph.targets.sizes[starts] > 0].astype(np.int32)
    rng = streams.generator("graph contexts")
    # Negatives are nodes that a walk can meet.
    everyone = np.unique(np.concatenate([starts, walk_graph.targets.ids])).astype(np.int64)
    for number, part in enumerate(batches(starts, batch_size, rng)):
        walks = walk_graph.walks(part, n_steps + 1, streams.key("planetoid walks", number))
        nodes, contexts = window_pairs(walks, window)
        yield Pairs.of(nodes, contexts, rng.choice(everyone, (len(nodes), n_negatives)))


def batches(values: NDArray[Any], size: int, rng: np.random.Generator) -> Iterator[NDArray[Any]]:
    """Yield at most `size` values at a time, all of them in a new order in each round."""
    while True:
        yield from np.split(rng.permutation(values), range(size, len(values), size))


def class_contexts(
    train: Nodes,
    classes: NDArray[np.float64],
    batch_size: int,
    n_negatives: int,
    streams: RandomStreams,
) -> Iterator[Pairs]:
    """Yield pairs of training nodes with the same first class, without end.

    Negatives are training nodes with another first class. With a single class there is nothing
    to tell apart, so no pairs.
    """
    rng = streams.generator("class contexts")
    first = classes.argmax(axis=1)
    if len(np.unique(first)) == 1:
        # Batches without pairs, which training passes over.
        batch_size = 0
    classes_of_train = range(classes.shape[1])
    members = _Groups([np.flatnonzero(first == c) for c in classes_of_train])
    others = _Groups([np.flatnonzero(first != c) for c in classes_of_train])
    while True:
        drawn = rng.integers(len(train), size=batch_size)
        partners = members.draw(first[drawn], 1, rng)[:, 0]
        negatives = others.draw(first[drawn], n_negatives, rng)
        yield Pairs.of(train[drawn], train[partners], train[negatives])


class _Groups:
    """Draws members of groups, with equal chances."""

    def __init__(self, groups: list[NDArray[np.int64]]) -> None:
        self.members = np.concatenate(groups)
        self.sizes = np.array([len(group) for group in groups])
        self.starts = np.cumsum(self.sizes) - self.sizes

    def draw(
        self, groups: NDArray[np.int64], n_each: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return (groups, n_each) members; each group must have some."""
        # A random share of a group is a place in it, so that one draw serves groups of any size.
        shares = rng.random((len(groups), n_each))
        places = (shares * self.sizes[groups, None]).astype(np.int64)
        return np.asarray(self.members[self.starts[groups, None] + places])

"""Which nodes train, choose and test a classifier; each split follows from its seed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError

Nodes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """Nodes for training, for choosing settings (may be empty) and for testing."""

    train: Nodes
    validation: Nodes
    test: Nodes


def per_class_split(
    classes: NDArray[np.int64],
    seed: int,
    n_per_class: int = 20,
    n_validation: int = 1000,
    n_test: int = 1000,
) -> Split:
    """Draw training nodes of each class, then validation and test nodes from the rest.

    `classes` has one class per node, -1 for none. The paper's numbers are the defaults.

    >>> split = per_class_split(np.array([0, 0, 0, 1, 1, 1]), 0, 1, 2, 2)
    >>> len(split.train), len(split.validation), len(split.test)
    (2, 2, 2)
    """
    rng = np.random.default_rng(seed)
    train = []
    for value in np.unique(classes[classes >= 0]):
        members = np.flatnonzero(classes == value)
        if len(members) < n_per_class:
            raise InvalidParameterError(
                f"Expected n_per_class={n_per_class} nodes of each class, got {len(members)} of "
                f"class {value}."
            )
        train.append(rng.choice(members, n_per_class, replace=False))
    chosen = np.concatenate(train)
    rest = rng.permutation(np.setdiff1d(np.flatnonzero(classes >= 0), chosen))
    if len(rest) < n_validation + n_test:
        raise InvalidParameterError(
            f"Expected n_validation={n_validation} and n_test={n_test} nodes beside those that "
            f"train, got {len(rest)} nodes in all."
        )
    # Test nodes come first: they do not depend on how many validate.
    return Split(chosen, rest[n_test : n_test + n_validation], rest[:n_test])


def share_split(nodes: Nodes, train_share: float, seed: int) -> Split:
    """Draw a share of `nodes` uniformly for training; the rest is for testing.

    >>> split = share_split(np.arange(10), 0.3, seed=0)
    >>> len(split.train), len(split.test)
    (3, 7)
    """
    order = np.random.default_rng(seed).permutation(nodes)
    n_train = round(train_share * len(order))
    if not 0 < n_train < len(order):
        raise InvalidParameterError(
            f"train_share={train_share} of {len(order)} nodes leaves no node to train on, or none "
            f"to test on."
        )
    return Split(order[:n_train], order[:0], order[n_train:])

"""The classes of nodes as a matrix, made from the pairs in a file of targets."""

import logging
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError, UnknownNodeError
from embedprop.graph.vocabulary import Vocabulary

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Targets:
    """Which classes each node has; a row per node, a column per class."""

    values: NDArray[np.bool_]
    class_names: tuple[str, ...]

    @property
    def nodes(self) -> NDArray[np.int64]:
        """Rows of the nodes that have a class: the others neither train nor test."""
        return np.flatnonzero(self.values.any(axis=1))

    @property
    def is_multi_label(self) -> bool:
        """Whether some node has several classes."""
        return bool((self.values.sum(axis=1) > 1).any())

    @property
    def classes(self) -> NDArray[np.int64]:
        """The class of each node that has only one, -1 for those without."""
        return np.where(self.values.any(axis=1), self.values.argmax(axis=1), -1)


def targets_of(
    pairs: Iterable[tuple[Hashable, str]],
    nodes: Sequence[Hashable],
    source: object = "targets",
    unknown_nodes: str = "error",
) -> Targets:
    """Return the classes of `nodes` as the pairs (node, class) give them.

    Parameters
    ----------
    pairs
        A node with several classes has several pairs.
    nodes
        The name of each row, for example ``graph.nodes``.
    source
        Where the pairs come from, for messages.
    unknown_nodes
        What to do with pairs of other nodes: ``"error"`` or ``"ignore"``.

    Examples
    --------
    >>> targets = targets_of([("a", "x"), ("b", "y"), ("b", "x")], ["a", "b", "c"])
    >>> targets.class_names, targets.is_multi_label
    (('x', 'y'), True)
    >>> targets.values.astype(int).tolist()
    [[1, 0], [1, 1], [0, 0]]
    """
    if unknown_nodes not in ("error", "ignore"):
        raise InvalidParameterError(
            f"unknown_nodes={unknown_nodes!r} is not known. Choose one of: 'error', 'ignore'."
        )
    listed = list(pairs)
    rows = Vocabulary(nodes).find_all([node for node, _ in listed])
    unknown = np.flatnonzero(rows < 0)
    if len(unknown) and unknown_nodes == "error":
        raise UnknownNodeError(
            f"{source}: node {listed[unknown[0]][0]!r} has a class but no vector or edge "
            f"(rows of such nodes: {len(unknown)}). Pass unknown_nodes='ignore' "
            f"(--unknown-nodes ignore) to leave them out."
        )
    if len(unknown):
        logger.info("%s: ignored rows of unknown nodes: %d", source, len(unknown))
    given = [name for row, (_, name) in zip(rows, listed, strict=True) if row >= 0]
    names = list(dict.fromkeys(given))  # classes are numbered as they first come
    if len(names) < 2:
        raise InvalidParameterError(
            f"{source}: expected at least 2 classes among the known nodes, got {len(names)}."
        )
    values = np.zeros((len(nodes), len(names)), np.bool_)
    values[rows[rows >= 0], Vocabulary.trusted(names).find_all(given)] = True
    return Targets(values, tuple(names))

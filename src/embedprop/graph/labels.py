"""Kinds of labels beside sets: numbers, texts and images, at most one per node and label type."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError, did_you_mean
from embedprop.graph.arrays import Ids, Mask, Vectors
from embedprop.graph.messages import bad_row, counted
from embedprop.graph.vocabulary import is_missing

logger = logging.getLogger(__name__)

KINDS = ("set", "numeric", "text", "image")
NODE_TYPE = "node"


def split_kind(key: str) -> tuple[str, str]:
    """Split ``"age:numeric"`` into label type and kind; without a colon the kind is ``"set"``.

    >>> split_kind("age:numeric"), split_kind("word")
    (('age', 'numeric'), ('word', 'set'))
    """
    if not isinstance(key, str):
        raise InvalidParameterError(
            f"A label type must be a string such as 'word' or 'age:numeric', not {key!r}."
        )
    label_type, kind = key.rsplit(":", 1) if ":" in key else (key, "set")
    if kind not in KINDS:
        raise InvalidParameterError(
            f"Label type {key!r}: unknown kind {kind!r} after the colon. Expected one of "
            f"{', '.join(KINDS)}; a name must not contain a colon.{did_you_mean(kind, KINDS)}"
        )
    if not label_type:
        what = f"Label type {key!r} has no name."
        raise InvalidParameterError(f"{what} Write it as 'word' or 'age:numeric'.")
    if label_type == NODE_TYPE:
        what = f"Label type {key!r}: the name 'node' is reserved for the nodes' own ids"
        raise InvalidParameterError(f"{what}, which every graph has. Choose another name.")
    return label_type, kind


def split_kinds(keys: Sequence[str] | Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return {key: (label type, kind)}; a label type may be given only once, whatever its kind."""
    # "age" and "age:numeric" are different keys of one and the same type.
    split = {key: split_kind(key) for key in keys}
    seen: dict[str, str] = {}
    for key, (label_type, _) in split.items():
        if seen.setdefault(label_type, key) != key:
            raise InvalidParameterError(
                f"Label type {label_type!r} is given twice, as {seen[label_type]!r} and {key!r}. "
                f"Give each label type its own name."
            )
    return split


@dataclass(frozen=True, eq=False)
class NumericLabels:
    """A vector of numbers for each node that has one.

    Parameters
    ----------
    values
        (n_nodes, width) float32; zeros where a node has none.
    is_present
        (n_nodes,) bool: which nodes have values.
    names
        The name of each column; empty where the user gave none.
    """

    kind: ClassVar[str] = "numeric"
    values: Vectors
    is_present: Mask
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _freeze(self.values, self.is_present)

    @classmethod
    def from_rows(
        cls, n_nodes: int, node_ids: Ids, values: NDArray[Any], names: Sequence[str] = ()
    ) -> Self:
        """Place row j of `values` (rows, width) at node ``node_ids[j]``.

        NaN means "not known": a node whose row holds any is without labels of this type.

        Raises
        ------
        InvalidGraphError
            A value is infinite, or a node is given twice; the message counts rows from 0.
        """
        _check_once(node_ids)
        rows = np.asarray(values, dtype=np.float32)
        rows = rows[:, None] if rows.ndim == 1 else rows
        if rows.ndim != 2 or len(rows) != len(node_ids):
            raise InvalidGraphError(
                f"Numeric labels: expected {len(node_ids)} rows of numbers, one for each node "
                f"named, but the values have shape {rows.shape}."
            )
        if np.isinf(rows).any():
            row = int(np.isinf(rows).any(axis=1).argmax())
            found = f"{rows[row].tolist()}. Correct them, or use NaN for 'not known'."
            problem = f"expected finite numbers that float32 holds, got {found}"
            raise bad_row("Numeric labels", row, problem)
        # Half a vector cannot be compared with a whole one.
        unknown = np.isnan(rows)
        known = ~unknown.any(axis=1)
        n_partial = int((~known & ~unknown.all(axis=1)).sum())
        if n_partial:
            logger.warning(
                "incomplete numbers of %s count as missing; fill the gaps, or give each column "
                "as a label type of its own",
                counted(n_partial, "node"),
            )
        nodes, is_present = node_ids[known], np.zeros(n_nodes, dtype=np.bool_)
        is_present[nodes] = True
        placed = np.zeros((n_nodes, rows.shape[1]), dtype=np.float32)
        placed[nodes] = rows[known]
        return cls(placed, is_present, tuple(names))


@dataclass(frozen=True, eq=False)
class TextLabels:
    """A text for each node that has one.

    Parameters
    ----------
    texts
        One text per node, None where it has none.
    """

    kind: ClassVar[str] = "text"
    texts: tuple[str | None, ...]

    @property
    def is_present(self) -> Mask:
        """Which nodes have a text: (n_nodes,) bool."""
        return np.array([text is not None for text in self.texts], dtype=np.bool_)

    @classmethod
    def from_rows(cls, n_nodes: int, node_ids: Ids, texts: Sequence[str | None]) -> Self:
        """Place text j at node ``node_ids[j]``; None or NaN means that the node has none.

        Raises
        ------
        InvalidGraphError
            A value is not a string, or a node is given twice; the message counts rows from 0.
        """
        _check_once(node_ids)
        placed: list[str | None] = [None] * n_nodes
        for row, (node, text) in enumerate(zip(node_ids.tolist(), texts, strict=True)):
            if is_missing(text):
                continue
            if not isinstance(text, str):
                found = f"{text!r} of type {type(text).__name__}"
                problem = f"expected a string, got {found}. Convert it with str()."
                raise bad_row("Text labels", row, problem)
            placed[node] = text
        return cls(tuple(placed))


@dataclass(frozen=True, eq=False)
class ImageLabels:
    """An image for each node that has one.

    Parameters
    ----------
    images
        (n_images, height, width[, channels]), of the type that the user gave.
    rows
        (n_nodes,) int32: the row of `images` that belongs to each node, -1 where it has none.
    """

    kind: ClassVar[str] = "image"
    images: NDArray[Any]
    rows: Ids

    def __post_init__(self) -> None:
        _freeze(self.images, self.rows)

    @property
    def is_present(self) -> Mask:
        """Which nodes have an image: (n_nodes,) bool."""
        return self.rows >= 0

    @classmethod
    def from_rows(cls, n_nodes: int, node_ids: Ids, images: NDArray[Any]) -> Self:
        """Give image j to node ``node_ids[j]``.

        Raises
        ------
        InvalidGraphError
            The array does not hold images of one size and finite numbers, or a node is repeated.
        """
        _check_once(node_ids)
        images = np.ascontiguousarray(images)
        if images.ndim not in (3, 4) or images.dtype.kind not in "biuf":
            raise InvalidGraphError(
                f"Image labels: expected numbers of shape (images, height, width[, channels]), "
                f"got {images.dtype} of shape {images.shape}."
            )
        if images.dtype.kind == "f" and not np.isfinite(images).all():
            raise InvalidGraphError(
                "Image labels hold NaN or infinite numbers. Replace them, or leave those nodes out."
            )
        rows = np.full(n_nodes, -1, dtype=np.int32)
        rows[node_ids] = np.arange(len(node_ids), dtype=np.int32)
        # A view, so that freezing it leaves the user's own array as it is.
        return cls(images.view(), rows)


def _check_once(node_ids: Ids) -> None:
    # Sorted stably, the rows of one node stand side by side in their order.
    order = np.argsort(node_ids, kind="stable")
    again = np.flatnonzero(node_ids[order][1:] == node_ids[order][:-1])
    if len(again):
        first = again[np.argmin(order[again + 1])]
        raise InvalidGraphError(
            f"Rows {order[first]} and {order[first + 1]} (counted from 0) belong to the same node. "
            f"Expected at most one row per node: keep one, or combine them."
        )


def _freeze(*arrays: NDArray[Any]) -> None:
    for array in arrays:
        array.flags.writeable = False

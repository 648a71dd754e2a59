"""Targets that are learned beside the reconstruction: the classes of some nodes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph.vocabulary import Vocabulary, is_missing


@dataclass(frozen=True, eq=False)
class Targets:
    """The class of each node as a number, -1 where it is not known, and the weight of its loss."""

    classes: NDArray[np.int64]
    names: Vocabulary
    weight: float

    @classmethod
    def of(cls, y: Any, nodes: Vocabulary, weight: float) -> Self:
        """Read {node: class}, or one class for each node in order; None and NaN mean unknown.

        >>> targets = Targets.of({"b": "red", "c": "blue"}, Vocabulary.trusted("abc"), 1.0)
        >>> targets.classes.tolist(), targets.names.names
        ([-1, 0, 1], ('red', 'blue'))
        """
        values: list[Hashable] = [None] * len(nodes)
        if isinstance(y, Mapping):
            rows = nodes.find_all(y)
            for row, (node, value) in zip(rows.tolist(), y.items(), strict=True):
                if row < 0:
                    raise InvalidParameterError(
                        f"y names the node {node!r}, which the graph does not have. Check its "
                        f"spelling and its type ('1' is not 1)."
                    )
                values[row] = value
        else:
            if isinstance(y, str) or not hasattr(y, "__len__") or len(y) != len(nodes):
                came = f"{len(y)}" if hasattr(y, "__len__") else type(y).__name__
                raise InvalidParameterError(
                    f"y must be a dict {{node: class}}, or hold one class for each of the "
                    f"{len(nodes)} nodes (None where it is not known), but came {came}."
                )
            values = [v.item() if isinstance(v, np.generic) else v for v in y]
        try:
            known = list(dict.fromkeys(value for value in values if not is_missing(value)))
        except TypeError as error:
            raise InvalidParameterError(
                f"y must hold one class for each node, a name or a number ({error})."
            ) from None
        if len(known) < 2:
            raise InvalidParameterError(
                f"y has {len(known)} different classes; at least 2 are needed to tell them apart."
            )
        number = {value: i for i, value in enumerate(known)}
        classes = [-1 if is_missing(value) else number[value] for value in values]
        return cls(np.array(classes, np.int64), Vocabulary.trusted(known), weight)


@dataclass(frozen=True, eq=False)
class LearnedHead:
    """Linear scores of the classes of a node from its h and its h~.

    weights (classes, width), bias (classes,); scores (nodes, classes): of the nodes learned from.
    """

    names: Vocabulary
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    scores: NDArray[np.float32]

    def scores_of(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the logarithms of the chances of all classes: (nodes, classes)."""
        return log_softmax(vectors @ self.weights.T + self.bias)


def log_softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the logarithm of the softmax of each row."""
    scores = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)), np.float32)

"""Targets that are learned beside the reconstruction: the classes of some nodes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from embedprop.errors import InvalidParameterError
from embedprop.graph import Vocabulary
from embedprop.graph.arrays import Rows
from embedprop.graph.vocabulary import is_missing


@dataclass(frozen=True, eq=False)
class Targets:
    """The class of each node as a number, -1 where it is not known, and the weight of its loss."""

    classes: Rows
    names: Vocabulary
    weight: float

    @classmethod
    def of(cls, given: Any, nodes: Vocabulary, weight: float) -> Self:
        """Read {node: class}, or one class for each node in order; None and NaN mean unknown.

        >>> targets = Targets.of({"b": "red", "c": "blue"}, Vocabulary.trusted("abc"), 1.0)
        >>> targets.classes.tolist(), targets.names.names
        ([-1, 0, 1], ('red', 'blue'))
        """
        values: list[Hashable] = [None] * len(nodes)
        if isinstance(given, Mapping):
            rows = nodes.find_all(given)
            for row, (node, value) in zip(rows.tolist(), given.items(), strict=True):
                if row < 0:
                    raise InvalidParameterError(
                        f"targets names the node {node!r}, which the graph does not have. Check "
                        f"its spelling and its type ('1' is not 1)."
                    )
                values[row] = value
        else:
            if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != len(nodes):
                got = f"{len(given)}" if hasattr(given, "__len__") else type(given).__name__
                raise InvalidParameterError(
                    f"targets must be a dict {{node: class}}, or hold one class for each of the "
                    f"{len(nodes)} nodes (None where it is not known), got {got}."
                )
            values = [v.item() if isinstance(v, np.generic) else v for v in given]
        try:
            known = list(dict.fromkeys(value for value in values if not is_missing(value)))
        except TypeError as error:
            raise InvalidParameterError(
                f"targets must hold one class for each node, a name or a number ({error})."
            ) from None
        if len(known) < 2:
            raise InvalidParameterError(
                f"targets has {len(known)} different classes; at least 2 are needed to tell "
                f"them apart."
            )
        number = {value: i for i, value in enumerate(known)}
        classes = [-1 if is_missing(value) else number[value] for value in values]
        return cls(np.array(classes, np.int64), Vocabulary.trusted(known), weight)

"""What a run learns: the graph, the instance, the plan of its epochs, and where it starts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, get_args

import numpy as np

from embedprop.errors import InvalidParameterError
from embedprop.graph import Vocabulary
from embedprop.graph.arrays import Mask, Rows, Vectors
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.graph.vocabulary import is_missing
from embedprop.instance.epb import EPBInstance
from embedprop.instance.parameters import EPBParameters, Schedule
from embedprop.instance.require import require_count, require_one_of, require_positive
from embedprop.methods.epb.tables.storage import MEMORY, Tables


@dataclass(frozen=True)
class TrainingPlan:
    """Settings of a run; the defaults are the paper's.

    epochs: passes over all nodes. batch_size: nodes per step of Adam. learning_rate: Adam's.
    schedule: "linear" lowers it in each epoch, so that it would be 0 after the last. n_threads:
    None for as many as help. seed: of all random draws. first_epoch: how many epochs were learned
    before, so that going on repeats no draws. n_partitions: of the nodes; a pair of them is learned
    at a time, with 2 the whole graph.
    """

    epochs: int = 200
    batch_size: int = 64
    learning_rate: float = 1e-3
    schedule: str = "constant"
    n_threads: int | None = None
    seed: int = 0
    first_epoch: int = 0
    n_partitions: int = 2

    @classmethod
    def of(cls, parameters: EPBParameters) -> Self:
        """Return the plan that the parameters describe, checked; seed and partitions come later."""
        threads = parameters.n_threads
        return cls(
            epochs=require_count("epochs", parameters.epochs, least=0),
            batch_size=require_count("batch_size", parameters.batch_size),
            learning_rate=require_positive("learning_rate", parameters.learning_rate),
            schedule=require_one_of("schedule", parameters.schedule, get_args(Schedule)),
            n_threads=None if threads is None else require_count("n_threads", threads),
        )

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0.

        >>> TrainingPlan(epochs=4, learning_rate=0.1, schedule="linear").rate(1)
        0.075...
        """
        left = (self.epochs - epoch) / self.epochs if self.schedule == "linear" else 1.0
        return self.learning_rate * left


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


class Start(NamedTuple):
    """The vectors that learning starts from: of labels and of relations, and which stay fixed.

    Of numbers, texts and images only dummy labels have vectors of their own.
    """

    labels: dict[str, Vectors]
    relations: dict[str, Vectors]
    fixed: dict[str, Mask]


@dataclass(frozen=True, eq=False)
class Task:
    """All that an engine is given.

    own_parts: the user's modules, {label type: {part: module}}. targets: classes to learn. modules:
    those of the model that it goes on from. tables: where to keep vectors; dtype: their numbers.
    """

    learnable: LearnableGraph
    instance: EPBInstance
    plan: TrainingPlan
    start: Start
    own_parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    targets: Targets | None = None
    modules: Mapping[str, Any] = field(default_factory=dict)
    tables: Tables = MEMORY
    dtype: type[np.floating[Any]] = np.float32

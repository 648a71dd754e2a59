"""What every engine does: turn a graph and a described instance into label vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from embedprop.graph import Graph
from embedprop.instance import Instance
from embedprop.training.plan import TrainingPlan

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class TrainingResult:
    """What was learned.

    label_vectors: per label type, (labels + dummy labels, dim). loss_history: per label type, the
    mean loss per visited node of each epoch that was finished. interrupted: stopped by Ctrl-C.
    """

    label_vectors: Mapping[str, Vectors]
    loss_history: Mapping[str, list[float]]
    interrupted: bool = False


class Report(Protocol):
    """Hears of progress; engines call it often, so it must be cheap."""

    def __call__(self, epoch: int, share: float, losses: Mapping[str, float]) -> None:
        """Epoch `epoch` (from 0) is done to `share` (0 to 1), with these mean losses so far."""
        ...


class Engine(Protocol):
    """One way to compute an instance."""

    name: str

    def train(
        self,
        graph: Graph,
        instance: Instance,
        plan: TrainingPlan,
        start: Mapping[str, Vectors],
        report: Report,
    ) -> TrainingResult:
        """Learn label vectors, from the given ones on."""
        ...

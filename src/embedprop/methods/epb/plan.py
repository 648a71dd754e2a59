"""How long and how fast to learn: the settings of a run that are no part of the formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, get_args

from embedprop.instance.parameters import EPBParameters, Schedule
from embedprop.instance.require import require_count, require_one_of, require_positive


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

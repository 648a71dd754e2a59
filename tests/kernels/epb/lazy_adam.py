"""A table that the kernels move at sparse cost, beside one that torch's dense Adam moves."""

from __future__ import annotations

import numpy as np
import torch

from embedprop.kernels.epb.adam import Table, adam_tables, add_gradient, catch_up
from embedprop.kernels.machine.arrays import BLOCK

torch.set_num_threads(1)


class Twins:
    """Both tables at the same step. Only rows that were read may be compared."""

    def __init__(
        self,
        n_rows: int,
        dim: int = 2,
        dtype: type[np.floating] = np.float64,
        learning_rate: float = 0.01,
        first_step: int = 0,
    ) -> None:
        start = np.random.default_rng(0).normal(size=(n_rows, dim))
        self.step = first_step
        self._rate = learning_rate
        self._tables = adam_tables(np.dtype(dtype))
        steps = np.zeros((2, n_rows), np.int32)
        vectors = np.zeros((n_rows, -(-dim // BLOCK) * BLOCK), dtype)  # as wide as a part can be
        vectors[:, :dim] = start
        self._table = Table(
            vectors, np.zeros_like(vectors), np.zeros_like(vectors), steps[0], steps[1]
        )
        self._dense = torch.nn.Parameter(torch.from_numpy(start.copy()))
        self._adam = torch.optim.Adam([self._dense], lr=learning_rate, foreach=False)
        if first_step:
            zeros = torch.zeros_like(self._dense)
            self._adam.state[self._dense] = {
                "step": torch.tensor(float(first_step)),
                "exp_avg": zeros.clone(),
                "exp_avg_sq": zeros.clone(),
            }
        self._start = start

    def read(self, rows: list[int]) -> np.ndarray:
        """Return these rows of the sparse table as they are after the last step."""
        ids = np.array(rows, np.int32)
        catch_up(self._table, ids, len(ids), self.step, self._rate, self._tables)
        return self._table.vectors[ids, : self._start.shape[1]].astype(np.float64)

    def add(self, gradients: dict[int, np.ndarray]) -> None:
        """Make one step with the gradients of some rows; a row is read before it gets one."""
        self.read(list(gradients))
        self.step += 1
        dense = np.zeros(self._dense.shape)
        for row, gradient in gradients.items():
            table = self._table
            own = np.zeros_like(table.vectors[row])
            own[: len(gradient)] = gradient
            last = table.gradient_step[row]
            add_gradient(table.direction[row], table.root[row], own, last, self.step, self._tables)
            table.gradient_step[row] = self.step
            dense[row] = gradient
        self._dense.grad = torch.from_numpy(dense)
        self._adam.step()

    def wait(self, n_steps: int) -> None:
        """Make steps in which no row has a gradient."""
        self._dense.grad = torch.zeros_like(self._dense)
        for _ in range(n_steps):
            self._adam.step()
        self.step += n_steps

    def leap(self, n_steps: int) -> None:
        """Do as `wait` does, once momentum is dead: only the state of dense Adam goes on."""
        state = self._adam.state[self._dense]
        assert state["exp_avg"].abs().max() < 1e-30
        state["exp_avg"] *= 0.9**n_steps
        state["exp_avg_sq"] *= 0.999**n_steps
        state["step"] += n_steps
        self.step += n_steps

    def error(self, rows: list[int]) -> float:
        """Return the largest difference on `rows` now, in units of the learning rate."""
        dense = self._dense.detach().numpy()[rows]
        return float(np.abs(self.read(rows) - dense).max() / self._rate)

    def moved(self, row: int) -> float:
        """Return how far dense Adam has moved a row, in units of the learning rate."""
        now = self._dense.detach().numpy()[row]
        return float(np.abs(now - self._start[row]).max() / self._rate)

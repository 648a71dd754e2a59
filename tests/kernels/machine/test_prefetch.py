from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from embedprop.kernels.machine import prefetch
from embedprop.kernels.machine.arrays import BLOCK


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_blocks", [*range(1, 10), 16, 23])
def test_every_line_of_a_row_is_asked_for_once(
    monkeypatch: pytest.MonkeyPatch, n_blocks: int, dtype: type[np.floating]
) -> None:
    table, asked = np.zeros((3, n_blocks * BLOCK), dtype), list[int]()

    def ask(_: Any, row: int, offset: int, n_lines: int, to_write: int) -> None:
        assert (row, to_write) == (2, 1)
        asked.extend(range(offset, offset + 64 * n_lines, 64))

    monkeypatch.setattr(prefetch, "_prefetch_lines", ask)
    prefetch._whole_row(to_write=1)(table, 2)(table, 2)
    assert asked == list(range(0, table[2].nbytes, 64))

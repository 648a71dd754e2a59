"""What changes where kernels are plain Python (NUMBA_DISABLE_JIT=1), as in the run for coverage."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let counters overflow, as they do on purpose: NumPy warns of it, machine code does not."""
    for item in items:
        if numba.config.DISABLE_JIT and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning"))

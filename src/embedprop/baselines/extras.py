"""Libraries that only baselines need: named if one is missing, and torch kept in bounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from embedprop.errors import InvalidParameterError


def require(baseline: str, *packages: str) -> None:
    """Raise `InvalidParameterError` naming the first of `packages` that is not installed."""
    for package in packages:
        if find_spec(package.replace("-", "_")) is None:
            raise InvalidParameterError(
                f"baseline {baseline!r} needs {package}: pip install 'embedprop[baselines]'"
            )


@contextmanager
def torch_run(seed: int, n_threads: int | None) -> Iterator[None]:
    """Seed torch and set its threads for one run; afterwards both are as they were."""
    import torch

    before = torch.get_num_threads()
    # No devices: only the CPU draws here, and asking for a GPU would wake it.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if n_threads is not None:
            torch.set_num_threads(n_threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)

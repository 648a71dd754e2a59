"""Torch as every test of the framework needs it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def torch_of_its_own() -> Iterator[None]:
    """A seed of its own, and one thread: on small tensors threads only wait for each other."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        yield
    torch.set_num_threads(n_threads)

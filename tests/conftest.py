"""Graphs and models that many tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings
from tests import toy_graphs

from embedprop import EmbeddingPropagation, Graph

# A process that a shell starts in the background ignores Ctrl-C; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The first example of a test also pays for imports and compilation.
settings.register_profile("no deadline", deadline=None, max_examples=40)
settings.load_profile("no deadline")


@pytest.fixture(scope="session")
def two_cliques() -> toy_graphs.TwoCliques:
    return toy_graphs.two_cliques()


@pytest.fixture(scope="session")
def path() -> Graph:
    """0 - 1 - 2 - 3 - 4."""
    return toy_graphs.path()


@pytest.fixture(scope="session")
def star_with_words() -> Graph:
    return toy_graphs.star_with_words()


@pytest.fixture(scope="session")
def messy() -> Graph:
    """Everything that makes a graph difficult, at once."""
    return toy_graphs.messy(
        directed=True,
        weighted_edges=True,
        weighted_labels=True,
        missing=True,
        isolated=True,
        self_loops="keep",
    )


@pytest.fixture(scope="session")
def star_model(star_with_words: Graph) -> EmbeddingPropagation:
    """A model of the star; tests must not change it."""
    return EmbeddingPropagation(dim=4, epochs=3, n_threads=1).fit(star_with_words)


@pytest.fixture(scope="session")
def cora() -> Graph:
    folder = os.environ.get("EMBEDPROP_DATA")
    if not folder or not (Path(folder) / "cora").is_dir():
        pytest.skip("EMBEDPROP_DATA names no folder with cora")
    from embedprop.datasets import load_dataset

    return load_dataset("cora").graph

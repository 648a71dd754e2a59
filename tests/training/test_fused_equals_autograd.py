"""The fused engine answers to the plain one: autograd and torch's own dense Adam."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests import toy_graphs
from tests.training.runs import Run, assert_equal_to_autograd

from embedprop import Graph

RUNS = {
    "ids only": lambda: Run.of(toy_graphs.messy(words=False)),
    "words only": lambda: Run.of(toy_graphs.messy(), label_types=("word",)),
    "ids and words": lambda: Run.of(toy_graphs.messy()),
    "edge weights": lambda: Run.of(toy_graphs.messy(weighted_edges=True)),
    "label weights": lambda: Run.of(toy_graphs.messy(weighted_labels=True)),
    "directed": lambda: Run.of(toy_graphs.messy(directed=True)),
    "at most two neighbors": lambda: Run.of(toy_graphs.messy(), max_neighbors=2),
    "at most two neighbors, weighted": lambda: Run.of(
        toy_graphs.messy(weighted_edges=True), max_neighbors=2
    ),
    "three negatives": lambda: Run.of(toy_graphs.messy(), n_negatives=3),
    "negatives by degree": lambda: Run.of(toy_graphs.messy(isolated=True), negatives="degree"),
    "nodes without words": lambda: Run.of(toy_graphs.messy(missing=True, weighted_labels=True)),
    "isolated nodes": lambda: Run.of(toy_graphs.messy(isolated=True)),
    "self-loops kept": lambda: Run.of(toy_graphs.messy(self_loops="keep")),
    "a batch larger than the graph": lambda: Run.of(toy_graphs.messy(), batch_size=1000),
    "one node per batch": lambda: Run.of(toy_graphs.messy(), batch_size=1),
    "no partial batch": lambda: Run.of(toy_graphs.messy(), batch_size=11),
    "dim and margin per type": lambda: Run.of(
        toy_graphs.messy(), dim={"node": 3, "word": 9}, margin={"node": 0.5, "word": 4.0}
    ),
    "one dimension": lambda: Run.of(toy_graphs.messy(), dim=1),
    "everything": lambda: Run.of(
        toy_graphs.messy(
            directed=True,
            weighted_edges=True,
            weighted_labels=True,
            missing=True,
            isolated=True,
            self_loops="keep",
        ),
        dim={"node": 5, "word": 7},
        margin={"node": 2.0, "word": 0.3},
        max_neighbors=3,
        n_negatives=2,
        negatives="degree",
        batch_size=7,
        seed=3,
    ),
}


@pytest.fixture(params=RUNS, ids=[name.replace(" ", "_") for name in RUNS])
def run(request: pytest.FixtureRequest) -> Run:
    return RUNS[request.param]()


def test_one_step_equals_a_step_by_autograd(run: Run) -> None:
    assert_equal_to_autograd(run.in_one_step(), np.float64, relative=1e-6, absolute=1e-8)


def test_one_epoch_equals_an_epoch_by_autograd(run: Run) -> None:
    assert_equal_to_autograd(run, np.float64, relative=1e-6, absolute=1e-6)


def test_twenty_epochs_equal_twenty_by_autograd(run: Run) -> None:
    assert_equal_to_autograd(run.lasting(20), np.float64, relative=1e-6, absolute=1e-6)


def test_twenty_epochs_in_float32_stay_near_autograd(run: Run) -> None:
    assert_equal_to_autograd(run.lasting(20), np.float32, relative=1e-3, absolute=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_other_seeds_agree_too(seed: int) -> None:
    run = Run.of(toy_graphs.messy(seed=seed, weighted_edges=True), seed=seed)
    assert_equal_to_autograd(run.lasting(20), np.float64, relative=1e-6, absolute=1e-6)

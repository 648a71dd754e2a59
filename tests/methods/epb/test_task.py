"""What a run learns: the plan of its epochs; targets, and what is read of them beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError
from embedprop.graph.vocabulary import Vocabulary
from embedprop.instance.parameters import EPBParameters
from embedprop.methods.epb.task import Targets, TrainingPlan
from embedprop.methods.random_streams import RandomStreams

NODES = Vocabulary.trusted(["a", "b", "c"])
SMALL: dict[str, Any] = {"dim": 4, "epochs": 2, "n_threads": 1, "verbose": False}


def test_the_defaults_are_the_paper_s() -> None:
    plan = TrainingPlan.of(EPBParameters())
    assert plan == TrainingPlan()
    assert (plan.epochs, plan.batch_size, plan.learning_rate) == (200, 64, 1e-3)


def test_streams_of_a_seed_repeat_and_differ_by_purpose_and_counter() -> None:
    keys = {
        RandomStreams(seed).key(purpose, counter)
        for seed in (0, 1, 2**40)
        for purpose in ("order", "negatives", "neighbors")
        for counter in (0, 1)
    }
    assert len(keys) == 18
    assert RandomStreams(2**40).key("order", 1) in keys
    one, other = RandomStreams(7).generator("order", 3), RandomStreams(7).generator("order", 3)
    assert one.random() == other.random()


def test_no_seed_takes_a_fresh_one() -> None:
    seeds = {RandomStreams.from_random_state(None).seed for _ in range(3)}
    assert len(seeds) == 3
    assert RandomStreams.from_random_state(5) == RandomStreams(5)


def test_a_plan_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="cannot assign to field 'epochs'"):
        TrainingPlan().epochs = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "classes", "names"),
    [
        ({"c": "red", "a": "blue"}, [0, -1, 1], ("blue", "red")),
        (["red", None, "blue"], [0, -1, 1], ("red", "blue")),
        (("x", "y", "x"), [0, 1, 0], ("x", "y")),
        (np.array([3, 1, 3]), [0, 1, 0], (3, 1)),
        (np.array([0.0, np.nan, 1.0]), [0, -1, 1], (0.0, 1.0)),
        (pd.Series(["x", None, "y"]), [0, -1, 1], ("x", "y")),
        ({"a": np.nan, "b": 1, "c": 2}, [-1, 0, 1], (1, 2)),
        ([True, False, None], [0, 1, -1], (True, False)),
    ],
)
def test_targets_are_a_dict_or_one_class_per_node(
    given: Any, classes: list[int], names: Any
) -> None:
    targets = Targets.of(given, NODES, 2.5)
    assert targets.classes.tolist() == classes
    assert targets.names.names == names
    assert targets.weight == 2.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["x", "y"], "one class for each of the 3 nodes (None where it is not known), got 2."),
        (["x", "y", "x", "y"], "got 4."),
        ("abc", "or hold one class for each"),
        (7, "got int."),
        ({"a": 1, "d": 2}, "targets names the node 'd', which is not in the graph."),
        ({"a": 1}, "targets: expected at least 2 different classes, got 1"),
        ([None, None, None], "expected at least 2 different classes, got 0"),
        ({}, "expected at least 2 different classes, got 0"),
        ({"a": [1], "b": [2]}, "targets must hold one class for each node, a name or a number"),
        (np.eye(3), "targets must hold one class for each node, a name or a number"),
    ],
)
def test_bad_targets_are_refused_before_training(given: Any, message: str) -> None:
    model = EmbeddingPropagation(**SMALL)
    with pytest.raises(InvalidParameterError) as caught:
        model.fit(Graph.from_edges([("a", "b"), ("b", "c")]), targets=given)
    assert message in str(caught.value)
    assert not hasattr(model, "node_embeddings_")

from __future__ import annotations

import pytest

from embedprop.instance.parameters import EPBParameters
from embedprop.methods.epb.plan import TrainingPlan
from embedprop.methods.random_streams import RandomStreams


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

"""Every part of every kind is found, described and chosen by its name."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from tests.framework import test_aggregators, test_distances, test_losses
from tests.registered import names_of

from embedprop.instance.catalog import (
    AGGREGATORS,
    DISTANCES,
    LOSSES,
    REGISTRIES,
    describe_part,
    parse_part,
)

PARTS = [(kind, name) for kind, registry in REGISTRIES.items() for name in registry]


def test_there_are_eight_kinds_with_some_choice() -> None:
    assert list(REGISTRIES) == [
        "label_embedding", "aggregator", "distance", "loss", "negatives", "neighborhood",
        "representation", "engine",
    ]  # fmt: skip
    for kind, registry in REGISTRIES.items():
        assert registry.kind == kind
        assert len(registry) > 1


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_every_part_is_described_by_the_first_line_of_its_class(kind: str, name: str) -> None:
    first = (REGISTRIES[kind][name].__doc__ or "").strip().splitlines()[0]
    assert describe_part(kind, name).description == first
    assert len(first) > 10
    assert first.endswith(".")


def defaults_of(part: Any) -> dict[str, Any]:
    own = "__init__" in vars(part)
    signature = inspect.signature(part.__init__).parameters.values() if own else ()
    return {one.name: one.default for one in signature if one.default is not one.empty}


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_its_parameters_are_those_of_the_class_that_have_defaults(kind: str, name: str) -> None:
    assert describe_part(kind, name).parameters == defaults_of(REGISTRIES[kind][name])


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_it_can_be_chosen_by_name_with_all_its_parameters(kind: str, name: str) -> None:
    parameters = describe_part(kind, name).parameters
    assert parse_part(kind, name).name == name
    given = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    part = parse_part(kind, f"{name}({given})")
    assert (part.name, part.parameters) == (name, parameters)
    assert parse_part(kind, str(part)) == part


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_a_slip_in_its_name_is_answered_with_the_name(kind: str, name: str) -> None:
    with pytest.raises(ValueError, match=rf"is not known\. .* Did you mean '{name}'\?$"):
        parse_part(kind, f"{name}s")


def test_no_part_of_the_framework_goes_without_its_own_tests() -> None:
    assert set(test_aggregators.PLAIN) == names_of(AGGREGATORS)
    assert set(test_distances.PLAIN) == names_of(DISTANCES)
    assert {name for name, _ in test_losses.EXPECTED} | {"decorrelation"} == names_of(LOSSES)

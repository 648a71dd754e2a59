"""The catalog that is read from the sources is what the registries hold, for all seven kinds."""

from __future__ import annotations

import inspect

import pytest
from embedprop.framework.registry import AGGREGATORS, DISTANCES, LABEL_EMBEDDINGS, LOSSES
from tests.framework import test_aggregators, test_distances, test_losses
from tests.registered import names_of

from embedprop.framework import modules  # noqa: F401 (registers every part)
from embedprop.instance.catalog import KINDS, catalog, parse_part
from embedprop.instance.registry import Registry
from embedprop.methods.epb.negatives import NEGATIVES
from embedprop.methods.epb.neighborhoods import NEIGHBORHOODS
from embedprop.model.representations import REPRESENTATIONS

REGISTRIES: dict[str, Registry] = {
    registry.kind: registry
    for registry in (
        LABEL_EMBEDDINGS, AGGREGATORS, DISTANCES, LOSSES, NEGATIVES, NEIGHBORHOODS, REPRESENTATIONS,
    )
}  # fmt: skip
PARTS = [(kind, name) for kind, registry in REGISTRIES.items() for name in registry]


def test_the_catalog_has_the_kinds_and_names_of_the_registries() -> None:
    assert list(REGISTRIES) == list(KINDS) == list(catalog())
    for kind, registry in REGISTRIES.items():
        assert set(catalog()[kind]) == names_of(registry)
        assert len(registry) > 1


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_every_part_is_described_by_the_first_line_of_its_class(kind: str, name: str) -> None:
    first = (REGISTRIES[kind][name].__doc__ or "").strip().splitlines()[0]
    info = catalog()[kind][name]
    assert info.description == first
    assert len(first) > 10
    assert first.endswith(".")


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_its_parameters_are_those_of_the_class_that_have_defaults(kind: str, name: str) -> None:
    part = REGISTRIES[kind][name]
    own = "__init__" in vars(part)
    signature = inspect.signature(part.__init__).parameters.values() if own else ()
    expected = {p.name: p.default for p in signature if p.default is not p.empty}
    assert catalog()[kind][name].parameters == expected


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_it_can_be_chosen_by_name_with_all_its_parameters(kind: str, name: str) -> None:
    parameters = catalog()[kind][name].parameters
    assert parse_part(kind, name).name == name
    given = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    part = parse_part(kind, f"{name}({given})")
    assert (part.name, part.parameters) == (name, parameters)
    assert parse_part(kind, str(part)) == part


def test_no_part_of_the_framework_goes_without_its_own_tests() -> None:
    assert set(test_aggregators.PLAIN) == names_of(AGGREGATORS)
    assert set(test_distances.PLAIN) == names_of(DISTANCES)
    assert {name for name, _ in test_losses.EXPECTED} | {"decorrelation"} == names_of(LOSSES)

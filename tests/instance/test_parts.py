"""The parts of EP that a user can exchange."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from embedprop import Parts
from embedprop.errors import InvalidParameterError, UnknownParameterError
from embedprop.instance.catalog import REGISTRIES, registry_of
from embedprop.instance.parts import PARTS_OF_TYPE


def test_nothing_given_is_epb() -> None:
    assert Parts.of(None) == Parts.of({}) == Parts()
    assert Parts().to_dict() == {}
    assert repr(Parts()) == "Parts()"


def test_a_dict_is_the_same_as_parts() -> None:
    given = {"loss": "softmax(temperature=0.2)", "distance": {"word": "cosine"}, "refine": False}
    parts = Parts.of(given)
    assert parts == Parts(**given)
    assert Parts.of(parts) is parts
    assert parts.to_dict() == {
        "distance": {"word": "cosine"}, "loss": "softmax(temperature=0.2)", "refine": False
    }  # fmt: skip
    assert Parts.of(parts.to_dict()) == parts
    assert eval(repr(parts), {"Parts": Parts}) == parts


def test_they_cannot_be_changed() -> None:
    parts = Parts(loss="softmax")
    with pytest.raises(FrozenInstanceError):
        parts.loss = "logistic"  # type: ignore[misc]


def test_they_can_be_copied_and_pickled() -> None:
    parts = Parts(distance={"word": "cosine"})
    for twin in (pickle.loads(pickle.dumps(parts)), copy.deepcopy(parts)):
        assert twin == parts


@pytest.mark.parametrize(
    ("name", "meant"),
    [("los", "'loss'"), ("agregator", "'aggregator'"), ("reconstuction", "'reconstruction'")],
)
def test_a_mistyped_name_is_answered_with_the_nearest(name: str, meant: str) -> None:
    with pytest.raises(UnknownParameterError) as caught:
        Parts.of({name: "max"})
    assert str(caught.value).startswith(f"parts has no field {name!r}. It has: label_embedding, ")
    assert str(caught.value).endswith(f" Did you mean {meant}?")


@pytest.mark.parametrize("given", ["softmax", ["loss"], 3, True])
def test_what_is_not_a_dict_is_refused(given: Any) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        Parts.of(given)
    assert str(caught.value) == (
        f"parts={given!r}: expected Parts(...) or a dict such as "
        f"{{'distance': 'squared_euclidean'}}, got {type(given).__name__}."
    )


@pytest.mark.parametrize("value", [0, 0.0, False])
def test_only_the_default_itself_is_left_out(value: Any) -> None:
    expected = {} if type(value) is float else {"label_dropout": value}
    assert Parts(label_dropout=value).to_dict() == expected


def test_each_kind_of_part_has_a_registry() -> None:
    names = {one.name for one in fields(Parts)}
    assert set(PARTS_OF_TYPE) <= names
    for name in (*PARTS_OF_TYPE, "representation"):
        assert registry_of(name) in REGISTRIES.values()

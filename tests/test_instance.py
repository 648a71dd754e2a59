from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from embedprop import EmbeddingPropagation
from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.instance import Instance, LabelTypeInstance, require_count, require_positive

TYPES = ["node", "word"]


def instance_of(**params: Any) -> Instance:
    return Instance.from_params(EmbeddingPropagation(**params).get_params(), TYPES)


def test_one_number_holds_for_every_label_type() -> None:
    instance = instance_of(dim=7, margin=2)
    assert instance.label_types == dict.fromkeys(TYPES, LabelTypeInstance(7, 2.0))


def test_a_dict_gives_each_label_type_its_own_number() -> None:
    instance = instance_of(dim={"word": 3, "node": 5}, margin={"node": 0.5, "word": 20})
    assert instance.label_types == {
        "node": LabelTypeInstance(5, 0.5),
        "word": LabelTypeInstance(3, 20.0),
    }
    assert list(instance.label_types) == TYPES


@pytest.mark.parametrize("name", ["dim", "margin"])
@pytest.mark.parametrize("value", [{"node": 4}, {"node": 4, "word": 4, "wrod": 4}, {}])
def test_a_dict_must_fit_the_label_types(name: str, value: dict[str, int]) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        instance_of(**{name: value})
    assert str(caught.value) == (
        f"{name}={value!r} must have one entry for each label type that is learned: 'node', 'word'."
    )


@pytest.mark.parametrize(
    ("params", "start"),
    [
        ({"dim": {"node": 4, "word": 0}}, "dim['word']=0 is not possible"),
        ({"margin": {"node": -1, "word": 1}}, "margin['node']=-1 is not possible"),
        ({"margin": -1, "dim": {"node": 4, "word": 4}}, "margin=-1 is not possible"),
        ({"dim": 0, "margin": {"node": 1, "word": 1}}, "dim=0 is not possible"),
    ],
)
def test_a_message_names_the_entry_that_is_wrong(params: dict[str, Any], start: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        instance_of(**params)
    assert str(caught.value).startswith(start)


def test_an_unknown_instance_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        UnknownComponentError, match=r"instance='epc' is not known\. Choose one of: 'epb', 'eps'\."
    ):
        instance_of(instance="epc")


def test_a_description_becomes_plain_values() -> None:
    assert instance_of(dim=2, max_neighbors=5).to_dict() == {
        "name": "epb",
        "label_types": {name: {"dim": 2, "margin": 1.0, "regularization": None} for name in TYPES},
        "n_negatives": 1,
        "negatives": "uniform",
        "neighborhood": "neighbors",
        "max_neighbors": 5,
        "restart": None,
    }


@pytest.mark.parametrize("value", [1, np.int32(1), np.uint8(1), np.array(1)])
def test_any_whole_number_is_a_count(value: Any) -> None:
    number = require_count("dim", value)
    assert number == 1
    assert type(number) is int


@pytest.mark.parametrize(
    "value", [0, -3, 1.0, "1", None, True, math.nan, [1], np.array([1, 2]), np.float32(2), {}]
)
def test_anything_else_is_no_count(value: Any) -> None:
    with pytest.raises(
        InvalidParameterError,
        match=r"^dim=(.|\n)* is not possible: it must be a whole number of at least 1\.$",
    ):
        require_count("dim", value)


def test_a_count_may_start_at_zero() -> None:
    assert require_count("epochs", 0, least=0) == 0
    with pytest.raises(InvalidParameterError, match=r"epochs=-1 .* at least 0"):
        require_count("epochs", -1, least=0)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), Decimal(2), np.array(2.0)])
def test_any_number_above_zero_is_positive(value: Any) -> None:
    number = require_positive("margin", value)
    assert number == 2.0
    assert type(number) is float


@pytest.mark.parametrize(
    "value", [0, -1.5, math.nan, math.inf, -math.inf, pytest.param(10**400, id="beyond floats")]
)
def test_a_number_that_is_not_positive_and_finite_is_refused(value: Any) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"^margin=.* is not possible: it must be finite and above 0\.$"
    ):
        require_positive("margin", value)


@pytest.mark.parametrize("value", ["1", None, True, [1.0], 1j, np.array([1.0, 2.0])])
def test_what_is_no_number_is_not_positive(value: Any) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"^margin=.* is not possible: it must be a number above 0\.$"
    ):
        require_positive("margin", value)

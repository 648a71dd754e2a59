"""What a single parameter may be."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.instance.require import (
    per_some_types,
    per_type,
    require_bool,
    require_count,
    require_one_of,
    require_positive,
    require_share,
)


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
        match=r"^dim=(.|\n)*: expected a whole number of at least 1, got (.|\n)*\.$",
    ):
        require_count("dim", value)


def test_a_count_may_start_at_zero() -> None:
    assert require_count("epochs", 0, least=0) == 0
    with pytest.raises(InvalidParameterError, match=r"epochs=-1: .* at least 0"):
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
        InvalidParameterError, match=r"^margin=.*: expected a finite number above 0, got .*\.$"
    ):
        require_positive("margin", value)


@pytest.mark.parametrize("value", ["1", None, True, [1.0], 1j, np.array([1.0, 2.0])])
def test_what_is_no_number_is_not_positive(value: Any) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"^margin=.*: expected a number above 0, got .*\.$"
    ):
        require_positive("margin", value)


@pytest.mark.parametrize("value", [0, 0.0, 0.5, np.float32(0.25), 0.999])
def test_a_share_is_from_0_to_below_1(value: Any) -> None:
    assert require_share("label_dropout", value) == pytest.approx(float(value))


@pytest.mark.parametrize("value", [1, -0.1, 2, math.nan, "0", None, False])
def test_anything_else_is_not_a_share(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^label_dropout=.*: expected "):
        require_share("label_dropout", value)


@pytest.mark.parametrize("value", [1, 0, "yes", None, np.bool_(True)])
def test_only_true_and_false_are_true_or_false(value: Any) -> None:
    assert require_bool("refine", False) is False
    with pytest.raises(InvalidParameterError, match=r": expected True or False, got .*\.$"):
        require_bool("refine", value)


@pytest.mark.parametrize(
    ("value", "hint"), [("linar", " Did you mean 'linear'?"), ("x", ""), (None, ""), ([1], "")]
)
def test_one_of_a_few_is_refused_with_the_few(value: Any, hint: str) -> None:
    with pytest.raises(UnknownComponentError) as caught:
        require_one_of("schedule", value, ("constant", "linear"))
    assert str(caught.value) == (
        f"schedule={value!r} is not known. Choose one of: 'constant', 'linear'.{hint}"
    )


def test_a_dict_for_all_label_types_has_each() -> None:
    types = ["node", "word"]
    assert per_type("dim", 3, types) == {"node": ("dim", 3), "word": ("dim", 3)}
    found = per_type("dim", {"word": 5, "node": 4}, types)
    assert list(found.items()) == [("node", ("dim['node']", 4)), ("word", ("dim['word']", 5))]
    with pytest.raises(InvalidParameterError, match="expected one entry for each label type"):
        per_type("dim", {"word": 5}, types)


def test_a_dict_for_some_label_types_may_leave_others_out() -> None:
    types = ["node", "word"]
    found = per_some_types("loss", {"word": "softmax"}, types)
    assert found == {"node": ("loss['node']", None), "word": ("loss['word']", "softmax")}
    with pytest.raises(InvalidParameterError) as caught:
        per_some_types("loss", {"wrod": "softmax"}, types)
    assert str(caught.value) == (
        "loss has an entry for 'wrod', which is not a label type that is learned. Those are: "
        "'node', 'word'. Did you mean 'word'?"
    )

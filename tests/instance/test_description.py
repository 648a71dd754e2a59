from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from embedprop.instance.description import (
    Instance,
    LabelTypeInstance,
    require_count,
    require_positive,
)

from embedprop import EmbeddingPropagation
from embedprop.errors import InvalidParameterError, UnknownComponentError

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


def test_a_description_becomes_plain_values_and_back() -> None:
    instance = instance_of(dim=2, max_neighbors=5, loss="softmax(temperature=0.2)", refine=False)
    epb = {
        "dim": 2,
        "margin": 1.0,
        "regularization": None,
        "kind": "set",
        "label_embedding": "lookup",
        "aggregator": "mean",
        "reconstruction": "mean",
        "distance": "euclidean",
        "loss": "softmax(temperature=0.2)",
        "refine": False,
        "label_dropout": 0.0,
    }
    assert instance.to_dict() == {
        "name": "epb",
        "label_types": dict.fromkeys(TYPES, epb),
        "n_negatives": 1,
        "negatives": "uniform",
        "neighborhood": "neighbors",
        "max_neighbors": 5,
        "restart": None,
        "representation": "concatenation",
        "n_relations": 0,
        "inverse_relations": False,
    }
    assert Instance.from_dict(json.loads(json.dumps(instance.to_dict()))) == instance


KINDS = {"node": "set", "word": "set", "title": "text", "age": "numeric", "face": "image"}


def parts_of(part: str, given: Any) -> dict[str, str]:
    params = EmbeddingPropagation(**{part: given}).get_params()
    types = Instance.from_params(params, KINDS).label_types
    return {name: getattr(one, part) for name, one in types.items()}


DEFAULT_F = {
    "node": "lookup",
    "word": "lookup",
    "title": "lookup",
    "age": "piecewise_linear",
    "face": "cnn",
}


@pytest.mark.parametrize(
    ("given", "others"),
    [
        (None, {}),
        ("mlp(hidden=4)", {"age": "mlp(hidden=4)", "face": "mlp(hidden=4)"}),
        ("gru", {"title": "gru"}),
        ({"face": "linear"}, {"face": "linear"}),
        ({"title": "transformer(heads=2)", "age": None}, {"title": "transformer(heads=2)"}),
        # One module for all reads the contents of labels; ids keep their table.
        (abs, dict.fromkeys(["title", "age", "face"], "custom builtin_function_or_method")),
        ({"word": abs}, {"word": "custom builtin_function_or_method"}),
    ],
)
def test_every_label_type_has_an_f_that_reads_its_kind(given: Any, others: dict[str, str]) -> None:
    assert parts_of("label_embedding", given) == DEFAULT_F | others


@pytest.mark.parametrize("part", ["aggregator", "reconstruction"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("max", dict.fromkeys(KINDS, "max")),
        ({"word": "attention"}, dict.fromkeys(KINDS, "mean") | {"word": "attention"}),
        (len, dict.fromkeys(KINDS, "custom builtin_function_or_method")),
    ],
)
def test_a_part_holds_for_all_label_types_or_for_those_of_a_dict(
    part: str, given: Any, expected: dict[str, str]
) -> None:
    assert parts_of(part, given) == expected


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"label_embedding": {"age": "cnn"}},
            r"^label_embedding\['age'\]='cnn' cannot read label type 'age', which is of kind "
            r"'numeric'\. Choose one of: 'linear', 'mlp', 'piecewise_linear', 'quantile_bins'\.$",
        ),
        (
            {"label_embedding": {"word": "mlp"}},
            r"'word', which is of kind 'set'\. Choose one of: 'lookup'\.$",
        ),
        (
            {"loss": {"wrod": "softmax"}},
            r"^loss has an entry for 'wrod', which is no label type that is learned\. There are: ",
        ),
        ({"loss": "softmax(heat=1)"}, r"'softmax' has no parameter 'heat'\. It has: 'temperature'"),
        ({"distance": "cosine(x=1)"}, r"'cosine' has no parameter 'x'\. It has: none\."),
        ({"loss": "margin_ranking(margin=-1)"}, r"^margin=-1 is not possible"),
        (
            {"aggregator": {"word": "custom Mine"}},
            r"aggregator\['word'\]='custom Mine' was a module",
        ),
        *[({"refine": bad}, r"^refine=.* is not possible: it is True or False") for bad in (1, "")],
        *[({"label_dropout": bad}, r"^label_dropout=.* is not possible") for bad in (1, -0.1, "0")],
        ({"refine": {"word": True}}, r"must have one entry for each label type"),
    ],
)
def test_a_part_that_cannot_be_is_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Instance.from_params(EmbeddingPropagation(**params).get_params(), KINDS)


@pytest.mark.parametrize(
    ("part", "known"),
    [
        ("label_embedding", "'lookup'"),
        ("aggregator", "'mean'"),
        ("reconstruction", "'mean'"),
        ("distance", "'euclidean'"),
        ("loss", "'margin_ranking'"),
        ("negatives", "'uniform'"),
        ("neighborhood", "'neighbors'"),
        ("representation", "'concatenation'"),
    ],
)
@pytest.mark.parametrize("bad", ["nope", "max(", 3, ["max"], "max(1)", ""])
def test_an_unknown_part_is_refused_with_the_known_ones(part: str, known: str, bad: Any) -> None:
    with pytest.raises(UnknownComponentError) as caught:
        instance_of(**{part: bad})
    assert str(caught.value).startswith(f"{part}={bad!r} is not known. Choose one of: ")
    assert known in str(caught.value)


@pytest.mark.parametrize("loss", ["margin_ranking", "logistic"])
def test_the_margin_of_a_loss_is_the_margin_of_its_label_type(loss: str) -> None:
    types = instance_of(margin=2, loss={"word": f"{loss}(margin=5)"}).label_types
    assert (types["node"].margin, types["word"].margin) == (2.0, 5.0)
    assert types["word"].loss == loss


def test_a_margin_of_nothing_is_for_losses_that_do_not_rank() -> None:
    assert instance_of(loss="logistic(margin=0)").label_types["word"].margin == 0
    with pytest.raises(InvalidParameterError, match="margin=0 is not possible"):
        instance_of(loss="margin_ranking(margin=0)")


@pytest.mark.parametrize(
    ("params", "is_epb"),
    [
        ({}, True),
        ({"loss": "margin_ranking(margin=7)", "distance": "euclidean"}, True),
        ({"representation": "both", "negatives": "shared", "neighborhood": "walks"}, True),
        ({"distance": {"word": "squared_euclidean"}}, True),
        ({"loss": "logistic"}, False),
        ({"distance": {"word": "cosine"}}, False),
        ({"aggregator": "sum"}, False),
        ({"reconstruction": "max"}, False),
        ({"label_embedding": {"word": abs}}, False),
        ({"refine": False}, False),
        ({"label_dropout": 0.1}, False),
        ({"label_dropout": {"node": 0, "word": 0.0}}, True),
    ],
)
def test_it_is_epb_where_all_its_parts_are(params: dict[str, Any], is_epb: bool) -> None:
    assert instance_of(**params).is_epb is is_epb


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


@pytest.mark.parametrize(
    "params",
    [{"loss": "softmax"}, {"representation": "pagerank"}, {"distance": {"word": "cosine"}}],
)
def test_the_closed_form_refuses_parts_that_it_does_not_have(params: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match="has no meaning for instance='eps'"):
        instance_of(instance="eps", **params)

"""The description of EP-B and of other instances of the framework."""

from __future__ import annotations

import json
from typing import Any

import pytest

from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.instance.catalog import LABEL_EMBEDDINGS
from embedprop.instance.epb import EPBInstance, TypeInstance, reads_kind
from embedprop.instance.instance import INSTANCES
from embedprop.instance.parameters import EPBParameters

TYPES = ["node", "word"]
KINDS = {"node": "set", "word": "set", "title": "text", "age": "numeric", "face": "image"}


def instance_of(kinds: dict[str, str] | None = None, **given: Any) -> EPBInstance:
    """Return the instance of some parameters; those of `Parts` may stand among them."""
    own = {name: value for name, value in given.items() if name in EPBParameters.__annotations__}
    parts = {name: value for name, value in given.items() if name not in own}
    parameters = EPBParameters(**own, parts=parts or None)
    return EPBInstance.of(parameters, kinds or dict.fromkeys(TYPES, "set"))


def test_one_number_holds_for_every_label_type() -> None:
    instance = instance_of(dim=7, margin=2)
    assert instance.label_types == dict.fromkeys(TYPES, TypeInstance(7, 2.0))


def test_a_dict_gives_each_label_type_its_own_number() -> None:
    instance = instance_of(dim={"word": 3, "node": 5}, margin={"node": 0.5, "word": 20})
    assert instance.label_types == {
        "node": TypeInstance(5, 0.5),
        "word": TypeInstance(3, 20.0),
    }
    assert list(instance.label_types) == TYPES


@pytest.mark.parametrize("name", ["dim", "margin"])
@pytest.mark.parametrize("value", [{"node": 4}, {"node": 4, "word": 4, "wrod": 4}, {}])
def test_a_dict_must_fit_the_label_types(name: str, value: dict[str, int]) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        instance_of(**{name: value})
    assert str(caught.value) == (
        f"{name}={value!r}: expected one entry for each label type that is learned "
        f"('node', 'word'), got {', '.join(map(repr, value)) or 'none'}."
    )


@pytest.mark.parametrize(
    ("params", "start"),
    [
        ({"dim": {"node": 4, "word": 0}}, "dim['word']=0: expected"),
        ({"margin": {"node": -1, "word": 1}}, "margin['node']=-1: expected"),
        ({"margin": -1, "dim": {"node": 4, "word": 4}}, "margin=-1: expected"),
        ({"dim": 0, "margin": {"node": 1, "word": 1}}, "dim=0: expected"),
    ],
)
def test_a_message_names_the_entry_that_is_wrong(params: dict[str, Any], start: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        instance_of(**params)
    assert str(caught.value).startswith(start)


def test_a_saved_method_is_found_by_its_name_and_the_one_it_had_before() -> None:
    assert INSTANCES["epb"] is EPBInstance
    assert INSTANCES["eps"] is INSTANCES["closed-form"]
    with pytest.raises(UnknownComponentError, match="method='epc' is not known"):
        INSTANCES["epc"]


def test_a_description_becomes_plain_values_and_back() -> None:
    instance = instance_of(dim=2, max_neighbors=5, loss="softmax(temperature=0.2)", refine=False)
    epb = {
        "dim": 2,
        "margin": 1.0,
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
        "label_types": dict.fromkeys(TYPES, epb),
        "n_negatives": 1,
        "negatives": "uniform",
        "neighborhood": "neighbors",
        "max_neighbors": 5,
        "representation": "concatenation",
        "n_relations": 0,
    }
    assert EPBInstance.from_dict(json.loads(json.dumps(instance.to_dict()))) == instance


def parts_of(part: str, given: Any) -> dict[str, str]:
    types = instance_of(KINDS, **{part: given}).label_types
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
            r"^loss has an entry for 'wrod', which is not a label type that is learned",
        ),
        ({"loss": "softmax(heat=1)"}, r"'softmax' has no parameter 'heat'\. It has: 'temperature'"),
        ({"distance": "cosine(x=1)"}, r"'cosine' has no parameter 'x'\. It has: none\."),
        ({"loss": "margin_ranking(margin=-1)"}, r"^margin=-1: expected"),
        (
            {"aggregator": {"word": "custom Mine"}},
            r"aggregator\['word'\]='custom Mine' was a module",
        ),
        *[({"refine": bad}, r"^refine=.* expected True or False") for bad in (1, "")],
        *[({"label_dropout": bad}, r"^label_dropout=.*: expected") for bad in (1, -0.1, "0")],
        ({"refine": {"word": True}}, r"expected one entry for each label type"),
    ],
)
def test_a_part_that_cannot_be_is_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        instance_of(KINDS, **params)


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
    with pytest.raises(InvalidParameterError, match="margin=0: expected"):
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
    assert (instance_of(**params).beyond_epb is None) is is_epb


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ({"loss": "logistic"}, "label type 'node' has loss='logistic'"),
        ({"distance": {"word": "cosine"}}, "label type 'word' has distance='cosine'"),
        ({"refine": False}, "label type 'node' has refine=False"),
        ({"label_dropout": {"node": 0, "word": 0.25}}, "label type 'word' has label_dropout=0.25"),
        ({"aggregator": len}, "'node' has aggregator='custom builtin_function_or_method'"),
    ],
)
def test_what_is_beyond_epb_is_said_in_words(params: dict[str, Any], what: str) -> None:
    assert str(instance_of(**params).beyond_epb).endswith(what)


@pytest.mark.parametrize(
    ("types", "given", "expected"),
    [
        (["node"], {"n_negatives": "auto", "negatives": "auto"}, (2, "degree")),
        (["node", "word"], {"n_negatives": "auto", "negatives": "auto"}, (1, "uniform")),
        (["word"], {"n_negatives": "auto", "negatives": "auto"}, (1, "uniform")),
        (["node"], {"n_negatives": 3, "negatives": "shared"}, (3, "shared")),
        (["node"], {}, (1, "uniform")),
    ],
)
def test_auto_takes_more_and_harder_negatives_where_ids_are_alone(
    types: list[str], given: dict[str, Any], expected: tuple[int, str]
) -> None:
    instance = instance_of(dict.fromkeys(types, "set"), **given)
    assert (instance.n_negatives, instance.negatives) == expected


def test_it_knows_what_is_read_as_words_and_what_as_values() -> None:
    instance = instance_of(KINDS, dim=3, distance={"word": "cosine"})
    assert instance.word_sets == ["title"]
    assert instance.value_types == ["age", "face"]
    assert instance.dims == dict.fromkeys(KINDS, 3)
    assert instance.distances == dict.fromkeys(KINDS, "euclidean") | {"word": "cosine"}
    in_order = instance_of(KINDS, label_embedding={"title": "gru"})
    assert (in_order.word_sets, in_order.value_types) == ([], ["title", "age", "face"])


@pytest.mark.parametrize("kind", ["set", "text", "numeric", "image"])
def test_every_kind_of_label_has_an_f(kind: str) -> None:
    assert any(reads_kind(name, kind) for name in LABEL_EMBEDDINGS)

"""The parameters of both methods: documented, and kept with a model as JSON can hold them."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embedprop import ClosedForm, EmbeddingPropagation, Parts
from embedprop.instance.parameters import (
    FAST,
    PARAMETERS,
    ClosedFormParameters,
    EPBParameters,
    fast_settings,
    settings_of,
)

MOST = {"epb": 20, "closed-form": 9}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_constructor_has_few_parameters(name: str) -> None:
    assert len(fields(PARAMETERS[name])) <= MOST[name]


@pytest.mark.parametrize("documented", [EPBParameters, ClosedFormParameters, Parts])
def test_every_parameter_is_documented_in_its_place(documented: Any) -> None:
    text = inspect.getdoc(documented) or ""
    section = text.partition("Parameters\n----------\n")[2].partition("\n\nExamples\n")[0]
    assert re.findall(r"^(\w+) : ", section, re.MULTILINE) == [
        one.name for one in fields(documented)
    ]


@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [(EmbeddingPropagation, EPBParameters), (ClosedForm, ClosedFormParameters)],
)
def test_an_estimator_shows_them_in_its_own_help(estimator: Any, parameters: Any) -> None:
    text = inspect.getdoc(estimator) or ""
    for one in fields(parameters):
        assert f"\n{one.name} : " in text
    assert text.index("Parameters\n") < text.index("Examples\n")
    assert list(inspect.signature(estimator).parameters) == [one.name for one in fields(parameters)]


def test_what_is_given_wins_over_the_fast_settings() -> None:
    assert fast_settings({}) == dict(FAST)
    assert fast_settings({"epochs": 7, "dim": 3}) == dict(FAST) | {"epochs": 7, "dim": 3}


@pytest.mark.parametrize(
    ("given", "most"),
    [
        ({"neighborhood": "neighbors"}, 20),
        ({"neighborhood": "walks"}, None),
        ({"neighborhood": "walks", "max_neighbors": 20}, 20),
    ],
)
def test_the_most_neighbors_are_for_one_kind_of_neighborhood(
    given: dict[str, Any], most: int | None
) -> None:
    assert fast_settings(given).get("max_neighbors") == most


class Own:
    def __call__(self) -> None: ...


def test_settings_are_what_json_can_hold() -> None:
    parameters = EPBParameters(
        dim={"node": np.int64(3)},
        margin=np.float32(2),
        label_types=("node", "word"),
        parts=Parts(aggregator=Own(), loss={"word": Own()}, distance="cosine"),
        pretrained={"word": Path("w2v.txt"), "node": {"a": np.zeros(3)}},
    )
    settings = settings_of(parameters)
    assert json.loads(json.dumps(settings)) == settings
    assert settings["dim"] == {"node": 3}
    assert settings["margin"] == 2.0
    assert settings["label_types"] == ["node", "word"]
    assert settings["parts"] == {
        "aggregator": "custom Own", "distance": "cosine", "loss": {"word": "custom Own"}
    }  # fmt: skip
    assert settings["pretrained"] == {"word": "w2v.txt"}


@pytest.mark.parametrize("name", PARAMETERS)
def test_settings_of_defaults_are_the_defaults(name: str) -> None:
    parameters = PARAMETERS[name]()
    assert settings_of(parameters) == {
        one.name: getattr(parameters, one.name) for one in fields(parameters)
    }

"""The description of an instance in closed form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from embedprop.errors import InvalidParameterError
from embedprop.instance.closed_form import ClosedFormInstance, ClosedFormType
from embedprop.instance.parameters import ClosedFormParameters

TYPES = ["node", "word"]


def instance_of(**params: Any) -> ClosedFormInstance:
    return ClosedFormInstance.of(ClosedFormParameters(**params), TYPES)


def test_ids_and_labels_have_regularizations_of_their_own() -> None:
    assert instance_of(dim=7).label_types == {
        "node": ClosedFormType(7, 0.3), "word": ClosedFormType(7, 5.0)
    }  # fmt: skip
    assert instance_of(dim=7, regularization={"word": 2}).label_types == {
        "node": ClosedFormType(7, 0.3), "word": ClosedFormType(7, 2.0)
    }  # fmt: skip
    assert instance_of(regularization=1).label_types["node"].regularization == 1.0


def test_it_answers_what_every_description_answers() -> None:
    instance = instance_of(dim={"node": 3, "word": 4})
    assert instance.name == "closed-form"
    assert instance.dims == {"node": 3, "word": 4}
    assert instance.distances == dict.fromkeys(TYPES, "squared_euclidean")
    assert instance.word_sets == instance.value_types == []


def test_it_becomes_plain_values_and_back() -> None:
    instance = instance_of(dim=2, restart=0.5)
    assert instance.to_dict() == {
        "label_types": {
            "node": {"dim": 2, "regularization": 0.3},
            "word": {"dim": 2, "regularization": 5.0},
        },
        "restart": 0.5,
    }
    assert ClosedFormInstance.from_dict(json.loads(json.dumps(instance.to_dict()))) == instance


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"dim": 0}, "^dim=0: expected"),
        ({"dim": {"node": 3}}, "^dim=.* expected one entry for each label type"),
        ({"regularization": 0}, "^regularization=0: expected"),
        ({"regularization": {"node": -1}}, r"^regularization\['node'\]=-1: expected"),
        ({"regularization": {"wrod": 1}}, r"an entry for 'wrod'.* Did you mean 'word'\?$"),
        ({"restart": 0}, "^restart=0: expected"),
        ({"restart": 1.5}, r"^restart=1\.5: expected a number above 0 and at most 1, got 1\.5\.$"),
    ],
)
def test_what_cannot_be_is_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        instance_of(**params)

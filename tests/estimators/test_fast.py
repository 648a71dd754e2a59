"""EmbeddingPropagation.fast: the settings that we recommend, and those that are given instead."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest
from sklearn.base import clone
from typer.testing import CliRunner

from embedprop import EmbeddingPropagation, Graph
from embedprop.cli.main import app
from embedprop.errors import UnknownParameterError
from embedprop.instance.parameters import FAST

RING_EDGES = [(i, (i + 1) % 12) for i in range(12)]
RING = Graph.from_edges(RING_EDGES)
WITH_WORDS = Graph.from_edges(RING_EDGES, labels={"word": {0: ["x"], 1: ["x", "y"]}})


def fast(**settings: object) -> EmbeddingPropagation:
    return EmbeddingPropagation.fast(dim=2, verbose=False, **settings)


def test_it_is_an_estimator_with_these_settings() -> None:
    model = fast()
    assert type(model) is EmbeddingPropagation
    assert FAST.items() <= model.get_params().items()
    ordinary = EmbeddingPropagation(dim=2, verbose=False).get_params()
    assert {name for name, value in model.get_params().items() if value != ordinary[name]} == set(
        FAST
    )


def test_they_are_what_is_learned_with() -> None:
    model = fast().fit(RING)
    assert len(model.loss_history_["node"]) == FAST["epochs"] == 120
    assert model.instance_.max_neighbors == FAST["max_neighbors"]
    assert model.instance_.label_types["node"].margin == FAST["margin"]


@pytest.mark.parametrize(
    ("graph", "label_types", "expected"),
    [
        (RING, None, (2, "degree")),
        (WITH_WORDS, None, (1, "uniform")),
        (WITH_WORDS, ["node"], (2, "degree")),
        (WITH_WORDS, ["word"], (1, "uniform")),
    ],
)
def test_negatives_follow_from_the_label_types_that_are_learned(
    graph: Graph, label_types: list[str] | None, expected: tuple[int, str]
) -> None:
    instance = fast(epochs=1, label_types=label_types).fit(graph).instance_
    assert (instance.n_negatives, instance.negatives) == expected


@pytest.mark.parametrize("epochs", [3, 200])
def test_what_is_given_wins_even_if_it_is_the_default(epochs: int) -> None:
    model = fast(epochs=epochs)
    for twin in (model, clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin.epochs == epochs
        assert twin.margin == FAST["margin"]


def test_what_is_set_later_wins() -> None:
    by_name, by_attribute = fast().set_params(epochs=200), fast()
    by_attribute.epochs = 7
    assert clone(by_name).epochs == 200
    assert clone(by_attribute).epochs == 7


def test_parts_can_be_given_too() -> None:
    assert fast(parts={"distance": "squared_euclidean"}).get_params()["parts__distance"] == (
        "squared_euclidean"
    )


@pytest.mark.parametrize(("given", "most"), [({}, None), ({"max_neighbors": 1}, 1)])
def test_another_neighborhood_keeps_its_own_number_of_neighbors(
    given: dict[str, int], most: int | None
) -> None:
    model = fast(neighborhood="edges", epochs=1, **given)
    assert model.max_neighbors == most
    model.fit(RING)


def test_a_loaded_model_goes_on_as_it_was_learned(tmp_path: Path) -> None:
    model = fast(epochs=3).fit(RING)
    model.save(tmp_path / "model")
    loaded = EmbeddingPropagation.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    loaded.set_params(epochs=2).fit(WITH_WORDS)
    assert loaded.instance_.negatives == "uniform"  # for graphs with other labels
    assert loaded.instance_.label_types["word"].margin == FAST["margin"]


def test_a_mistyped_setting_is_refused() -> None:
    with pytest.raises(UnknownParameterError, match=r"'epoch'.* Did you mean 'epochs'\?"):
        fast(epoch=3)


@pytest.mark.parametrize("method", [[], ["--method", "epb"]])
def test_the_shell_has_the_same_settings(tmp_path: Path, method: list[str]) -> None:
    edges, out = tmp_path / "edges.csv", tmp_path / "model"
    edges.write_text("source,target\na,b\nb,c\nc,a\n")
    arguments = ["fit", str(edges), "--out", str(out), "--fast", "--dim", "2", *method]
    result = CliRunner().invoke(app, [*arguments, "--epochs", "4", "--margin", "1.0", "--quiet"])
    assert result.exit_code == 0, result.output
    settings = json.loads((out / "manifest.json").read_text())["settings"]
    assert settings["method"] == "epb"
    assert settings["parameters"] == dict(
        EmbeddingPropagation.fast(dim=2, epochs=4, margin=1.0, verbose=False).get_params(deep=False)
    )

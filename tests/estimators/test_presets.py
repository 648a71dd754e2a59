"""A preset fills in what was not given, and nothing else."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from embedprop.methods.presets import IDS_ALONE, PRESETS
from sklearn.base import clone
from typer.testing import CliRunner

from embedprop import EmbeddingPropagation, Graph
from embedprop.cli.main import app
from embedprop.errors import UnknownComponentError
from embedprop.model.notices import UNUSED

RING = Graph.from_edges([(i, (i + 1) % 12) for i in range(12)])
FAST = PRESETS["fast"] | IDS_ALONE


def fitted(**params: object) -> EmbeddingPropagation:
    return EmbeddingPropagation(dim=2, verbose=False, **params).fit(RING)


def test_fast_settings_are_used() -> None:
    model = fitted(preset="fast")
    assert FAST.items() <= model.fit_params_.items()
    assert len(model.loss_history_["node"]) == FAST["epochs"]
    assert model.instance_.negatives == FAST["negatives"]
    assert model.epochs == 200  # the parameter itself stays as it was given


def test_the_papers_preset_is_the_defaults() -> None:
    plain, paper = fitted(epochs=3), fitted(epochs=3, preset="paper")
    assert (plain.node_embeddings_ == paper.node_embeddings_).all()


@pytest.mark.parametrize("epochs", [3, 200])
def test_what_is_given_wins_even_if_it_is_the_default(epochs: int) -> None:
    model = EmbeddingPropagation(preset="fast", epochs=epochs)
    for twin in (model, clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin._settled_params(["node"])["epochs"] == epochs
        assert twin._settled_params(["node", "word"])["margin"] == FAST["margin"]


def test_what_is_set_later_wins() -> None:
    by_name = EmbeddingPropagation(preset="fast").set_params(epochs=200)
    by_attribute = EmbeddingPropagation(preset="fast")
    by_attribute.epochs = 7
    assert by_name._settled_params(["node"])["epochs"] == 200
    assert by_attribute._settled_params(["node"])["epochs"] == 7
    assert clone(by_attribute)._settled_params(["node"])["epochs"] == 7


def test_another_neighborhood_keeps_its_own_number_of_neighbors() -> None:
    model = EmbeddingPropagation(preset="fast", neighborhood="edges")
    assert model._settled_params(["node"])["max_neighbors"] is None
    fitted(preset="fast", neighborhood="edges", epochs=1)


def test_a_loaded_model_goes_on_as_it_was_learned(tmp_path: Path) -> None:
    model = fitted(preset="fast")
    model.save(tmp_path / "model")
    loaded = EmbeddingPropagation.load(tmp_path / "model")
    assert loaded.fit_params_ == model.fit_params_
    words = Graph.from_edges([("a", "b"), ("b", "c")], labels={"word": {"a": ["x"]}})
    loaded.set_params(epochs=2).fit(words)
    assert loaded.instance_.negatives == "uniform"  # for graphs with other labels
    assert loaded.fit_params_["margin"] == FAST["margin"]


class Forwarding(EmbeddingPropagation):
    """A subclass that passes on all it has."""

    def __init__(self, dim: int = 2, epochs: int = 200, preset: str | None = "fast") -> None:
        super().__init__(dim=dim, epochs=epochs, preset=preset, verbose=False)


def test_a_subclass_that_passes_all_on_still_has_its_preset() -> None:
    assert Forwarding().fit(RING).fit_params_["epochs"] == FAST["epochs"]
    assert Forwarding(epochs=3).fit(RING).fit_params_["epochs"] == 3


def test_the_closed_form_has_no_preset_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    assert fitted(instance="eps", preset="fast").fit_params_["epochs"] == 200
    assert "instance='eps' does not use preset." in caplog.text


def test_the_closed_form_says_which_parameters_it_does_not_use(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fitted(instance="eps", epochs=7, engine="fused", n_threads=1)
    assert caplog.messages == [
        "instance='eps' does not use engine, epochs. Leave that out, or choose instance='epb'."
    ]


def test_ep_b_says_that_it_does_not_use_those_of_the_closed_form(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fitted(epochs=1, restart=0.5)
    assert "instance='epb' does not use restart." in caplog.text


@pytest.mark.parametrize("params", [{"restart": 0.2}, {"preset": None}, {"epochs": 200}])
def test_what_is_used_or_as_it_was_needs_no_warning(
    params: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    fitted(instance="eps", **params)
    assert "does not use" not in caplog.text


def test_a_parameter_that_is_set_later_counts_as_well(caplog: pytest.LogCaptureFixture) -> None:
    model = EmbeddingPropagation(instance="eps", dim=2, verbose=False)
    model.margin = 3.0
    model.fit(RING)
    assert "does not use margin." in caplog.text


def test_only_parameters_are_said_to_be_unused() -> None:
    for names in UNUSED.values():
        assert names <= EmbeddingPropagation().get_params().keys()


@pytest.mark.parametrize("name", ["quick", "", 3])
def test_an_unknown_preset_is_refused(name: object) -> None:
    with pytest.raises(UnknownComponentError, match="'paper', 'fast'"):
        fitted(preset=name)


def test_the_command_line_keeps_what_was_given(tmp_path: Path) -> None:
    edges, out = tmp_path / "edges.csv", tmp_path / "model"
    edges.write_text("source,target\na,b\nb,c\nc,a\n")
    arguments = ["fit", str(edges), "--out", str(out), "--preset", "fast", "--dim", "2"]
    result = CliRunner().invoke(app, [*arguments, "--epochs", "4", "--margin", "1.0", "--quiet"])
    assert result.exit_code == 0, result.output
    settled = EmbeddingPropagation.load(out).fit_params_
    assert (settled["epochs"], settled["margin"]) == (4, 1.0)
    assert settled["n_negatives"] == FAST["n_negatives"]

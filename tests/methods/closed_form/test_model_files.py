"""Models of the closed form, saved and loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from tests.methods.closed_form.made import made_graph

from embedprop import ClosedForm, Graph
from embedprop.errors import InvalidModelError
from embedprop.files.folder.load import load_model
from embedprop.files.folder.save import save_model
from embedprop.model.newcomers import Source

PARAMS: dict[str, dict[str, Any]] = {
    "words": {},
    "ids": {"label_types": ["node"]},
    "both": {"label_types": ["node", "word"], "dim": {"node": 9, "word": 5}},
    "one block": {"label_types": ["node"], "dim": 3},
    "regularization": {"regularization": {"word": 2.5}, "restart": 0.4, "random_state": None},
}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return made_graph(missing=True, weighted_labels=True)


def grown() -> Graph:
    return Graph.from_edges(
        [("a", 3), ("a", "b"), ("b", 17), ("b", 50), ("c", "d")],
        labels={"word": {"a": ["w1", "w2", "never seen"], "b": ["w9"]}},
        nodes=range(80),
    )


def changed(folder: Path, settings: dict[str, Any], arrays: dict[str, Any] | None = None) -> None:
    """Save a model anew with other settings and arrays; None leaves one out."""
    stored = load_model(folder)
    all_settings = stored.settings | settings
    all_arrays = {name: array.copy() for name, array in stored.arrays.items()} | (arrays or {})
    save_model(
        folder,
        settings={name: value for name, value in all_settings.items() if value is not None},
        arrays={name: array for name, array in all_arrays.items() if array is not None},
        vocabularies=stored.vocabularies,
    )


@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
def test_a_loaded_model_does_all_that_the_saved_one_does(
    params: dict[str, Any], graph: Graph, tmp_path: Path
) -> None:
    model = ClosedForm(**{"dim": 8} | params).fit(graph)
    model.save(tmp_path)
    loaded = ClosedForm.load(tmp_path, verify=True)
    assert loaded.get_params() == model.get_params()
    assert loaded.instance_ == model.instance_
    assert loaded.residuals_ == model.residuals_ != {}
    assert loaded.loss_history_ == {}
    assert loaded.seed_ == model.seed_
    assert loaded.node_embeddings_.tobytes() == model.node_embeddings_.tobytes()
    for name, vectors in model.label_embeddings_.items():
        assert loaded.label_embeddings_[name].tobytes() == vectors.tobytes()
        assert list(loaded.labels_[name]) == list(model.labels_[name])
    for source in get_args(Source):
        found = loaded.transform(grown(), source)
        assert found.tobytes() == model.transform(grown(), source).tobytes()
    assert loaded.transform_node([1, 2]).tobytes() == model.transform_node([1, 2]).tobytes()
    assert loaded.similar(3) == model.similar(3)


def test_a_loaded_model_can_be_saved_again(graph: Graph, tmp_path: Path) -> None:
    model = ClosedForm(dim=8, label_types=["node", "word"]).fit(graph)
    model.save(tmp_path / "one")
    ClosedForm.load(tmp_path / "one").save(tmp_path / "two")
    again = ClosedForm.load(tmp_path / "two")
    assert again.transform(grown()).tobytes() == model.transform(grown()).tobytes()
    assert again.residuals_ == model.residuals_


@pytest.mark.parametrize(
    "arrays",
    [
        {"factors": None},
        {"factors": np.zeros(7, np.float32)},
        {"totals": np.zeros((2, 80), np.float32)},
    ],
)
def test_parts_that_do_not_fit_together_are_a_damaged_model(
    arrays: dict[str, Any], graph: Graph, tmp_path: Path
) -> None:
    ClosedForm(dim=8, label_types=["node", "word"]).fit(graph).save(tmp_path)
    changed(tmp_path, {}, arrays)
    with pytest.raises(InvalidModelError, match="settings and arrays do not fit together"):
        ClosedForm.load(tmp_path)

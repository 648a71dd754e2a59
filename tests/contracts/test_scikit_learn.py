"""The estimator keeps scikit-learn's habits."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import EmbedpropError

SMALL = {"dim": 4, "epochs": 2, "n_threads": 1}


def test_the_constructor_only_stores() -> None:
    params = {"dim": {"node": 0}, "margin": "?", "label_types": ("a",), "engine": None}
    model = EmbeddingPropagation(**params)
    assert {name: getattr(model, name) for name in params} == params


def test_parameters_can_be_read_and_set() -> None:
    model = EmbeddingPropagation(dim=7)
    assert model.get_params()["dim"] == 7
    assert model.set_params(dim=9, margin=2.0) is model
    assert (model.dim, model.margin) == (9, 2.0)
    with pytest.raises(ValueError, match="Invalid parameter 'dimension'"):
        model.set_params(dimension=3)


def test_defaults_are_those_of_the_contract() -> None:
    params = EmbeddingPropagation().get_params()
    contract = {
        "instance": "epb", "dim": 128, "margin": 1.0, "epochs": 200, "batch_size": 64,
        "learning_rate": 1e-3, "label_types": None, "max_neighbors": None, "n_negatives": 1,
        "negatives": "uniform", "neighborhood": "neighbors", "engine": "auto",
        "n_threads": None, "random_state": 0, "verbose": True,
    }  # fmt: skip
    assert contract.items() <= params.items()
    # What came later must not change what these mean.
    assert {name: value for name, value in params.items() if name not in contract} == {
        "schedule": "constant", "label_embedding": None, "aggregator": None,
        "reconstruction": None, "distance": None, "loss": None,
        "representation": "concatenation", "inverse_relations": False, "pretrained": None,
        "refine": True, "label_dropout": 0.0, "target_weight": 1.0, "regularization": None,
        "restart": 0.15, "preset": None, "storage": "auto", "device": "auto",
    }  # fmt: skip


def test_a_clone_has_the_parameters_and_nothing_learned(star_model: EmbeddingPropagation) -> None:
    twin = clone(star_model)
    assert twin.get_params() == star_model.get_params()
    with pytest.raises(NotFittedError):
        twin.similar("hub")


def test_fitting_does_not_change_parameters(star_with_words: Graph) -> None:
    params = {"dim": {"node": 4, "word": 3}, "label_types": ["word", "node"], "epochs": 1}
    model = EmbeddingPropagation(**copy.deepcopy(params)).fit(star_with_words)
    assert {name: getattr(model, name) for name in params} == params


def test_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(EmbeddingPropagation(dim=16, margin=5.0)) == (
        "EmbeddingPropagation(dim=16, margin=5.0)"
    )


@pytest.mark.parametrize(
    "use",
    [
        lambda model, **given: model.transform(given["graph"]),
        lambda model, **_: model.transform_node(["hub"]),
        lambda model, **_: model.similar("hub"),
        lambda model, **_: model.similar_labels("word", "x"),
        lambda model, **_: model["hub"],
        lambda model, **given: model.save(given["path"]),
    ],
)
def test_a_model_that_has_learned_nothing_says_so(
    use: Any, star_with_words: Graph, tmp_path: Any
) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        use(EmbeddingPropagation(), graph=star_with_words, path=tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_second_fit_starts_anew(star_with_words: Graph, path: Graph) -> None:
    model = EmbeddingPropagation(**SMALL)
    once = model.fit_transform(star_with_words).copy()
    model.fit(path)
    assert list(model.nodes_) == [0, 1, 2, 3, 4]
    assert list(model.loss_history_) == ["node"]
    np.testing.assert_array_equal(model.fit_transform(star_with_words), once)


def test_a_failed_fit_leaves_the_old_model(star_with_words: Graph) -> None:
    model = EmbeddingPropagation(**SMALL).fit(star_with_words)
    before = model.node_embeddings_
    with pytest.raises(EmbedpropError):
        model.set_params(margin=-1).fit(star_with_words)
    assert model.node_embeddings_ is before
    assert len(model.similar("hub", k=2)) == 2


def test_a_model_can_be_pickled_and_copied(star_model: EmbeddingPropagation) -> None:
    for twin in (pickle.loads(pickle.dumps(star_model)), copy.deepcopy(star_model)):
        np.testing.assert_array_equal(twin["hub"], star_model["hub"])
        assert twin.similar("hub") == star_model.similar("hub")

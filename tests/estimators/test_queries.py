"""An estimator answers as its model does: every query, every attribute."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import toy_graphs

import embedprop
from embedprop import ClosedForm, EmbeddingPropagation, Graph, Model
from embedprop.errors import InvalidModelError, InvalidParameterError, UnknownRelationError
from embedprop.estimators import Estimator

FITS: dict[str, Callable[[], Any]] = {
    "EP-B": lambda: EmbeddingPropagation(dim=3, epochs=1, n_threads=1).fit(plain()),
    "relations": lambda: EmbeddingPropagation(dim=3, epochs=1, n_threads=1).fit(
        toy_graphs.messy(n_relations=2)
    ),
    "modules": lambda: EmbeddingPropagation(dim=3, epochs=1, parts={"aggregator": "max"}).fit(
        plain()
    ),
    "targets": lambda: EmbeddingPropagation(dim=3, epochs=1).fit(
        plain(), targets={0: "a", 1: "b", 2: "a"}
    ),
    "closed form": lambda: ClosedForm(dim=3, label_types=["node", "word"]).fit(plain()),
}
# Asked of an estimator and of its model: the answers must be the same.
QUERIES: dict[str, Callable[[Any, Any], Any]] = {
    "transform": lambda it, _: it.transform(grown(it)),
    "transform by source": lambda it, _: it.transform(grown(it), "reconstruction"),
    "transform_node": lambda it, over: it.transform_node([1, 2], {"word": ["w1"]}, relations=over),
    "transform_node by source": lambda it, over: it.transform_node(
        [1, 2], {"word": ["w1"]}, [1.0, 2.0], "own", over
    ),
    "similar": lambda it, _: it.similar(3, k=4),
    "similar_labels": lambda it, _: it.similar_labels("word", "w1", k=4),
    "score_edge": lambda it, over: it.score_edge(1, 2, over and over[0]),
    "predict_tails": lambda it, over: it.predict_tails(1, over and over[0], k=3),
    "predict_heads": lambda it, over: it.predict_heads(over and over[0], 2, k=3),
    "link_scores": lambda it, over: it.link_scores().tails(
        np.array([0, 1]), None if over is None else np.array([0, 1])
    ),
    "item": lambda it, _: it[4],
    "items": lambda it, _: it[[4, 0]],
    "contains": lambda it, _: (3 in it, "nobody" in it),
    "iter": lambda it, _: list(it),
}


def plain() -> Graph:
    return toy_graphs.messy(missing=True)


def grown(it: Any) -> Graph:
    over = getattr(it, "relations", None) or getattr(it, "relations_", None)
    relations = None if over is None else [over[0], over[1]]
    words = {"word": {"new": ["w1", "never seen"]}}
    return Graph.from_edges([("new", 1), ("new", 2)], labels=words, relations=relations)


@pytest.fixture(scope="module", params=FITS, ids=[name.replace(" ", "_") for name in FITS])
def fitted(request: pytest.FixtureRequest) -> Any:
    return FITS[request.param]()


@pytest.mark.parametrize("name", QUERIES, ids=[name.replace(" ", "_") for name in QUERIES])
def test_a_query_gives_what_the_model_gives(fitted: Any, name: str) -> None:
    ask, over = QUERIES[name], None
    if fitted.relations_ is not None:
        over = list(fitted.relations_)[:2]
    np.testing.assert_equal(ask(fitted, over), ask(fitted.model_, over))


def test_classes_are_those_of_the_model(fitted: Any) -> None:
    if fitted.model_.head is None:
        for it in (fitted, fitted.model_):
            with pytest.raises(InvalidParameterError, match="The model has no head"):
                it.predict()
        return
    assert fitted.predict() == fitted.model_.predict()
    assert fitted.predict(grown(fitted)) == fitted.model_.predict(grown(fitted))


def test_every_query_of_a_model_is_one_of_an_estimator_too() -> None:
    asked = {
        name
        for name, one in vars(Model).items()
        if inspect.isfunction(one) and not name.startswith("_") and name != "row"
    }
    assert asked <= set(vars(Estimator))
    for name in asked - {"save"}:
        ours, theirs = (inspect.signature(getattr(it, name)) for it in (Estimator, Model))
        assert list(ours.parameters) == list(theirs.parameters), name
        assert [one.default for one in ours.parameters.values()] == [
            one.default for one in theirs.parameters.values()
        ], name


def test_attributes_are_the_fields_of_the_model(fitted: Any) -> None:
    model = fitted.model_
    assert fitted.node_embeddings_ is model.vectors
    assert list(fitted.nodes_) == list(model.nodes)
    assert fitted.label_embeddings_ == dict(model.label_vectors)
    assert {name: list(one) for name, one in fitted.labels_.items()} == {
        name: list(one) for name, one in model.vocabularies.items()
    }
    assert fitted.relation_embeddings_ == dict(model.relation_vectors)
    assert fitted.loss_history_ is model.learning.loss_history
    assert fitted.residuals_ is model.learning.residuals
    assert fitted.seed_ == model.learning.seed == 0
    assert fitted.directed_ is model.directed
    assert fitted.instance_ is model.instance
    assert fitted.n_parameters_ == model.n_parameters > 0
    assert (fitted.modules_ != {}) == (model.readout.name == "modules")


def test_both_sources_are_the_default(fitted: Any) -> None:
    assert fitted.transform(grown(fitted)).tobytes() == (
        fitted.transform(grown(fitted), source="both").tobytes()
    )
    over = None if fitted.relations_ is None else list(fitted.relations_)[:2]
    given: dict[str, Any] = {"labels": {"word": ["w1"]}, "relations": over}
    alone = fitted.transform_node([1, 2], **given)
    assert alone.tobytes() == fitted.transform_node([1, 2], **given, source="both").tobytes()
    np.testing.assert_allclose(fitted.transform(grown(fitted))[0], alone, rtol=1e-5, atol=1e-7)


def test_an_unknown_relation_is_refused_by_its_name() -> None:
    model = FITS["relations"]()
    with pytest.raises(UnknownRelationError, match=r"^Unknown relation 'likes': the model has 2"):
        model.score_edge(1, 2, "likes")


class TestLoading:
    @pytest.fixture
    def folder(self, fitted: Any, tmp_path: Path) -> Path:
        fitted.save(tmp_path / "model")
        return tmp_path / "model"

    def test_the_estimator_of_its_method_has_settings_and_answers(
        self, fitted: Any, folder: Path
    ) -> None:
        loaded = type(fitted).load(folder, verify=True)
        assert loaded.get_params() == fitted.get_params()
        assert loaded.instance_ == fitted.instance_
        assert loaded.similar(3) == fitted.similar(3)
        assert loaded.transform(grown(loaded)).tobytes() == (
            fitted.transform(grown(fitted)).tobytes()
        )

    def test_a_model_alone_answers_the_same(self, fitted: Any, folder: Path) -> None:
        model = embedprop.load(folder)
        assert type(model) is Model
        assert model.similar(3) == fitted.similar(3)
        assert model.vectors.tobytes() == fitted.node_embeddings_.tobytes()
        assert len(model) == len(list(fitted))
        assert repr(model) == repr(fitted.model_)

    def test_the_other_estimator_refuses(self, fitted: Any, folder: Path) -> None:
        other = ClosedForm if isinstance(fitted, EmbeddingPropagation) else EmbeddingPropagation
        with pytest.raises(InvalidModelError) as caught:
            other.load(folder)
        assert str(caught.value) == (
            f"{folder}: expected a model of method {other.method_name!r}, got one of "
            f"{fitted.method_name!r}. Load it with embedprop.load, or with the other class."
        )


def test_a_loaded_estimator_learns_on(tmp_path: Path) -> None:
    model = FITS["EP-B"]()
    model.save(tmp_path)
    loaded = EmbeddingPropagation.load(tmp_path)
    assert loaded.partial_fit(plain()).node_embeddings_.tobytes() == (
        model.partial_fit(plain()).node_embeddings_.tobytes()
    )
    assert [len(losses) for losses in loaded.loss_history_.values()] == [2, 2]


def test_parts_are_loaded_as_they_were_given(tmp_path: Path) -> None:
    parts = {"distance": {"word": "squared_euclidean"}, "representation": "mean"}
    model = EmbeddingPropagation(dim=3, epochs=1, parts=parts).fit(plain())
    model.save(tmp_path)
    assert EmbeddingPropagation.load(tmp_path).parts == parts

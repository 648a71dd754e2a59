"""Both estimators keep scikit-learn's habits."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import estimator_html_repr

from embedprop import ClosedForm, EmbeddingPropagation, Graph, Parts
from embedprop.errors import (
    EmbedpropError,
    InvalidGraphError,
    InvalidParameterError,
    UnknownParameterError,
)
from embedprop.estimators import ESTIMATORS
from embedprop.instance.parameters import PARAMETERS

SMALL = {"dim": 4, "epochs": 2, "n_threads": 1}
ESTIMATOR = {
    "EmbeddingPropagation": lambda **given: EmbeddingPropagation(**(SMALL | given)),
    "ClosedForm": lambda **given: ClosedForm(**({"dim": 4} | given)),
}


@pytest.fixture(params=ESTIMATOR)
def make(request: pytest.FixtureRequest) -> Any:
    """Return either estimator, small and quick."""
    return ESTIMATOR[request.param]


@pytest.fixture
def fitted(make: Any, star_with_words: Graph) -> Any:
    return make().fit(star_with_words)


@pytest.mark.parametrize("engine", [None, "fused"])
def test_the_constructor_only_stores(engine: str | None) -> None:
    params = {"dim": {"node": 0}, "margin": "?", "label_types": ("a",), "engine": engine}
    model = EmbeddingPropagation(**params)
    assert {name: getattr(model, name) for name in params} == params
    regularization = {"word": "much"}
    assert ClosedForm(regularization=regularization).regularization is regularization


def test_parameters_can_be_read_and_set(make: Any) -> None:
    model = make(dim=7)
    assert model.get_params()["dim"] == 7
    assert model.set_params(dim=9, random_state=2) is model
    assert (model.dim, model.random_state) == (9, 2)


def test_defaults_are_those_of_the_contract() -> None:
    assert EmbeddingPropagation().get_params(deep=False) == {
        "dim": 128, "margin": 1.0, "epochs": 200, "batch_size": 64, "learning_rate": 1e-3,
        "schedule": "constant", "label_types": None, "max_neighbors": None, "n_negatives": 1,
        "negatives": "uniform", "neighborhood": "neighbors", "parts": None, "pretrained": None,
        "engine": "auto", "n_threads": None, "random_state": 0, "verbose": True,
    }  # fmt: skip
    assert ClosedForm().get_params() == {
        "dim": 128, "regularization": None, "restart": 0.15, "label_types": None,
        "random_state": 0, "verbose": True,
    }  # fmt: skip


def test_the_table_of_estimators_is_that_of_the_methods() -> None:
    assert list(ESTIMATORS) == list(PARAMETERS)
    for name, estimator in ESTIMATORS.items():
        assert issubclass(estimator, PARAMETERS[name])
        assert estimator.method_name == name


class TestParts:
    def test_they_are_parameters_of_their_own(self) -> None:
        model = EmbeddingPropagation(parts={"loss": "logistic", "label_dropout": 0.1})
        params = {name: value for name, value in model.get_params().items() if "__" in name}
        assert params == {
            "parts__label_embedding": None, "parts__aggregator": None,
            "parts__reconstruction": None, "parts__distance": None, "parts__loss": "logistic",
            "parts__representation": "concatenation", "parts__refine": True,
            "parts__label_dropout": 0.1,
        }  # fmt: skip
        assert not [name for name in model.get_params(deep=False) if "__" in name]

    @pytest.mark.parametrize(
        "given", [None, {"distance": "cosine"}, Parts(distance="cosine")], ids=str
    )
    def test_setting_one_leaves_the_others(self, given: Any) -> None:
        model = EmbeddingPropagation(parts=given).set_params(parts__loss="logistic", dim=3)
        distance = None if given is None else "cosine"
        assert model.parts == Parts(distance=distance, loss="logistic")
        assert model.dim == 3

    def test_what_was_given_is_not_changed(self) -> None:
        given = {"distance": "cosine"}
        model = EmbeddingPropagation(parts=given)
        model.set_params(parts__distance="euclidean")
        assert given == {"distance": "cosine"}
        assert model.parts.distance == "euclidean"

    def test_new_parts_and_one_of_them_can_be_set_at_once(self) -> None:
        model = EmbeddingPropagation(parts={"distance": "cosine"})
        model.set_params(parts__loss="softmax", parts=None)
        assert model.parts == Parts(loss="softmax")

    @pytest.mark.parametrize("given", [None, {"distance": "cosine"}, Parts(loss="softmax")])
    def test_a_clone_has_the_same(self, given: Any) -> None:
        model = EmbeddingPropagation(parts=given)
        assert clone(model).get_params() == model.get_params()
        assert clone(model).parts == given

    def test_a_grid_goes_over_them(self, star_with_words: Graph) -> None:
        base = EmbeddingPropagation(parts={"aggregator": "weighted_mean"}, **SMALL)
        grid = {
            "parts__loss": ["margin_ranking", "logistic"],
            "parts__distance": ["euclidean", "squared_euclidean"],
            "epochs": [1],
        }
        learned = {}
        for setting in ParameterGrid(grid):
            model = clone(base).set_params(**setting).fit(star_with_words)
            word = model.instance_.label_types["word"]
            assert (word.loss, word.distance) == (
                setting["parts__loss"],
                setting["parts__distance"],
            )
            assert word.aggregator == "weighted_mean"
            learned[word.loss, word.distance] = model.node_embeddings_.tobytes()
        assert len(set(learned.values())) == 4
        assert base.parts == {"aggregator": "weighted_mean"}

    def test_a_grid_of_a_pipeline_goes_over_them_too(self) -> None:
        pipeline = make_pipeline(EmbeddingPropagation(), LogisticRegression())
        twin = clone(pipeline).set_params(embeddingpropagation__parts__loss="softmax")
        assert twin[0].parts.loss == "softmax"
        assert pipeline[0].parts is None


class TestMistypedNames:
    @pytest.mark.parametrize(
        ("estimator", "name", "meant"),
        [
            (EmbeddingPropagation, "epoch", "'epochs'"),
            (EmbeddingPropagation, "n_negative", "'n_negatives'"),
            (EmbeddingPropagation, "loss", "parts={'loss': ...}"),
            (EmbeddingPropagation, "refine", "parts={'refine': ...}"),
            (ClosedForm, "regularisation", "'regularization'"),
            (ClosedForm, "dims", "'dim'"),
        ],
    )
    def test_the_nearest_is_proposed(self, estimator: Any, name: str, meant: str) -> None:
        for use in (lambda: estimator(**{name: 1}), lambda: estimator().set_params(**{name: 1})):
            with pytest.raises(UnknownParameterError) as caught:
                use()
            message = str(caught.value)
            assert message.startswith(f"{estimator.__name__} has no parameter {name!r}. It has: ")
            assert message.endswith(f" Did you mean {meant}?")
            assert isinstance(caught.value, TypeError)  # as Python's own
            assert isinstance(caught.value, ValueError)  # as scikit-learn's

    def test_what_resembles_nothing_is_refused_with_the_known_ones(self) -> None:
        with pytest.raises(UnknownParameterError) as caught:
            ClosedForm(epochs=3)
        assert str(caught.value) == (
            "ClosedForm has no parameter 'epochs'. It has: dim, label_types, random_state, "
            "regularization, restart, verbose."
        )

    def test_nothing_is_set_if_one_of_several_is_mistyped(self) -> None:
        model = EmbeddingPropagation(dim=7)
        for bad in ({"epoch": 3}, {"parts__los": "softmax"}):
            with pytest.raises(UnknownParameterError):
                model.set_params(dim=9, parts__loss="softmax", **bad)
            assert (model.dim, model.parts) == (7, None)

    @pytest.mark.parametrize(
        "use",
        [
            lambda: EmbeddingPropagation(parts={"los": "softmax"}).get_params(),
            lambda: EmbeddingPropagation().set_params(parts__los="softmax"),
            lambda: Parts.of({"los": "softmax"}),
        ],
    )
    def test_the_nearest_part_is_proposed(self, use: Any) -> None:
        with pytest.raises(UnknownParameterError) as caught:
            use()
        assert str(caught.value) == (
            "parts has no field 'los'. It has: label_embedding, aggregator, reconstruction, "
            "distance, loss, representation, refine, label_dropout. Did you mean 'loss'?"
        )

    def test_the_closed_form_has_no_parts(self) -> None:
        with pytest.raises(UnknownParameterError, match="ClosedForm has no parameter 'parts'"):
            ClosedForm().set_params(parts__loss="softmax")

    def test_the_nearest_label_type_is_proposed(self, make: Any, star_with_words: Graph) -> None:
        with pytest.raises(InvalidParameterError) as caught:
            make(label_types=["wrod"]).fit(star_with_words)
        assert str(caught.value) == (
            "label_types=['wrod']: 'wrod' is unknown. There are: 'node', 'word'. "
            "Did you mean 'word'?"
        )


class TestInAPipeline:
    """What is predicted downstream goes to the classifier alone."""

    CLASSES = ("odd", "even")

    def classes(self, graph: Graph) -> list[str]:
        return [self.CLASSES[row % 2] for row in range(graph.n_nodes)]

    def test_y_is_for_the_classifier_alone(self, make: Any, star_with_words: Graph) -> None:
        y = self.classes(star_with_words)
        pipeline = make_pipeline(make(), LogisticRegression()).fit(star_with_words, y)
        alone = make().fit(star_with_words)
        embedding, classifier = pipeline[0], pipeline[1]
        assert embedding.model_.head is None
        assert embedding.node_embeddings_.tobytes() == alone.node_embeddings_.tobytes()
        assert set(classifier.classes_) == set(self.CLASSES)
        expected = LogisticRegression().fit(alone.node_embeddings_, y)
        np.testing.assert_array_equal(classifier.coef_, expected.coef_)

    def test_it_predicts_classes_of_new_nodes(self, make: Any, star_with_words: Graph) -> None:
        pipeline = make_pipeline(make(), LogisticRegression())
        pipeline.fit(star_with_words, self.classes(star_with_words))
        grown = Graph.from_edges([("new", "hub"), ("new", "leaf1")])
        assert len(pipeline.predict(grown)) == 3

    @pytest.mark.parametrize("y", [[1, 2], "nonsense", np.nan, {"nobody": 1}], ids=str)
    def test_y_is_not_even_looked_at(self, make: Any, star_with_words: Graph, y: Any) -> None:
        expected = make().fit_transform(star_with_words).tobytes()
        assert make().fit(star_with_words, y).node_embeddings_.tobytes() == expected
        assert make().fit_transform(star_with_words, y).tobytes() == expected

    def test_targets_have_a_name_of_their_own(self, star_with_words: Graph) -> None:
        classes = self.classes(star_with_words)
        model = EmbeddingPropagation(**SMALL)
        model.fit(star_with_words, targets=classes, target_weight=2.0)
        assert set(model.predict()) <= set(self.CLASSES)
        with pytest.raises(InvalidParameterError, match="targets=classes"):
            model.fit(star_with_words, classes).predict()

    @pytest.mark.parametrize("weight", [0, -1.0, "much", None])
    def test_their_weight_is_above_0(self, star_with_words: Graph, weight: Any) -> None:
        classes = self.classes(star_with_words)
        with pytest.raises(InvalidParameterError, match=r"^target_weight="):
            EmbeddingPropagation(**SMALL).fit(
                star_with_words, targets=classes, target_weight=weight
            )

    def test_no_estimator_has_a_score_that_scikit_learn_would_call(self, make: Any) -> None:
        assert not hasattr(make(), "score")

    def test_a_pipeline_can_be_shown(self, make: Any) -> None:
        pipeline = Pipeline([("embed", make()), ("classify", LogisticRegression())])
        assert type(make()).__name__ in repr(pipeline)
        assert type(make()).__name__ in estimator_html_repr(pipeline)


def test_a_clone_has_the_parameters_and_nothing_learned(fitted: Any) -> None:
    twin = clone(fitted)
    assert twin.get_params() == fitted.get_params()
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
    assert repr(ClosedForm(restart=0.5)) == "ClosedForm(restart=0.5)"


@pytest.mark.parametrize(
    "use",
    [
        lambda model, graph, _: model.transform(graph),
        lambda model, *_: model.transform_node(["hub"]),
        lambda model, *_: model.similar("hub"),
        lambda model, *_: model.similar_labels("word", "x"),
        lambda model, *_: model.score_edge("hub", "leaf1"),
        lambda model, *_: model.predict_tails("hub"),
        lambda model, *_: model.predict_heads(None, "hub"),
        lambda model, *_: model.link_scores(),
        lambda model, *_: model.predict(),
        lambda model, *_: model["hub"],
        lambda model, *_: "hub" in model,
        lambda model, *_: list(model),
        lambda model, *_: model.node_embeddings_,
        lambda model, *_: model.label_embeddings_,
        lambda model, _, path: model.save(path),
    ],
)
def test_an_estimator_that_has_learned_nothing_says_so(
    use: Any, make: Any, star_with_words: Graph, tmp_path: Any
) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        use(make(), star_with_words, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_second_fit_starts_anew(make: Any, star_with_words: Graph, path: Graph) -> None:
    model = make()
    once = model.fit_transform(star_with_words).copy()
    model.fit(path)
    assert list(model.nodes_) == [0, 1, 2, 3, 4]
    assert list(model.label_embeddings_) == ["node"]
    np.testing.assert_array_equal(model.fit_transform(star_with_words), once)


def test_a_failed_fit_leaves_the_old_model(fitted: Any, star_with_words: Graph) -> None:
    before = fitted.model_
    with pytest.raises(EmbedpropError):
        fitted.set_params(dim=-1).fit(star_with_words)
    assert fitted.model_ is before
    assert len(fitted.similar("hub", k=2)) == 2


def test_an_estimator_can_be_pickled_and_copied(fitted: Any) -> None:
    for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        np.testing.assert_array_equal(twin["hub"], fitted["hub"])
        assert twin.similar("hub") == fitted.similar("hub")
        assert twin.get_params() == fitted.get_params()


@pytest.mark.parametrize("method", ["fit", "fit_transform"])
@pytest.mark.parametrize("wrong", [[(0, 1)], None, np.eye(3)], ids=["list", "None", "array"])
def test_something_that_is_not_a_graph_is_refused(make: Any, method: str, wrong: Any) -> None:
    with pytest.raises(InvalidGraphError, match=r"^Expected an embedprop\.Graph, got "):
        getattr(make(), method)(wrong)


def test_a_check_without_a_graph_refuses_what_fit_would() -> None:
    kinds = {"node": "set", "word": "set"}
    EmbeddingPropagation().check(kinds)
    ClosedForm().check(kinds)
    for bad in (
        EmbeddingPropagation(epochs=-1),
        EmbeddingPropagation(label_types=["topic"]),
        EmbeddingPropagation(parts={"loss": "hinge"}),
        ClosedForm(restart=0),
        ClosedForm(label_types=["topic"]),
    ):
        with pytest.raises(EmbedpropError):
            bad.check(kinds)


def test_a_check_knows_that_there_will_be_targets() -> None:
    with pytest.raises(InvalidParameterError, match="targets are given"):
        EmbeddingPropagation(engine="fused").check({"node": "set"}, supervised=True)

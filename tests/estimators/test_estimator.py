"""EmbeddingPropagation: what it learns, and what it makes of its parameters."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np
import pytest
from tests.toy_graphs import TwoCliques

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import (
    InvalidGraphError,
    InvalidParameterError,
    UnknownComponentError,
)

SMALL = {"dim": 4, "epochs": 2, "n_threads": 1}


def distances(vectors: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vectors[:, None] - vectors[None], axis=2)


def test_nodes_of_one_clique_end_closer_than_nodes_of_two(two_cliques: TwoCliques) -> None:
    model = EmbeddingPropagation(
        dim=8, epochs=150, learning_rate=0.01, label_types=["node"], n_threads=1
    )
    apart = distances(model.fit_transform(two_cliques.graph))
    cliques = np.array([two_cliques.clique_of[name] for name in model.nodes_])
    same = cliques[:, None] == cliques[None]
    others = ~np.eye(len(cliques), dtype=bool)
    assert apart[same & others].mean() < apart[~same].mean() / 2


def test_words_of_one_clique_end_closer_than_words_of_two(two_cliques: TwoCliques) -> None:
    model = EmbeddingPropagation(
        dim=8, epochs=150, learning_rate=0.01, label_types=["word"], n_threads=1
    ).fit(two_cliques.graph)
    for words in two_cliques.words_of.values():
        for word in words:
            nearest = [other for other, _ in model.similar_labels("word", word, k=2)]
            assert set(nearest) == set(words) - {word}


def test_the_loss_falls(two_cliques: TwoCliques) -> None:
    model = EmbeddingPropagation(dim=8, epochs=60, learning_rate=0.01, n_threads=1)
    for losses in model.fit(two_cliques.graph).loss_history_.values():
        assert len(losses) == 60
        assert losses[-1] < 0.7 * losses[0]


def test_shapes_and_names_are_those_of_the_graph(star_with_words: Graph) -> None:
    model = EmbeddingPropagation(dim={"node": 3, "word": 5}, epochs=1, n_threads=1)
    vectors = model.fit_transform(star_with_words)
    assert vectors is model.node_embeddings_
    assert vectors.shape == (5, 8)
    assert vectors.dtype == np.float32
    assert list(model.nodes_) == list(star_with_words.nodes)
    assert {name: v.shape for name, v in model.label_embeddings_.items()} == {
        "node": (5, 3),
        "word": (3, 5),
    }
    assert list(model.labels_["word"]) == ["x", "y", "z"]
    assert list(model.labels_["node"]) == list(star_with_words.nodes)


def test_the_vector_of_a_node_is_made_of_its_labels_vectors(
    star_model: EmbeddingPropagation,
) -> None:
    x, y, z = star_model.label_embeddings_["word"]
    ids = dict(zip(star_model.nodes_, star_model.label_embeddings_["node"], strict=True))
    for node, h in {
        "hub": (x + 3 * y) / 4,
        "leaf1": x,
        "leaf2": (2 * y + 0.5 * z) / 2.5,
        "leaf4": z,
    }.items():
        np.testing.assert_allclose(
            star_model[node], np.concatenate([ids[node], h]), rtol=1e-6, atol=1e-7
        )


@pytest.mark.parametrize(
    ("wanted", "learned"),
    [
        (None, ["node", "word"]),
        (["word"], ["word"]),
        (["node"], ["node"]),
        (("word", "node"), ["node", "word"]),
        ({"word"}, ["word"]),
    ],
)
def test_label_types_are_chosen_and_node_comes_first(
    star_with_words: Graph, wanted: Any, learned: list[str]
) -> None:
    model = EmbeddingPropagation(label_types=wanted, **SMALL).fit(star_with_words)
    assert list(model.label_embeddings_) == list(model.loss_history_) == learned
    assert model.node_embeddings_.shape == (5, 4 * len(learned))


NUMBERS = Graph.from_edges([(0, 1)], labels={"age:numeric": {0: 3.0, 1: 4.0}})


def test_values_that_are_not_sets_are_learned_too() -> None:
    model = EmbeddingPropagation(**SMALL).fit(NUMBERS)
    assert list(model.label_embeddings_) == ["node", "age"]
    assert model.node_embeddings_.shape == (2, 8)


class TestWithoutTorch:
    @pytest.fixture(autouse=True)
    def no_torch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("embedprop.methods.epb.engines.choose.has_torch", lambda: False)
        monkeypatch.setattr("embedprop.methods.epb.method.has_torch", lambda: False)

    def test_values_that_are_not_sets_are_left_aside_with_a_warning(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, logger="embedprop"):
            model = EmbeddingPropagation(**SMALL).fit(NUMBERS)
        assert list(model.label_embeddings_) == ["node"]
        assert "Not used: 'age' (that needs torch, which is not installed" in caplog.text

    def test_asking_for_them_tells_what_to_install(self) -> None:
        with pytest.raises(
            InvalidParameterError,
            match=r"'age' is of kind 'numeric', but that needs torch, which is not installed: "
            r"pip install 'embedprop\[torch\]'\.$",
        ):
            EmbeddingPropagation(label_types=["age"], **SMALL).fit(NUMBERS)

    def test_texts_are_learned_as_sets_of_words(self) -> None:
        graph = Graph.from_edges([(0, 1)], labels={"title:text": {0: "a rose", 1: "A sea"}})
        model = EmbeddingPropagation(**SMALL).fit(graph)
        assert model.labels_["title"] == ("a", "rose", "sea")

    @pytest.mark.parametrize(
        ("params", "why"),
        [
            ({"parts": {"loss": "logistic"}}, "label type 'node' has loss='logistic'"),
            ({"parts": {"aggregator": "max"}}, "label type 'node' has aggregator='max'"),
            ({"parts": {"refine": False}}, "label type 'node' has refine=False"),
        ],
    )
    @pytest.mark.parametrize("engine", ["auto", "torch"])
    def test_what_needs_torch_is_refused_before_training(
        self, path: Graph, params: dict[str, Any], why: str, engine: str
    ) -> None:
        with pytest.raises(
            InvalidParameterError,
            match=rf"needs torch, which is not installed, and {why}, which needs it: pip install",
        ):
            EmbeddingPropagation(engine=engine, **SMALL, **params).fit(path)

    def test_its_engine_is_refused_too(self, path: Graph) -> None:
        with pytest.raises(
            InvalidParameterError,
            match=r"^engine='torch' needs torch, which is not installed: pip install "
            r"'embedprop\[torch\]'\. Choose another",
        ):
            EmbeddingPropagation(engine="torch", **SMALL).fit(path)

    def test_targets_need_it_too(self, path: Graph) -> None:
        with pytest.raises(InvalidParameterError, match="not installed, and targets are given"):
            EmbeddingPropagation(**SMALL).fit(path, targets={0: "a", 1: "b"})


BAD_VALUES = [
    *[
        ("dim", bad, "expected a whole number of at least 1")
        for bad in (0, -1, 2.5, "8", None, True)
    ],
    ("dim", {"node": 4}, "expected one entry for each label type that is learned .'node', 'word'."),
    ("dim", {"node": 4, "word": 0}, r"dim\['word'\]=0: expected"),
    *[("margin", bad, "expected a finite number above 0") for bad in (0, -1.0, math.nan, math.inf)],
    *[("margin", bad, "expected a number above 0") for bad in ("1", None, True)],
    ("margin", {"word": 1.0}, "expected one entry for each label type that is learned"),
    *[("epochs", bad, "expected a whole number of at least 0") for bad in (-1, 1.5, None, "5")],
    *[("batch_size", bad, "expected a whole number of at least 1") for bad in (0, 64.0, None)],
    *[("learning_rate", bad, "expected a finite number above 0") for bad in (0, -0.1, math.nan)],
    ("learning_rate", "fast", "expected a number above 0"),
    *[("max_neighbors", bad, "expected a whole number of at least 1") for bad in (0, -2, 1.5, "2")],
    *[("n_negatives", bad, "expected a whole number of at least 1") for bad in (0, None, 0.5)],
    *[("n_threads", bad, "expected a whole number of at least 1") for bad in (0, -1, 1.5, "2")],
    *[("random_state", bad, "expected a whole number of at least 0") for bad in (-1, "x", 0.5)],
    ("random_state", np.random.RandomState(0), "expected a whole number of at least 0"),
    *[("label_types", bad, "give a list of names") for bad in ("word", [], 5, "")],
    ("label_types", ["wrod"], r"'wrod' is unknown\. There are: 'node', 'word'\."),
    ("label_types", [["word"]], r"\['word'\] is unknown"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_VALUES)
def test_a_bad_parameter_is_refused_by_name(
    star_with_words: Graph, name: str, value: Any, message: str
) -> None:
    model = EmbeddingPropagation(**(SMALL | {name: value}))
    with pytest.raises(InvalidParameterError, match=message) as caught:
        model.fit(star_with_words)
    assert str(caught.value).startswith(name)
    assert isinstance(caught.value, ValueError)
    assert not hasattr(model, "node_embeddings_")


@pytest.mark.parametrize("value", ["nope", None, 3, ["uniform"]])
@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("negatives", "'uniform', 'degree', 'in_batch', 'shared'"),
        ("neighborhood", "'neighbors', 'edges', 'walks'"),
        ("engine", "'auto', 'fused', 'torch'"),
    ],
)
def test_an_unknown_component_is_refused_with_the_known_ones(
    star_with_words: Graph, name: str, known: str, value: Any
) -> None:
    with pytest.raises(UnknownComponentError) as caught:
        EmbeddingPropagation(**(SMALL | {name: value})).fit(star_with_words)
    assert str(caught.value) == f"{name}={value!r} is not known. Choose one of: {known}."


@pytest.mark.parametrize("method", ["fit", "fit_transform", "partial_fit"])
@pytest.mark.parametrize("wrong", [[(0, 1)], None, np.eye(3)])
def test_something_that_is_no_graph_is_refused(method: str, wrong: Any) -> None:
    with pytest.raises(
        InvalidGraphError,
        match=rf"Expected an embedprop\.Graph, got (numpy\.)?{type(wrong).__name__}\.",
    ):
        getattr(EmbeddingPropagation(**SMALL), method)(wrong)


def test_a_batch_larger_than_the_graph_is_one_batch(star_with_words: Graph) -> None:
    vectors = [
        EmbeddingPropagation(batch_size=size, **SMALL).fit_transform(star_with_words)
        for size in (5, 6, 10**9)
    ]
    np.testing.assert_array_equal(vectors[0], vectors[1])
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_zero_epochs_show_the_start_vectors(star_with_words: Graph) -> None:
    model = EmbeddingPropagation(dim=4, epochs=0).fit(star_with_words)
    assert model.loss_history_ == {"node": [], "word": []}
    assert np.abs(model.label_embeddings_["node"]).max() <= np.sqrt(6 / (5 + 4))
    # three words and one dummy label
    assert np.abs(model.label_embeddings_["word"]).max() <= np.sqrt(6 / (4 + 4))


class TestSeeds:
    def test_the_same_seed_gives_the_same_bytes(self, star_with_words: Graph) -> None:
        first, second = (
            EmbeddingPropagation(random_state=3, **SMALL).fit_transform(star_with_words)
            for _ in range(2)
        )
        assert first.tobytes() == second.tobytes()

    def test_another_seed_gives_other_vectors(self, star_with_words: Graph) -> None:
        first, second = (
            EmbeddingPropagation(random_state=seed, **SMALL).fit_transform(star_with_words)
            for seed in (0, 1)
        )
        assert (first != second).all()

    def test_no_seed_takes_a_new_one_that_can_be_used_again(self, star_with_words: Graph) -> None:
        first, second = (
            EmbeddingPropagation(random_state=None, **SMALL).fit(star_with_words) for _ in range(2)
        )
        assert first.seed_ != second.seed_
        again = EmbeddingPropagation(random_state=first.seed_, **SMALL).fit(star_with_words)
        np.testing.assert_array_equal(again.node_embeddings_, first.node_embeddings_)

    def test_training_leaves_numpy_s_global_numbers_alone(self, star_with_words: Graph) -> None:
        before = np.random.get_state()[1].tolist()  # noqa: NPY002
        EmbeddingPropagation(random_state=None, **SMALL).fit(star_with_words)
        assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_a_model_knows_which_nodes_it_has() -> None:
    model = EmbeddingPropagation(**SMALL).fit(Graph.from_edges([(1, 2), (2, 3)]))
    assert 2 in model
    assert 0 not in model
    assert list(model) == [1, 2, 3]


def test_what_cannot_fit_into_memory_is_refused_before_it_is_tried() -> None:
    with pytest.raises(InvalidParameterError, match=r"needs about .* GB.* [Ll]ower dim"):
        EmbeddingPropagation(dim=10**12).fit(Graph.from_edges([(1, 2), (2, 3)]))


def test_a_graph_of_another_direction_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    model = EmbeddingPropagation(**SMALL).fit(Graph.from_edges([(1, 2), (2, 3)], directed=True))
    model.transform(Graph.from_edges([(3, 4)]))
    assert "trained on a graph that is directed, but this one is undirected" in caplog.text

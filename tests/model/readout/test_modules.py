"""Models with parts of torch: new nodes go through the same f, g and g~ as in training."""

from __future__ import annotations

from typing import Any, ClassVar, get_args

import numpy as np
import pytest
import torch
from tests import toy_graphs

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.instance.catalog import AGGREGATORS
from embedprop.model.newcomers import Source

SOURCES = get_args(Source)

SMALL: dict[str, Any] = {"dim": 4, "epochs": 3, "learning_rate": 0.05, "n_threads": 1}
EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")]
WORDS = {"a": {"x": 1.0, "y": 2.0}, "b": ["x"], "d": {"z": 3.0}}
GRAPH = Graph.from_edges(EDGES, labels={"word": WORDS})
RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(size=(6, 5, 5)).astype(np.float32)
VALUES: dict[str, dict[str, Any]] = {
    "age:numeric": {"a": 1.0, "b": 5.0, "d": 2.0},
    "title:text": {"a": "a rose is a rose", "c": "the sea", "d": "a sea"},
    "face:image": {node: IMAGES[i] for i, node in enumerate("abc")},
}
MIXED = {"parts": {"label_embedding": {"title": "gru"}}}


def graph_of_values(**more: Any) -> Graph:
    labels = {key: values | more.get(key.split(":")[0], {}) for key, values in VALUES.items()}
    extra = [(node, "a") for node in more.get("nodes", [])]
    return Graph.from_edges([*EDGES, *extra], labels=labels)


@pytest.fixture(scope="module")
def mixed() -> EmbeddingPropagation:
    """Ids, numbers, texts and images at once; tests must not change it."""
    return EmbeddingPropagation(**SMALL, **MIXED).fit(graph_of_values())


def row(graph: Graph, node: str) -> int:
    return graph.nodes.find(node)


def word_vectors(model: EmbeddingPropagation, words: str) -> np.ndarray:
    learned = dict(zip(model.labels_["word"], model.label_embeddings_["word"], strict=True))
    return np.array([learned[word] for word in words], np.float64)


def aggregated(part: Any, name: str, vectors: np.ndarray, weights: list[float]) -> np.ndarray:
    """g or g~ of what is new, by its formula: a weight learned for an edge is 1 for a new one."""
    counts = np.array(weights)
    if name == "max":
        return vectors.max(axis=0)
    if name == "sum":
        return counts @ vectors
    if name == "attention":
        counts = counts * np.exp(vectors @ part.query.detach().numpy())
    return counts @ vectors / counts.sum()


@pytest.mark.parametrize("own", list(AGGREGATORS))
@pytest.mark.parametrize("name", list(AGGREGATORS))
def test_new_nodes_go_through_g_and_g_tilde(name: str, own: str) -> None:
    parts = {"reconstruction": name, "aggregator": own}
    model = EmbeddingPropagation(**SMALL, parts=parts, label_types=["word"]).fit(GRAPH)
    new = Graph.from_edges(
        [("n", "a"), ("n", "b"), ("m", "n")],
        weights=[0.5, 2.0, 1.0],
        labels={"word": {"n": {"z": 3.0, "y": 1.0, "unknown": 9.0}}},
    )
    module = model.modules_["word"] if name != "mean" or own != "mean" else None
    g, g_tilde = getattr(module, "g", None), getattr(module, "g_tilde", None)
    vectors = model.transform(new, "reconstruction")
    # a says x with weight 1 and y with 2, each times 0.5; b says x with weight 1 times 2.
    heard = aggregated(g_tilde, name, word_vectors(model, "xyx"), [0.5, 1.0, 2.0])
    np.testing.assert_allclose(vectors[row(new, "n")], heard, rtol=1e-5, atol=1e-6)
    # m hears n alone, whose known words are new to the model as a set.
    heard = aggregated(g_tilde, name, word_vectors(model, "zy"), [3.0, 1.0])
    np.testing.assert_allclose(vectors[row(new, "m")], heard, rtol=1e-5, atol=1e-6)
    h = aggregated(g, own, word_vectors(model, "zy"), [3.0, 1.0])
    np.testing.assert_allclose(model.transform(new, "own")[row(new, "n")], h, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("own", list(AGGREGATORS))
@pytest.mark.parametrize("name", list(AGGREGATORS))
def test_one_new_node_and_a_graph_of_it_agree(name: str, own: str) -> None:
    parts = {"reconstruction": name, "aggregator": own}
    model = EmbeddingPropagation(**SMALL, parts=parts, engine="torch")
    model.set_params(epochs=1).fit(GRAPH)
    new = Graph.from_edges(
        [("n", "a"), ("n", "c")], labels={"word": {"n": {"z": 3.0, "x": 1.0}}}, weights=[0.5, 2.0]
    )
    labels = {"word": {"z": 3.0, "x": 1.0}}
    for source in SOURCES:
        in_graph = model.transform(new, source)[row(new, "n")]
        alone = model.transform_node(["a", "c"], labels, [0.5, 2.0], source)
        np.testing.assert_allclose(alone, in_graph, rtol=1e-5, atol=1e-7)
        assert alone.any()


@pytest.mark.parametrize("name", ["mean", "max", "attention"])
def test_relations_travel_with_the_labels(name: str) -> None:
    graph = toy_graphs.messy(10, directed=True, n_relations=3)
    parts = {"reconstruction": name}
    model = EmbeddingPropagation(**SMALL, parts=parts, label_types=["node"]).fit(graph)
    new = Graph.from_edges([(3, "n"), (4, "n"), (3, "n")], relations=[0, 2, 1], directed=True)
    over = model.relation_embeddings_["node"]
    ids = model.label_embeddings_["node"]
    rows = [(3, 0), (4, 2), (3, 1)]
    vectors = np.array(
        [ids[model.nodes_.index(v)] + over[model.relations_.index(r)] for v, r in rows], np.float64
    )
    part = None if name == "mean" else model.modules_["node"].g_tilde
    expected = aggregated(part, name, vectors, [1.0, 1.0, 1.0])
    np.testing.assert_allclose(model.transform(new)[row(new, "n")], expected, rtol=1e-5, atol=1e-6)
    alone = model.transform_node([3, 4, 3], relations=[0, 2, 1])
    np.testing.assert_allclose(alone, expected, rtol=1e-5, atol=1e-6)


class TestValues:
    """Numbers, texts and images."""

    def test_h_of_a_node_is_f_of_its_value(self, mixed: EmbeddingPropagation) -> None:
        f = mixed.modules_["age"].f
        with torch.no_grad():
            expected = f(torch.tensor([[1.0], [5.0], [2.0]])).numpy()
        np.testing.assert_allclose(mixed.label_embeddings_["age"], expected, rtol=1e-6)
        assert mixed.labels_["age"] == ("a", "b", "d")
        np.testing.assert_allclose(mixed["b"][4:8], expected[1], rtol=1e-6)
        assert mixed["c"][4:8].any()  # its dummy

    def test_new_values_go_through_f(self, mixed: EmbeddingPropagation) -> None:
        new = graph_of_values(
            nodes=["n"], age={"n": 3.5}, title={"n": "The rose!"}, face={"n": IMAGES[4]}
        )
        h = mixed.transform(new, "own")[row(new, "n")]
        learned = mixed.modules_
        with torch.no_grad():
            age = learned["age"].f(torch.tensor([[3.5]]))[0].numpy()
            words = learned["title"].labels.tokens.encode(["the rose"], None)
            title = learned["title"].f(torch.from_numpy(words))[0].numpy()
            face = learned["face"].f(torch.from_numpy(IMAGES[4][None, None]))[0].numpy()
        assert not h[:4].any()
        np.testing.assert_allclose(h[4:], np.concatenate([age, title, face]), rtol=1e-4, atol=1e-6)

    def test_a_new_node_hears_its_neighbors(self, mixed: EmbeddingPropagation) -> None:
        new = Graph.from_edges([("n", "a"), ("n", "c")])
        expected = (mixed["a"] + mixed["c"]) / 2
        np.testing.assert_allclose(mixed.transform(new)[row(new, "n")], expected, rtol=1e-5)
        np.testing.assert_allclose(mixed.transform_node(["a", "c"]), expected, rtol=1e-5)

    def test_new_values_speak_to_other_new_nodes(self) -> None:
        for reconstruction in ("mean", "max"):
            parts = {"reconstruction": reconstruction}
            model = EmbeddingPropagation(**SMALL, label_types=["age"], parts=parts)
            model.fit(graph_of_values())
            new = Graph.from_edges([("n", "m")], labels={"age:numeric": {"n": 3.5}})
            own, heard = model.transform(new, "own"), model.transform(new)
            np.testing.assert_allclose(heard[row(new, "m")], own[row(new, "n")], rtol=1e-5)

    def test_an_image_of_another_size_is_refused(self, mixed: EmbeddingPropagation) -> None:
        new = Graph.from_edges(
            [("n", "a")], labels={"face:image": {"n": np.zeros((6, 5), np.float32)}}
        )
        with pytest.raises(
            InvalidGraphError,
            match=r"Label type 'face': the model was learned from labels of shape \(1, 5, 5\), but "
            r"these are of shape \(1, 6, 5\)\.",
        ):
            mixed.transform(new)

    def test_more_numbers_are_refused(self, mixed: EmbeddingPropagation) -> None:
        new = Graph.from_edges([("n", "a")], labels={"age:numeric": {"n": [1.0, 2.0]}})
        with pytest.raises(InvalidGraphError, match=r"'age': .* shape \(1,\), but .* \(2,\)"):
            mixed.transform(new)

    @pytest.mark.parametrize("labels", [{"age": [3.0]}, {"title": ["rose"]}, {"face": IMAGES[:1]}])
    def test_one_node_alone_cannot_bring_values(
        self, mixed: EmbeddingPropagation, labels: dict[str, Any]
    ) -> None:
        given = {name: ["a"] for name in labels}  # what is known by name is no value
        with pytest.raises(
            InvalidParameterError,
            match=r"transform_node reads sets of labels alone\. Give",
        ):
            mixed.transform_node(["a"], given)

    def test_words_of_a_text_are_labels_of_a_set(self) -> None:
        model = EmbeddingPropagation(**SMALL, label_types=["title"]).fit(graph_of_values())
        assert model.labels_["title"] == ("a", "rose", "is", "the", "sea")
        alone = model.transform_node([], {"title": {"rose": 2, "sea": 1}})
        new = Graph.from_edges(
            [("n", "m")], labels={"title:text": {"n": "Rose, rose: SEA and unknown"}}
        )
        np.testing.assert_allclose(model.transform(new, "own")[row(new, "n")], alone, rtol=1e-6)


class TestOwnAggregators:
    @staticmethod
    def doubled(messages: Any) -> torch.Tensor:
        zeros = messages.vectors.new_zeros(messages.n_sets, messages.vectors.shape[1])
        return 2 * zeros.index_add(0, messages.owners, messages.vectors)

    def test_values_go_through_it(self) -> None:
        parts = {"aggregator": self.doubled}
        model = EmbeddingPropagation(**SMALL, label_types=["age"], parts=parts)
        model.fit(graph_of_values())
        np.testing.assert_allclose(model["b"], 2 * model.label_embeddings_["age"][1], rtol=1e-6)
        new = Graph.from_edges([("n", "m")], labels={"age:numeric": {"n": 5.0}})
        vectors = model.transform(new, "own")
        np.testing.assert_allclose(vectors[row(new, "n")], model["b"], rtol=1e-5)
        # g~ is a mean of label vectors, which g has not doubled.
        heard = model.transform(new)[row(new, "m")]
        np.testing.assert_allclose(heard, model["b"] / 2, rtol=1e-5)

    def test_words_go_through_it(self) -> None:
        parts = {"aggregator": self.doubled}
        model = EmbeddingPropagation(**SMALL, label_types=["word"], parts=parts)
        model.fit(GRAPH)
        expected = 2 * word_vectors(model, "xy").sum(axis=0)
        np.testing.assert_allclose(model.transform_node([], {"word": ["x", "y"]}), expected, 1e-5)


class TestPartialFit:
    def test_f_goes_on_from_what_it_has_learned(self, mixed: EmbeddingPropagation) -> None:
        model = EmbeddingPropagation(**SMALL, **MIXED).fit(graph_of_values())
        before = {name: model.label_embeddings_[name].copy() for name in ("age", "title", "face")}
        dummy = model["c"][4:8].copy()
        # A new node brings new words, and the words in another order of frequency.
        grown = graph_of_values(
            nodes=["n"], age={"n": 99.0}, title={"n": "sky sea sea sea sea"}, face={"n": IMAGES[5]}
        )
        model.set_params(epochs=0).partial_fit(grown)
        for name, vectors in before.items():
            names = {node: i for i, node in enumerate(model.labels_[name])}
            for node, vector in zip(mixed.labels_[name], vectors, strict=True):
                now = model.label_embeddings_[name][names[node]]
                np.testing.assert_allclose(now, vector, rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(model["c"][4:8], dummy)

    def test_going_on_lowers_the_loss_further(self) -> None:
        model = EmbeddingPropagation(**(SMALL | {"epochs": 10}), label_types=["age"])
        model.fit(graph_of_values())
        first = np.mean(model.loss_history_["age"][:3])
        model.partial_fit(graph_of_values())
        assert len(model.loss_history_["age"]) == 20
        assert np.mean(model.loss_history_["age"][-3:]) < first

    @pytest.mark.parametrize("f", ["quantile_bins(n_bins=4)", "piecewise_linear", "linear", "mlp"])
    def test_every_f_of_numbers_goes_on(self, f: str) -> None:
        parts = {"label_embedding": f}
        model = EmbeddingPropagation(**SMALL, label_types=["age"], parts=parts)
        before = model.fit(graph_of_values()).label_embeddings_["age"].copy()
        model.set_params(epochs=0).partial_fit(graph_of_values(nodes=["n"], age={"n": -50.0}))
        after = dict(zip(model.labels_["age"], model.label_embeddings_["age"], strict=True))
        np.testing.assert_allclose([after[node] for node in "abd"], before, rtol=1e-5)

    def test_relations_go_on_too(self) -> None:
        graph = toy_graphs.messy(10, directed=True, n_relations=2)
        model = EmbeddingPropagation(**SMALL).fit(graph.with_inverses())
        before = {
            relation: model.relation_embeddings_["node"][i].copy()
            for i, relation in enumerate(model.relations_)
        }
        grown = toy_graphs.messy(10, directed=True, n_relations=3)
        model.set_params(epochs=0).partial_fit(grown)
        assert len(model.relations_) == 6
        for i, relation in enumerate(model.relations_):
            same = (model.relation_embeddings_["node"][i] == before.get(relation, np.nan)).all()
            assert same == (relation in before)

    def test_words_that_only_the_first_graph_had_are_still_known(self) -> None:
        parts = {"reconstruction": "max"}
        model = EmbeddingPropagation(**SMALL, parts=parts, label_types=["word"]).fit(GRAPH)
        fewer = Graph.from_edges(EDGES, labels={"word": {"a": ["x"], "b": ["new"]}})
        model.partial_fit(fewer)
        assert model.labels_["word"] == ("x", "new", "y", "z")
        new = Graph.from_edges([("n", "m"), ("n", "a")], labels={"word": {"n": ["y", "z"]}})
        expected = word_vectors(model, "yz").max(axis=0)
        np.testing.assert_allclose(model.transform(new)[row(new, "m")], expected, rtol=1e-6)

    def test_a_dummy_goes_on_from_its_vector_and_not_from_what_g_makes_of_it(self) -> None:
        # c has no words; its dummy weighs as much as the words of another node, 7 / 3.
        parts = {"aggregator": "sum"}
        model = EmbeddingPropagation(**SMALL, parts=parts, label_types=["word"]).fit(GRAPH)
        before = model["c"].copy()
        model.set_params(epochs=0).partial_fit(GRAPH)
        np.testing.assert_allclose(model["c"], before, rtol=1e-6)

    def test_a_new_label_type_has_relations_of_its_own(self) -> None:
        graph = toy_graphs.messy(10, words=False, directed=True, n_relations=2)
        model = EmbeddingPropagation(**SMALL).fit(graph)
        model.partial_fit(toy_graphs.messy(10, directed=True, n_relations=2))
        assert set(model.relation_embeddings_) == {"node", "word"}

    def test_another_width_is_refused(self) -> None:
        model = EmbeddingPropagation(**SMALL, label_types=["age"]).fit(graph_of_values())
        with pytest.raises(InvalidParameterError, match=r"dim=5 for label type 'age', but the"):
            model.set_params(dim=5).partial_fit(graph_of_values())


class TestPretrained:
    START: ClassVar = {"x": [1.0, 2.0, 3.0, 4.0], "z": [5.0, 6.0, 7.0, 8.0], "other": [0.0] * 4}

    def fitted(self, **params: Any) -> EmbeddingPropagation:
        settings = SMALL | {"pretrained": {"word": self.START}} | params
        return EmbeddingPropagation(**settings).fit(GRAPH)

    @pytest.mark.parametrize("engine", ["fused", "torch"])
    def test_matched_labels_start_from_the_given_vectors(self, engine: str) -> None:
        model, plain = self.fitted(epochs=0, engine=engine), self.fitted(epochs=0, pretrained=None)
        x, y, z = model.label_embeddings_["word"]
        assert (x.tolist(), z.tolist()) == (self.START["x"], self.START["z"])
        np.testing.assert_array_equal(y, plain.label_embeddings_["word"][1])
        np.testing.assert_array_equal(
            model.label_embeddings_["node"], plain.label_embeddings_["node"]
        )

    def test_refined_they_move(self) -> None:
        x, _, z = self.fitted().label_embeddings_["word"]
        assert (x != self.START["x"]).any()
        assert (z != self.START["z"]).any()

    @pytest.mark.parametrize("refine", [False, {"node": True, "word": False}])
    def test_without_refining_they_stay_and_others_move(self, refine: Any) -> None:
        model, start = self.fitted(parts={"refine": refine}), self.fitted(epochs=0)
        x, y, z = model.label_embeddings_["word"]
        assert (x.tolist(), z.tolist()) == (self.START["x"], self.START["z"])
        assert (y != start.label_embeddings_["word"][1]).any()
        assert (model.label_embeddings_["node"] != start.label_embeddings_["node"]).any()
        assert (model["c"][4:] != start["c"][4:]).any()  # a dummy

    def test_going_on_does_not_start_again(self) -> None:
        model = self.fitted()
        before = model.label_embeddings_["word"].copy()
        model.set_params(epochs=0).partial_fit(GRAPH)
        np.testing.assert_array_equal(model.label_embeddings_["word"], before)

    @pytest.mark.parametrize(
        ("pretrained", "message"),
        [
            ({"word": {"x": [1.0, 2.0]}}, "Label type 'word': the pretrained vectors have 2 dim"),
            ({"word": {"x": [1.0] * 4, "y": [1.0]}}, "'x' has 4 numbers and that of 'y' has 1"),
            ({"wrod": {}}, r"from label types with a lookup table \('node', 'word'\) .*'wrod'"),
            ([1, 2], r"must be a dict .* got 'list'"),
            ({"word": "missing.txt"}, "missing.txt"),
        ],
    )
    def test_bad_vectors_are_refused(self, pretrained: Any, message: str) -> None:
        with pytest.raises(InvalidParameterError, match=message):
            self.fitted(pretrained=pretrained)

    def test_numbers_have_no_table_to_start(self) -> None:
        with pytest.raises(InvalidParameterError, match="with a lookup table"):
            EmbeddingPropagation(**SMALL, pretrained={"age": {}}).fit(graph_of_values())


class TestParameterCounts:
    def test_of_tables_with_dummies_and_relations(self) -> None:
        assert EmbeddingPropagation(**SMALL).fit(GRAPH).n_parameters_ == 4 * (4 + 3 + 1)
        graph = Graph.from_edges([(0, 1), (1, 2)], relations=["r", "s"], directed=True)
        model = EmbeddingPropagation(**SMALL).fit(graph)
        assert model.n_parameters_ == 4 * (3 + 2)
        model = EmbeddingPropagation(**SMALL).fit(graph.with_inverses())
        assert model.n_parameters_ == 4 * (3 + 4)

    @pytest.mark.parametrize(
        ("parts", "more"),
        [
            ({"label_embedding": "linear"}, 4 * 1 + 4),
            ({"label_embedding": "mlp(hidden=3)"}, (3 + 3) + (3 * 4 + 4)),
            ({"label_embedding": "linear", "reconstruction": "attention"}, 4 * 1 + 4 + 4),
            ({"label_embedding": "linear", "reconstruction": "weighted_mean"}, 4 * 1 + 4 + 10),
        ],
    )
    def test_of_parts(self, parts: dict[str, Any], more: int) -> None:
        model = EmbeddingPropagation(**SMALL, label_types=["age"], parts=parts)
        model.fit(graph_of_values())
        dummies = 4 * 1
        assert model.n_parameters_ == dummies + more

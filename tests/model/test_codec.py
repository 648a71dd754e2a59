"""A saved model is the model, to the byte."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidModelError, InvalidParameterError
from embedprop.files.folder.load import load_model
from embedprop.files.folder.save import save_model
from embedprop.model.newcomers import Source

SOURCES = get_args(Source)

SMALL = {"dim": 4, "epochs": 2, "n_threads": 1}
NAMES: dict[str, list[Any]] = {
    "strings": ["a", "b c", "", "ü\n", "1"],
    "integers": [0, -5, 2**62, 7, 1],
    "tuples": [("a", 1), ("a", 2), ("b", (1, 2)), ("c",), ()],
    "a mixture": ["1", 1, 2.5, ("1", True), False],
}


def graph_of(names: list[Any]) -> Graph:
    return Graph.from_edges(
        list(pairwise(names)),
        labels={"word": {names[0]: {"x": 2.0, ("y", 1): 0.5}, names[1]: {7: 1.0}}},
    )


@pytest.fixture
def graph() -> Graph:
    return graph_of(NAMES["strings"])


@pytest.fixture
def model(graph: Graph) -> EmbeddingPropagation:
    return EmbeddingPropagation(**SMALL).fit(graph)


@pytest.fixture
def folder(model: EmbeddingPropagation, tmp_path: Path) -> Path:
    model.save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def loaded(folder: Path) -> EmbeddingPropagation:
    return EmbeddingPropagation.load(folder, verify=True)


def assert_same(one: EmbeddingPropagation, other: EmbeddingPropagation) -> None:
    assert one.get_params() == other.get_params()
    assert list(one.nodes_) == list(other.nodes_)
    assert list(map(type, one.nodes_)) == list(map(type, other.nodes_))
    assert one.node_embeddings_.tobytes() == other.node_embeddings_.tobytes()
    assert list(one.label_embeddings_) == list(other.label_embeddings_)
    for name, vectors in one.label_embeddings_.items():
        assert vectors.tobytes() == other.label_embeddings_[name].tobytes()
        assert list(one.labels_[name]) == list(other.labels_[name])
    assert one.loss_history_ == other.loss_history_
    assert one.seed_ == other.seed_


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_a_loaded_model_is_the_saved_one(names: list[Any], tmp_path: Path) -> None:
    model = EmbeddingPropagation(**SMALL).fit(graph_of(names))
    model.save(tmp_path / "model")
    loaded = EmbeddingPropagation.load(tmp_path / "model")
    assert_same(loaded, model)
    for name in names:
        np.testing.assert_array_equal(loaded[name], model[name])


@pytest.mark.parametrize(
    "params",
    [
        {"dim": {"node": 3, "word": np.int64(2)}, "margin": {"node": 1.0, "word": 0.5}},
        {"label_types": ("word",), "margin": np.float32(0.5)},
        {"label_types": ["node"], "max_neighbors": 2, "negatives": "degree"},
        {"random_state": None, "verbose": False, "epochs": 0},
        {"label_types": {"word"}},
    ],
)
def test_parameters_are_kept(params: dict[str, Any], graph: Graph, tmp_path: Path) -> None:
    model = EmbeddingPropagation(**(SMALL | params)).fit(graph)
    model.save(tmp_path)
    loaded = EmbeddingPropagation.load(tmp_path)
    for name, value in model.get_params(deep=False).items():
        kept = getattr(loaded, name)
        assert kept == (list(value) if isinstance(value, tuple | set) else value)
    assert loaded.node_embeddings_.tobytes() == model.node_embeddings_.tobytes()
    assert loaded.seed_ == model.seed_


USES: dict[str, Callable[[EmbeddingPropagation, Graph], Any]] = {
    "transform": lambda model, graph: model.transform(graph).tobytes(),
    "transform by own labels": lambda model, graph: model.transform(graph, "own").tobytes(),
    "transform_node": lambda model, _: model.transform_node(["a", "1"], {"word": ["x"]}).tobytes(),
    "similar": lambda model, _: model.similar("b c", k=3),
    "similar_labels": lambda model, _: model.similar_labels("word", 7),
    "similar ids": lambda model, _: model.similar_labels("node", "a"),
    "partial_fit": lambda model, graph: model.partial_fit(graph).node_embeddings_.tobytes(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_loaded_model_does_all_that_the_saved_one_does(
    use: Callable[[EmbeddingPropagation, Graph], Any],
    model: EmbeddingPropagation,
    loaded: EmbeddingPropagation,
) -> None:
    grown = Graph.from_edges(
        [("a", "b c"), ("new", "a"), ("new", "1"), ("newer", "new")],
        labels={"word": {"new": ["x", "q"], "a": [7]}},
    )
    assert use(loaded, grown) == use(model, grown)


def test_a_loaded_model_is_fitted_and_can_be_saved_again(
    loaded: EmbeddingPropagation, tmp_path: Path
) -> None:
    loaded.save(tmp_path / "again")
    assert_same(EmbeddingPropagation.load(tmp_path / "again"), loaded)
    loaded.save(tmp_path / "model")  # over the files that it reads from
    assert_same(EmbeddingPropagation.load(tmp_path / "model", verify=True), loaded)


def test_vectors_of_a_loaded_model_stay_on_disk(loaded: EmbeddingPropagation) -> None:
    vectors, owner = loaded.node_embeddings_, None
    while vectors is not None and not isinstance(vectors, bytes):
        owner, vectors = vectors, getattr(vectors, "base", None)
    assert type(owner).__name__ in ("memmap", "mmap") or isinstance(owner, np.memmap | memoryview)


def test_a_subclass_loads_itself(loaded: EmbeddingPropagation, tmp_path: Path) -> None:
    class Mine(EmbeddingPropagation):
        pass

    loaded.save(tmp_path / "mine")
    assert type(Mine.load(tmp_path / "mine")) is Mine


def test_node_ids_that_cannot_be_saved_are_refused_at_save(tmp_path: Path) -> None:
    graph = Graph.from_edges([(frozenset({1}), "b")])
    model = EmbeddingPropagation(**SMALL).fit(graph)
    with pytest.raises(InvalidParameterError, match="frozenset"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model" / "manifest.json").exists()


def damaged(
    folder: Path,
    settings: dict[str, Any] | None = None,
    arrays: dict[str, np.ndarray | None] | None = None,
) -> None:
    """Save a model anew with some settings and arrays changed; None leaves an array out."""
    stored = load_model(folder)
    all_arrays = {name: array.copy() for name, array in stored.arrays.items()} | (arrays or {})
    save_model(
        folder,
        settings=stored.settings | (settings or {}),
        arrays={name: array for name, array in all_arrays.items() if array is not None},
        vocabularies=stored.vocabularies,
    )


@pytest.mark.parametrize(
    "change",
    [
        {"arrays": {"embedding": np.zeros((4, 8), np.float32)}},
        {"arrays": {"totals": np.zeros((1, 5), np.float32)}},
        {"arrays": {"labels word": np.zeros((3, 3), np.float32)}},
        {"arrays": {"dummies word": None}},
        {"settings": {"instance": {"label_types": {"node": {"dim": 4, "margin": 1.0}}}}},
        {"settings": {"instance": {"label_types": 3}}},
        {"settings": {"instance": 3}},
        {"settings": {"parameters": None}},
    ],
)
def test_parts_that_do_not_fit_together_are_a_damaged_model(
    change: dict[str, Any], folder: Path
) -> None:
    damaged(folder, **change)
    with pytest.raises(
        InvalidModelError, match=r"settings and arrays do not fit together .* The model is damaged"
    ):
        EmbeddingPropagation.load(folder)


def test_parameters_of_a_later_version_are_named(
    loaded: EmbeddingPropagation, folder: Path
) -> None:
    damaged(folder, settings={"parameters": loaded.get_params(deep=False) | {"wings": 2}})
    with pytest.raises(InvalidModelError, match=r"this version does not know .*wings"):
        EmbeddingPropagation.load(folder)


def test_no_model_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidModelError, match="nowhere"):
        EmbeddingPropagation.load(tmp_path / "nowhere")


def test_a_model_records_what_it_was_trained_with_not_what_was_set_later(tmp_path: Path) -> None:
    graph = Graph.from_edges([("a", "b"), ("b", "c")], directed=True)
    model = EmbeddingPropagation(dim=4, margin=2.0, epochs=1, n_threads=1).fit(graph)
    model.set_params(margin=20.0, dim=9).save(tmp_path / "model")
    loaded = EmbeddingPropagation.load(tmp_path / "model")
    assert (loaded.margin, loaded.dim) == (2.0, 4)
    assert loaded.instance_ == model.instance_
    assert loaded.instance_.label_types["node"].margin == 2.0
    assert loaded.directed_


IMAGES = np.random.default_rng(0).uniform(size=(4, 5, 5)).astype(np.float32)
EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")]
VALUES = {
    "word": {"a": {"x": 2.0, "y": 1.0}, "b": ["y"]},
    "age:numeric": {"a": 1.0, "b": 5.0, "d": 2.0},
    "title:text": {"a": "a rose is a rose", "c": "the sea"},
    "face:image": {node: IMAGES[i] for i, node in enumerate("abc")},
}
GROWN_VALUES = {
    "word": {"n": ["x", "y"]},
    "age:numeric": {"n": 3.0},
    "title:text": {"n": "rose sea"},
    "face:image": {"n": IMAGES[3]},
}
GROWN = [("n", "a"), ("n", "b"), ("m", "n"), ("m", "c")]


class Bent(torch.nn.Module):
    """An f, or a g, of the user's own."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(1, 4)

    def forward(self, contents: Any) -> torch.Tensor:
        if isinstance(contents, torch.Tensor):
            return self.linear(contents)
        zeros = contents.vectors.new_zeros(contents.n_sets, 4)
        summed = zeros.index_add(0, contents.owners, contents.vectors)
        return torch.tanh(summed + self.linear.bias)


# Parts, and the label types and relations of the graph.
MODELS: dict[str, tuple[dict[str, Any], list[str], bool]] = {
    "numbers": ({}, ["age:numeric"], False),
    "numbers in bins": ({"label_embedding": "quantile_bins(n_bins=4)"}, ["age:numeric"], False),
    "texts by a GRU": ({"label_embedding": "gru"}, ["title:text"], False),
    "texts by a transformer": ({"label_embedding": "transformer"}, ["title:text"], False),
    "texts as words": ({}, ["title:text"], False),
    "images": ({}, ["face:image"], False),
    "everything": ({"label_embedding": {"title": "gru"}}, list(VALUES), False),
    "relations": ({}, ["word"], True),
    "inverse relations": ({}, ["word"], True),
    "relations and numbers": ({"reconstruction": "attention"}, ["age:numeric"], True),
    "learned weights": (
        {"aggregator": "weighted_mean", "reconstruction": "weighted_mean"}, ["word"], False,
    ),
    "attention": ({"aggregator": "attention", "reconstruction": "max"}, ["word"], False),
    "another loss": ({"loss": "softmax(temperature=0.5)", "distance": "cosine"}, ["word"], False),
    "another r": ({"representation": "both", "reconstruction": "sum"}, list(VALUES), False),
}  # fmt: skip


def fitted(name: str) -> EmbeddingPropagation:
    parts, types, has_relations = MODELS[name]
    relations = {"relations": ["r", "s", "r", "s", "r"], "directed": True} if has_relations else {}
    graph = Graph.from_edges(EDGES, labels={key: VALUES[key] for key in types}, **relations)
    if name == "inverse relations":
        graph = graph.with_inverses()
    return EmbeddingPropagation(**SMALL, parts=parts or None, learning_rate=0.1).fit(graph)


def grown_of(name: str) -> Graph:
    _, types, has_relations = MODELS[name]
    relations = {"relations": ["r", "s", "r", "s"], "directed": True} if has_relations else {}
    return Graph.from_edges(GROWN, labels={key: GROWN_VALUES[key] for key in types}, **relations)


@pytest.mark.parametrize("name", MODELS, ids=[name.replace(" ", "_") for name in MODELS])
def test_every_kind_of_model_is_loaded_as_it_was_saved(name: str, tmp_path: Path) -> None:
    model, grown = fitted(name), grown_of(name)
    model.save(tmp_path)
    loaded = EmbeddingPropagation.load(tmp_path, verify=True)
    assert_same(loaded, model)
    assert loaded.n_parameters_ == model.n_parameters_
    assert loaded.relations_ == model.relations_
    for label_type, vectors in model.relation_embeddings_.items():
        np.testing.assert_array_equal(loaded.relation_embeddings_[label_type], vectors)
    for source in SOURCES:
        expected = model.transform(grown, source)
        assert loaded.transform(grown, source).tobytes() == expected.tobytes()
    if model.relations_ is not None:
        assert loaded.predict_tails("a", "r") == model.predict_tails("a", "r")
        assert loaded.predict_heads("s", "a") == model.predict_heads("s", "a")


@pytest.mark.parametrize("name", ["everything", "relations", "learned weights"])
def test_a_loaded_model_goes_on_as_the_saved_one(name: str, tmp_path: Path) -> None:
    model, (_, types, has_relations) = fitted(name), MODELS[name]
    model.save(tmp_path / "one")
    loaded = EmbeddingPropagation.load(tmp_path / "one")
    loaded.save(tmp_path / "again")
    again = EmbeddingPropagation.load(tmp_path / "again")
    relations = {"relations": ["r", "s", "r", "t", "r"], "directed": True} if has_relations else {}
    graph = Graph.from_edges(EDGES, labels={key: VALUES[key] for key in types}, **relations)
    expected = model.partial_fit(graph).node_embeddings_
    for other in (loaded, again):
        np.testing.assert_allclose(other.partial_fit(graph).node_embeddings_, expected, rtol=1e-5)


class TestOwnModules:
    @pytest.fixture
    def model(self) -> EmbeddingPropagation:
        graph = Graph.from_edges(EDGES, labels={"age:numeric": VALUES["age:numeric"]})
        return EmbeddingPropagation(
            **SMALL,
            parts={"label_embedding": {"age": Bent()}, "aggregator": {"node": Bent()}},
        ).fit(graph)

    @pytest.fixture
    def loaded(self, model: EmbeddingPropagation, tmp_path: Path) -> EmbeddingPropagation:
        model.save(tmp_path)
        return EmbeddingPropagation.load(tmp_path)

    def test_known_nodes_and_labels_work(
        self, model: EmbeddingPropagation, loaded: EmbeddingPropagation
    ) -> None:
        assert loaded.node_embeddings_.tobytes() == model.node_embeddings_.tobytes()
        for name, vectors in model.label_embeddings_.items():
            np.testing.assert_array_equal(loaded.label_embeddings_[name], vectors)
        assert loaded.similar("a") == model.similar("a")
        assert loaded.n_parameters_ == model.n_parameters_
        assert loaded.score_edge("a", "b") == model.score_edge("a", "b")

    def test_what_needs_the_module_says_why_it_cannot(self, loaded: EmbeddingPropagation) -> None:
        new = Graph.from_edges([("n", "a")], labels={"age:numeric": {"n": 3.0}})
        with pytest.raises(
            InvalidParameterError,
            match=r"^label_embedding of label type 'age' was a module of your own, which a saved "
            r"model does not hold\. Known nodes keep their vectors; ",
        ):
            loaded.transform(new)

    def test_new_nodes_that_need_it_not_work(
        self, model: EmbeddingPropagation, loaded: EmbeddingPropagation
    ) -> None:
        new = Graph.from_edges([("n", "a"), ("n", "b")])
        assert loaded.transform(new).tobytes() == model.transform(new).tobytes()
        assert loaded.transform_node(["a"]).tobytes() == model.transform_node(["a"]).tobytes()

    def test_learning_further_needs_the_module_again(self, loaded: EmbeddingPropagation) -> None:
        graph = Graph.from_edges(EDGES, labels={"age:numeric": VALUES["age:numeric"]})
        with pytest.raises(InvalidParameterError, match="Set it again with set_params before"):
            loaded.partial_fit(graph)
        loaded.set_params(
            parts__label_embedding={"age": Bent()}, parts__aggregator={"node": Bent()}
        )
        assert loaded.partial_fit(graph).node_embeddings_.shape == (4, 8)


def test_start_vectors_from_memory_are_not_kept_and_files_are_by_name(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("x 1 2 3 4\n")
    given = {"word": tmp_path / "v.txt", "node": {"a": np.ones(4)}}
    graph = graph_of(["a", "b", "c"])
    model = EmbeddingPropagation(**SMALL, pretrained=given, parts={"refine": False}).fit(graph)
    model.save(tmp_path / "m")
    loaded = EmbeddingPropagation.load(tmp_path / "m")
    assert loaded.pretrained == {"word": str(tmp_path / "v.txt")}
    assert loaded.get_params()["parts__refine"] is False
    assert loaded.node_embeddings_.tobytes() == model.node_embeddings_.tobytes()
    model.set_params(pretrained={"node": {"a": np.ones(4)}}).fit(graph).save(tmp_path / "m")
    assert EmbeddingPropagation.load(tmp_path / "m").pretrained is None


@pytest.mark.parametrize(
    "change",
    [
        {"arrays": {"table age": None}},
        {"arrays": {"head scores": np.zeros((1, 2), np.float32)}},
        {"arrays": {"node vectors": np.zeros((4, 3), np.float32)}},
        {"arrays": {"relations node": np.zeros((2, 3), np.float32)}},
    ],
)
def test_further_parts_that_do_not_fit_are_a_damaged_model(
    change: dict[str, Any], tmp_path: Path
) -> None:
    graph = Graph.from_edges(
        EDGES, labels={"age:numeric": VALUES["age:numeric"]}, relations=list("rsrsr")
    )
    model = EmbeddingPropagation(**SMALL, parts={"representation": "both"})
    model.fit(graph, targets={"a": 1, "b": 2}).save(tmp_path)
    damaged(tmp_path, **change)
    with pytest.raises(InvalidModelError, match="settings and arrays do not fit together"):
        EmbeddingPropagation.load(tmp_path)

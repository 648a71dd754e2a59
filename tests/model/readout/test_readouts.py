"""Every readout: a newcomer has one vector, however it arrives, before and after saving."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import embedprop
from embedprop import ClosedForm, EmbeddingPropagation, Graph, Model
from embedprop.model.newcomers import Source
from embedprop.model.readout.readout import READOUTS

SMALL: dict[str, Any] = {"dim": 4, "epochs": 3, "learning_rate": 0.05, "n_threads": 1}
NODES, WORDS, RELATIONS = list("abcdef"), list("uvwxyz"), ["r", "s"]
EDGES = [(NODES[i], NODES[(i + step) % 6]) for i in range(6) for step in (1, 2)]
LABELS = {"word": {"a": {"u": 1.0, "v": 2.0}, "b": ["v", "w"], "d": ["x", "y"], "e": {"z": 3.0}}}
AGES = {"age:numeric": {"a": 1.0, "b": 5.0, "d": 2.0}}
PLAIN = Graph.from_edges(EDGES, labels=LABELS)
RELATED = Graph.from_edges(
    EDGES, labels=LABELS, relations=[RELATIONS[i % 2] for i in range(12)], directed=True
)
# The readout, what learns it, and from what.
CASES: dict[str, tuple[str, Any, Graph]] = {
    "ids and words": ("means", EmbeddingPropagation(**SMALL), PLAIN),
    "ids": ("means", EmbeddingPropagation(**SMALL, label_types=["node"]), PLAIN),
    "words": ("means", EmbeddingPropagation(**SMALL, label_types=["word"]), PLAIN),
    "relations": ("means", EmbeddingPropagation(**SMALL), RELATED),
    "inverses": ("means", EmbeddingPropagation(**SMALL), RELATED.with_inverses()),
    **{
        f"means, {r}": ("means", EmbeddingPropagation(**SMALL, parts={"representation": r}), PLAIN)
        for r in ("mean", "both", "pagerank")
    },
    "modules": (
        "modules",
        EmbeddingPropagation(**SMALL, parts={"aggregator": "sum", "reconstruction": "max"}),
        PLAIN,
    ),
    "modules, attention": (
        "modules",
        EmbeddingPropagation(**SMALL, parts={"reconstruction": "attention"}),
        RELATED,
    ),
    "modules, numbers": (
        "modules",
        EmbeddingPropagation(**SMALL, parts={"representation": "both"}),
        Graph.from_edges(EDGES, labels=LABELS | AGES),
    ),
    "closed form of ids": ("eigen", ClosedForm(dim=3, label_types=["node"]), PLAIN),
    "closed form of words": ("eigen", ClosedForm(dim=3, restart=0.3), PLAIN),
    "closed form of both": ("eigen", ClosedForm(dim=3, label_types=["node", "word"]), PLAIN),
}
every_case = pytest.mark.parametrize("name", CASES)


@cache
def model_of(name: str) -> Model:
    _, estimator, graph = CASES[name]
    return estimator.fit(graph).model_


def test_every_readout_is_tested_here() -> None:
    assert {readout for readout, _, _ in CASES.values()} == set(READOUTS)


@every_case
def test_a_model_has_the_readout_of_what_was_learned(name: str) -> None:
    assert model_of(name).readout.name == CASES[name][0]


@st.composite
def newcomers(draw: Any) -> dict[str, Any]:
    """Draw one new node: who speaks to it, with what weight, over what relation; its own labels."""
    neighbors = draw(st.lists(st.sampled_from(NODES), unique=True, max_size=4))
    positive = st.sampled_from([0.25, 0.5, 1.0, 3.0])
    each = {"min_size": len(neighbors), "max_size": len(neighbors)}
    words = st.dictionaries(st.sampled_from([*WORDS, "unknown"]), positive, max_size=4)
    return {
        "neighbors": neighbors,
        "weights": draw(st.none() | st.lists(positive, **each)),
        "relations": draw(st.lists(st.sampled_from(RELATIONS), **each)),
        "labels": draw(words),
    }


def by_graph(model: Model, new: dict[str, Any], *source: Source) -> np.ndarray:
    """Return the vector that a new node has in a graph of its own."""
    related = model.relations is not None and new["neighbors"]
    graph = Graph.from_edges(
        [(node, "new") for node in new["neighbors"]] or [("a", "b")],
        nodes=[*NODES, "new"],
        labels={"word": {"new": new["labels"]}} if new["labels"] else {},
        weights=new["weights"] if new["neighbors"] else None,
        relations=new["relations"] if related else ["r"] if model.relations else None,
        directed=model.directed,
    )
    vectors = model.transform(graph, *source)
    for node in NODES:
        np.testing.assert_array_equal(vectors[graph.nodes.find(node)], model[node])
    return vectors[graph.nodes.find("new")]


def alone(model: Model, new: dict[str, Any], **source: Source) -> np.ndarray:
    """Return the vector that a new node has by itself."""
    return model.transform_node(
        new["neighbors"],
        {"word": new["labels"]} if "word" in model.vocabularies else None,
        new["weights"],
        relations=new["relations"] if model.relations is not None else None,
        **source,
    )


@every_case
@given(new=newcomers())
def test_a_new_node_has_one_vector_whether_it_arrives_alone_or_in_a_graph(
    name: str, new: dict[str, Any]
) -> None:
    model = model_of(name)
    np.testing.assert_allclose(alone(model, new), by_graph(model, new), rtol=1e-4, atol=1e-6)


@every_case
@pytest.mark.parametrize("source", get_args(Source))
@given(new=newcomers())
def test_so_it_has_by_every_source_and_both_is_the_default(
    name: str, source: Source, new: dict[str, Any]
) -> None:
    model = model_of(name)
    one, other = alone(model, new, source=source), by_graph(model, new, source)
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
    if source == "both":
        np.testing.assert_array_equal(one, alone(model, new))
        np.testing.assert_array_equal(other, by_graph(model, new))


NEW = {"neighbors": ["a", "d"], "weights": [2.0, 1.0], "relations": ["s", "r"], "labels": {"v": 1}}


@every_case
def test_a_saved_readout_answers_to_the_byte_what_it_answered(name: str, tmp_path: Path) -> None:
    model = model_of(name)
    model.save(tmp_path / "model")
    loaded = embedprop.load(tmp_path / "model", verify=True)
    assert loaded.readout.name == model.readout.name
    assert loaded.n_parameters == model.n_parameters
    assert loaded.instance == model.instance
    for source in get_args(Source):
        assert by_graph(loaded, NEW, source).tobytes() == by_graph(model, NEW, source).tobytes()
        vectors = (alone(one, NEW, source=source).tobytes() for one in (loaded, model))
        assert len(set(vectors)) == 1
    loaded.save(tmp_path / "again")
    again = embedprop.load(tmp_path / "again", verify=True)
    assert alone(again, NEW).tobytes() == alone(model, NEW).tobytes()

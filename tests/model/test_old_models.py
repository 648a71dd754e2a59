"""Models that version 0.1 saved, at commit e33ba8e, load and answer what they answered then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.model.make_old_models import CASES, SOURCES, read_graph

import embedprop
from embedprop import ClosedForm, EmbeddingPropagation, Graph, Model

SAVED = Path(__file__).parent / "saved_at_0_1"
CLOSED_FORMS = [name for name in CASES if name.startswith("closed")]
CONTINUED = [name for name, case in CASES.items() if case.continues]


class Saved(NamedTuple):
    """A saved model, a graph with new nodes, and the answers of that time."""

    model: Model
    arrivals: Graph
    answers: dict[str, Any]
    vectors: dict[str, Any]


def read(name: str) -> Saved:
    folder = SAVED / name
    with np.load(folder / "vectors.npz") as arrays:
        vectors = dict(arrays)
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    arrivals = read_graph(folder / "arrivals.json")
    return Saved(embedprop.load(folder / "model", verify=True), arrivals, answers, vectors)


@pytest.fixture(params=CASES)
def saved(request: pytest.FixtureRequest) -> Saved:
    return read(request.param)


def assert_near(found: Any, expected: Any) -> None:
    """What is computed differs by rounding from machine to machine."""
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def assert_same_scores(found: Any, expected: list[tuple[Any, float]]) -> None:
    assert [name for name, _ in found] == [name for name, _ in expected]
    assert_near([score for _, score in found], [score for _, score in expected])


def test_every_saved_folder_is_a_case() -> None:
    assert {folder.name for folder in SAVED.iterdir()} == set(CASES)


def test_names_and_vectors_are_the_same_to_the_byte(saved: Saved) -> None:
    model, answers, vectors = saved.model, saved.answers, saved.vectors
    assert list(model.nodes) == answers["names"]
    assert model.vectors.tobytes() == vectors["nodes"].tobytes()
    assert {name: list(names) for name, names in model.vocabularies.items()} == answers["labels"]
    for name, table in model.label_vectors.items():
        assert np.array_equal(table, vectors[f"labels {name}"])
    # JSON has lists where the names of inverse relations are tuples.
    names = None if model.relations is None else json.loads(json.dumps(list(model.relations)))
    assert names == answers["relations"]
    for name, table in model.relation_vectors.items():
        assert np.array_equal(table, vectors[f"relations {name}"])


def test_it_is_known_how_it_was_learned(saved: Saved) -> None:
    model, learning = saved.model, saved.model.learning
    assert saved.answers["settings"] == {
        "directed": model.directed,
        "seed": learning.seed,
        "n_parameters": model.n_parameters,
        "loss_history": learning.loss_history,
        "residuals": learning.residuals,
    }


@pytest.mark.parametrize("source", SOURCES)
def test_newcomers_of_a_graph_get_the_same_vectors(saved: Saved, source: Any) -> None:
    found = saved.model.transform(saved.arrivals, source)
    assert_near(found, saved.vectors[f"transform {source}"])


@pytest.mark.parametrize("source", SOURCES)
def test_a_single_newcomer_gets_the_same_vector(saved: Saved, source: Any) -> None:
    found = saved.model.transform_node(**saved.answers["transform_node"], source=source)
    assert_near(found, saved.vectors[f"transform_node {source}"])


def test_the_same_nodes_and_labels_are_similar(saved: Saved) -> None:
    assert_same_scores(saved.model.similar("n1", k=4), saved.answers["similar"])
    for name, expected in saved.answers["similar_labels"].items():
        own = saved.answers["transform_node"]["labels"][name][0]
        assert_same_scores(saved.model.similar_labels(name, own, k=2), expected)


@pytest.mark.parametrize("name", [name for name in CASES if name not in CLOSED_FORMS])
def test_edges_are_as_likely_as_they_were(name: str) -> None:
    model, _, answers, _ = read(name)
    links = answers["links"]
    relation = links["relation"]
    assert model.score_edge("n0", "n5", relation) == pytest.approx(links["score"], rel=1e-4)
    assert_same_scores(model.predict_tails("n2", relation, k=3), links["tails"])
    assert_same_scores(model.predict_heads(relation, "n2", k=3), links["heads"])


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_a_closed_form_measures_edges_by_squared_distances(name: str) -> None:
    # At e33ba8e it claimed to measure as EP-B does.
    model = read(name).model
    a, b = (model.embedding[model.row(node)] for node in ("n0", "n5"))
    assert model.score_edge("n0", "n5") == pytest.approx(-((a - b) ** 2).sum(), rel=1e-4)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.has_targets])
def test_a_head_predicts_the_same_classes(name: str) -> None:
    model, arrivals, answers, _ = read(name)
    assert model.predict() == answers["classes"]["known"]
    assert model.predict(arrivals) == answers["classes"]["arrivals"]


def test_its_estimator_has_the_settings_that_it_was_learned_with() -> None:
    types = EmbeddingPropagation.load(SAVED / "fused_types" / "model")
    assert types.dim == {"node": 4, "word": 5, "topic": 3}
    assert (types.epochs, types.max_neighbors, types.negatives) == (3, 2, "degree")
    fast = EmbeddingPropagation.load(SAVED / "fused_ids_fast" / "model")
    assert (fast.margin, fast.epochs, fast.schedule, fast.random_state) == (2.0, 120, "linear", 5)
    solved = ClosedForm.load(SAVED / "closed_directed" / "model")
    assert (solved.dim, solved.restart) == (3, 0.4)


def test_an_estimator_refuses_a_model_of_the_other_method() -> None:
    for estimator, name in ((ClosedForm, "fused_ids"), (EmbeddingPropagation, "closed_ids")):
        with pytest.raises(embedprop.errors.InvalidModelError):
            estimator.load(SAVED / name / "model")


@pytest.mark.parametrize("name", CONTINUED)
def test_what_is_learned_further_is_the_same(name: str) -> None:
    _, arrivals, _, vectors = read(name)
    estimator = EmbeddingPropagation.load(SAVED / name / "model")
    assert_near(estimator.partial_fit(arrivals).node_embeddings_, vectors["continued"])


@pytest.mark.parametrize("name", ["fused_types", "torch_texts", "closed_both", "torch_head_both"])
def test_saved_again_it_answers_the_same(name: str, tmp_path: Path) -> None:
    old = read(name)
    old.model.save(tmp_path / "model")
    new = embedprop.load(tmp_path / "model")
    assert new.vectors.tobytes() == old.vectors["nodes"].tobytes()
    assert_near(new.transform(old.arrivals, "both"), old.vectors["transform both"])

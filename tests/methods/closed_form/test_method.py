"""ClosedFormMethod: what it reads, refuses, estimates and learns."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.methods.closed_form.made import closed_form, made_graph

import embedprop
from embedprop.errors import InvalidParameterError
from embedprop.instance.parameters import ClosedFormParameters
from embedprop.methods.closed_form.method import ClosedFormMethod
from embedprop.methods.random_streams import RandomStreams

KINDS = {"node": "set", "word": "set", "age": "numeric", "title": "text"}


def method_of(kinds: dict[str, str], **params: Any) -> ClosedFormMethod:
    return ClosedFormMethod.of(ClosedFormParameters(**params), kinds)


@pytest.mark.parametrize(
    ("kinds", "wanted", "read"),
    [
        (KINDS, None, ["word"]),
        (KINDS, ["node"], ["node"]),
        (KINDS, ["word", "node"], ["node", "word"]),
        ({"node": "set", "age": "numeric"}, None, ["node"]),
        ({"node": "set", "word": "set", "topic": "set"}, None, ["word", "topic"]),
    ],
)
def test_it_reads_sets_of_labels(
    kinds: dict[str, str], wanted: list[str] | None, read: list[str]
) -> None:
    assert list(method_of(kinds, label_types=wanted).instance.label_types) == read


def test_what_it_cannot_read_is_left_aside_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="embedprop"):
        method = method_of(KINDS)
    assert caplog.messages == []  # it is said once, where learning begins
    why = "the closed form learns from sets of labels; EP-B reads other kinds as well"
    assert [(one.text, one.is_warning) for one in method.notices] == [
        (f"Not used: 'age' ({why}).", True),
        (f"Not used: 'title' ({why}).", True),
        ("Not used: 'node' (beside labels that nodes share, ids do not help).", False),
    ]


def test_asking_for_what_it_cannot_read_is_refused() -> None:
    with pytest.raises(
        InvalidParameterError,
        match=r"^label_types=\['age'\]: 'age' is of kind 'numeric', but the closed form learns "
        r"from sets of labels; EP-B reads other kinds as well\.$",
    ):
        method_of(KINDS, label_types=["age"])


def test_its_settings_are_those_of_the_parameters() -> None:
    assert method_of({"node": "set"}, dim=4, restart=0.3).settings == {
        "dim": 4, "regularization": None, "restart": 0.3, "label_types": None,
        "random_state": 0, "verbose": True,
    }  # fmt: skip


def test_what_does_not_fit_into_memory_is_estimated_and_refused() -> None:
    graph = made_graph()
    method = method_of(graph.kinds, dim=10**9)
    assert method.estimate(graph).needed > 10**11
    with pytest.raises(InvalidParameterError, match=r"\(dimensions: word 1000000000\)"):
        method.learn(graph, RandomStreams(0))


def test_it_reports_what_is_being_solved() -> None:
    graph, heard = made_graph(700, 650), []
    method = method_of(graph.kinds, dim=8, label_types=["node"])
    method.learn(graph, RandomStreams(0), lambda *said: heard.append(said))
    assert heard[:2] == [
        (1, None, "solving 'node': 1 message pass"),
        (2, None, "solving 'node': 2 message passes"),
    ]


class TestItsDistance:
    """The sum over the edges is made of squared distances: so are the scores of edges."""

    def test_a_saved_model_claims_no_other_one(self, tmp_path: Path) -> None:
        closed_form(4).fit(made_graph()).save(tmp_path)
        settings = json.loads((tmp_path / "manifest.json").read_text())["settings"]
        assert settings["method"] == "closed-form"
        assert settings["instance"] == {
            "label_types": {"word": {"dim": 4, "regularization": 5.0}}, "restart": 0.15
        }  # fmt: skip
        assert embedprop.load(tmp_path).instance.distances == {"word": "squared_euclidean"}

    @pytest.mark.parametrize("types", [["node"], ["word"], ["node", "word"]], ids=str)
    def test_edges_are_scored_by_it(self, types: list[str], tmp_path: Path) -> None:
        model = closed_form(4, label_types=types).fit(made_graph())
        model.save(tmp_path)
        loaded = embedprop.load(tmp_path)
        squares = ((model[3].astype(np.float64) - model[8]) ** 2).sum()
        assert model.score_edge(3, 8) == pytest.approx(-squares, rel=1e-5)
        assert loaded.score_edge(3, 8) == model.score_edge(3, 8)
        (best, score), *_ = model.predict_tails(3, k=1)
        assert score == pytest.approx(-((model[3] - model[best]) ** 2).sum(), rel=1e-3)

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from embedprop import Graph
from embedprop.errors import UnknownComponentError
from embedprop.evaluation.records import append_record, read_records
from embedprop.evaluation.splits import Split
from embedprop.evaluation.targets import Targets
from embedprop.paper import experiments
from embedprop.paper.experiments import _dataset, turned_round, without_citations_by
from embedprop.paper.reproduce import reproduce, run_unit
from embedprop.paper.rows import MARGINS
from embedprop.paper.units import Unit, units
from embedprop.paper.vectors import Cache

needs_data = pytest.mark.skipif(
    "EMBEDPROP_DATA" not in os.environ, reason="EMBEDPROP_DATA names no folder of data sets"
)


@needs_data
def test_majority_on_ppi_is_within_two_deviations_of_the_paper(tmp_path):
    record = run_unit(Unit("table3", "ppi", "majority", "50", 0), tmp_path)
    assert record["micro"] == pytest.approx(0.0594, abs=2 * 0.0066)
    assert record["macro"] == pytest.approx(0.0151, abs=2 * 0.0027)


@needs_data
def test_new_nodes_of_table_4_are_tested_and_never_trained_on(tmp_path):
    record = run_unit(Unit("table4", "ppi", "wvrn", "20", 0), tmp_path)
    assert 0.05 < record["micro"] < 0.15


@needs_data
@pytest.mark.parametrize("name", ["ppi", "cora", "pubmed"])
def test_there_are_no_labels_but_those_of_the_paper(name):
    labels = _dataset(name, directed=False, tf_idf=False).graph.labels
    assert set(labels) == ({"node"} if name == "ppi" else {"node", "word"})


def test_edges_are_turned_round():
    graph = turned_round(Graph.from_edges([("a", "b"), ("a", "c"), ("b", "c")], directed=True))
    heard = {graph.nodes[i]: {graph.nodes[j] for j in graph.neighbors.of(i)} for i in range(3)}
    assert heard == {"a": {"b", "c"}, "b": {"c"}, "c": set()}


def test_citations_by_some_papers_are_left_out_those_of_them_stay():
    # a cites b, b cites c, c cites a and d; a paper hears those that it cites.
    citations = turned_round(
        Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")], directed=True)
    )
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    left = without_citations_by(np.array([2]), graph, citations)
    heard = {left.nodes[i]: {left.nodes[j] for j in left.neighbors.of(i)} for i in range(4)}
    assert heard == {"a": {"b"}, "b": {"a", "c"}, "c": {"b"}, "d": set()}


@pytest.mark.parametrize(
    ("method", "hidden_nodes", "n_edges"), [("gcn-i", [2], 4), ("gcn-i-cited", [], 2)]
)
def test_gcn_i_has_two_readings(method, hidden_nodes, n_edges, monkeypatch):
    class Stub:
        def __init__(self, **settings):
            assert settings == {"random_state": 3, "n_threads": 1}

        def fit_predict(self, graph, _targets, _train, validation, hidden):
            assert validation.tolist() == [1]
            assert hidden.tolist() == hidden_nodes
            assert graph.neighbors.n_values == n_edges
            return np.zeros((graph.n_nodes, 2))

    arcs = [("a", "b"), ("c", "b")]
    citations = turned_round(Graph.from_edges(arcs, directed=True))
    monkeypatch.setattr(experiments, "BASELINES", {"gcn-i": Stub})
    monkeypatch.setattr(experiments, "_dataset", lambda *_, **__: SimpleNamespace(graph=citations))
    dataset = SimpleNamespace(graph=Graph.from_edges(arcs), targets=np.eye(3, 2, dtype=bool))
    split = Split(*(np.array([node]) for node in (0, 1, 2)))
    scores = experiments._predict(Unit("table5", "cora", method, "inductive", 3), dataset, split)
    assert scores.shape == (3, 2)


def test_the_margin_is_chosen_once_per_data_set(tmp_path, monkeypatch):
    asked = []

    def vectors(unit, _graph, known, margin, _cache):
        asked.append((unit, known, margin))
        return np.random.default_rng(int(margin)).normal(size=(60, 4)), 0.0

    monkeypatch.setattr(experiments, "_vectors", vectors)
    targets = Targets(np.eye(3, dtype=bool)[np.arange(60) % 3], ("a", "b", "c"))
    chosen = {
        experiments._chosen_margin(Unit(table, "ppi", "epb", share, run), None, targets, cache)
        for cache in [Cache(tmp_path)]
        for table, share, run in (("table3", "10", 0), ("table3", "90", 4), ("table4", "40", 2))
    }
    assert len(chosen) == 1
    first = Unit("table3", "ppi", "epb", "10", 0)
    assert asked == [(first, None, margin) for margin in MARGINS]


def test_what_has_a_line_is_not_run_again(tmp_path: Path):
    results = tmp_path / "results.jsonl"
    for unit in units(["table3"], quick=True):
        append_record(results, unit.to_dict())
    before = read_records(results)
    assert reproduce(["table3"], results, quick=True, n_processes=1) == []
    assert read_records(results) == before


@pytest.mark.parametrize("what", ["method", "dataset"])
def test_an_unknown_method_or_data_set_is_named_before_any_work(tmp_path: Path, what: str):
    results = tmp_path / "results.jsonl"
    with pytest.raises(UnknownComponentError, match=rf"{what}='nope'.*'(epb|ppi)'"):
        reproduce(["table3"], results, quick=True, **{f"{what}s": ["nope"]})
    assert not results.exists()

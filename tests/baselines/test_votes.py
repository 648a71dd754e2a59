"""Majority and wvRN against values computed by hand.

a --- u --- b          a: red, b: red, c: blue, d: blue and green
|     |                u: neighbors a, b, c
v --- c --- d          v: neighbors a, c, w       w: neighbor v alone       x: isolated
|
w           x
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from embedprop import Graph
from embedprop.baselines import Majority, WeightedVote
from embedprop.errors import InvalidParameterError

NODES = "abcduvwx"
EDGES = ["au", "ub", "uc", "av", "vc", "cd", "vw"]
RED, BLUE, GREEN = np.eye(3)
TARGETS = csr_array(
    np.array([RED, RED, BLUE, BLUE + GREEN, GREEN, GREEN, GREEN, GREEN], dtype=bool)
)
TRAIN = np.array([0, 1, 2, 3])
# Two of four training nodes are red, two blue, one green.
SHARES = [0.5, 0.5, 0.25]


def scores_of(
    method: Majority | WeightedVote, weights: list[float] | None = None
) -> dict[str, list[float]]:
    graph = Graph.from_edges([tuple(edge) for edge in EDGES], nodes=list(NODES), weights=weights)
    return dict(zip(NODES, method.fit_predict(graph, TARGETS, TRAIN).tolist(), strict=True))


def test_majority_scores_every_node_by_the_shares_of_the_training_nodes() -> None:
    assert scores_of(Majority()) == dict.fromkeys(NODES, SHARES)


def test_a_node_has_the_mean_of_the_classes_of_its_known_neighbors() -> None:
    scores = scores_of(WeightedVote())
    assert scores["u"] == pytest.approx([2 / 3, 1 / 3, 0])
    assert scores["v"] == pytest.approx([1 / 2, 1 / 2, 0])  # w is not known and does not vote


def test_without_a_known_neighbor_a_node_has_the_shares_of_the_classes() -> None:
    scores = scores_of(WeightedVote())
    assert scores["w"] == scores["x"] == SHARES


def test_training_nodes_keep_their_classes() -> None:
    scores = scores_of(WeightedVote(n_rounds=3))
    assert [scores[node] for node in "abcd"] == TARGETS.toarray()[:4].astype(float).tolist()


def test_votes_count_by_the_weights_of_the_edges() -> None:
    scores = scores_of(WeightedVote(), weights=[1, 2, 5, 1, 3, 1, 1])
    assert scores["u"] == pytest.approx([3 / 8, 5 / 8, 0])
    assert scores["v"] == pytest.approx([1 / 4, 3 / 4, 0])


def test_one_round_of_relaxation_takes_the_mean_of_all_estimates() -> None:
    scores = scores_of(WeightedVote(n_rounds=1))
    # v hears red from a, blue from c, and the shares from w.
    assert scores["v"] == pytest.approx([1.5 / 3, 1.5 / 3, 0.25 / 3])
    assert scores["w"] == pytest.approx(SHARES)  # v had the shares too
    assert scores["x"] == SHARES


def test_the_second_round_takes_a_step_shorter_by_the_decay() -> None:
    scores = scores_of(WeightedVote(n_rounds=2, decay=0.5))
    # w: half of what v had after one round, half of its own.
    assert scores["w"] == pytest.approx([0.5, 0.5, (0.25 / 3 + 0.25) / 2])


def test_in_a_directed_graph_sources_vote_for_targets() -> None:
    graph = Graph.from_edges([("a", "u"), ("u", "c")], nodes=list("acu"), directed=True)
    targets = csr_array(np.array([[1, 0], [0, 1], [0, 0]], bool))
    scores = WeightedVote().fit_predict(graph, targets, np.array([0, 1]))
    assert scores[2].tolist() == [1, 0]


def test_hidden_nodes_change_nothing() -> None:
    graph = Graph.from_edges([tuple(edge) for edge in EDGES], nodes=list(NODES))
    for method in (Majority(), WeightedVote()):
        np.testing.assert_array_equal(
            method.fit_predict(graph, TARGETS, TRAIN, hidden=np.array([4, 5])),
            method.fit_predict(graph, TARGETS, TRAIN),
        )


@pytest.mark.parametrize("settings", [{"n_rounds": -1}, {"decay": 0.0}, {"decay": 1.5}])
def test_impossible_rounds_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidParameterError, match="n_rounds must not be negative and decay"):
        scores_of(WeightedVote(**settings))

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare
from tests import toy_graphs

from embedprop import Graph
from embedprop.baselines.planetoid_contexts import window_pairs
from embedprop.baselines.walking import WalkGraph
from embedprop.errors import InvalidParameterError
from embedprop.kernels.draws.counters import uniform
from embedprop.kernels.line import alias_table, draw_alias

KEY = np.uint64(7)
# Seeds are fixed, so these tests pass always or never; a fair draw fails once in 10,000 choices.
UNLIKELY = 1e-4


def third_nodes(graph: Graph, start: str, second: str, p: float, q: float) -> dict[str, int]:
    """Where walks that began start, second went next, and how often."""
    starts = np.full(40_000, graph.nodes.find(start), np.int32)
    walks = WalkGraph.of(graph).walks(starts, 3, KEY, p=p, q=q)
    went = walks[walks[:, 1] == graph.nodes.find(second), 2]
    counts = np.bincount(went, minlength=graph.n_nodes)
    return dict(zip(graph.nodes, counts.tolist(), strict=True))


# t - v is walked; then back to t, to the common neighbor n, or away to f.
TRIANGLE = [("t", "v"), ("t", "n"), ("v", "n"), ("v", "f")]


@pytest.mark.parametrize(
    ("p", "q"), [(1.0, 1.0), (0.25, 4.0), (4.0, 0.5), (1e-4, 1.0), (1e4, 1e4), (1.0, 1e-4)]
)
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0, 0.5]])
def test_second_order_steps_have_node2vec_s_probabilities(p, q, weights) -> None:
    graph = Graph.from_edges(TRIANGLE, weights=weights)
    to_t, _, to_n, to_f = weights or [1.0] * 4
    chances = np.array([to_t / p, to_n, to_f / q])
    went = third_nodes(graph, "t", "v", p, q)
    counts = np.array([went["t"], went["n"], went["f"]])
    assert went["v"] == 0
    expected = counts.sum() * chances / chances.sum()
    likely = expected > 5
    if likely.sum() > 1:
        seen = np.append(counts[likely], counts[~likely].sum())
        wanted = np.append(expected[likely], expected[~likely].sum())
        assert chisquare(seen[wanted > 0], wanted[wanted > 0]).pvalue > UNLIKELY
    assert counts[~likely].sum() < 30


def test_first_steps_follow_the_weights() -> None:
    graph = Graph.from_edges([("v", "a"), ("v", "b"), ("v", "c")], weights=[1, 2, 5])
    walks = WalkGraph.of(graph).walks(np.zeros(8000, np.int32), 2, KEY)
    counts = np.bincount(walks[:, 1], minlength=4)
    assert counts[0] == 0
    assert chisquare(counts[1:], [1000, 2000, 5000]).pvalue > UNLIKELY


def test_each_step_follows_an_edge_from_source_to_target() -> None:
    graph = toy_graphs.messy(directed=True, weighted_edges=True)
    starts = np.arange(graph.n_nodes, dtype=np.int32)
    walks = WalkGraph.of(graph).walks(starts, 12, KEY, p=0.5, q=2.0)
    steps = np.stack([walks[:, :-1].ravel(), walks[:, 1:].ravel()], axis=1)
    steps = steps[steps[:, 1] >= 0]
    assert len(steps) > 50
    assert all(source in graph.neighbors.of(target) for source, target in steps)


def test_a_walk_ends_where_no_edge_leads_on() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], nodes=range(4), directed=True)
    walks = WalkGraph.of(graph).walks(np.arange(4, dtype=np.int32), 4, KEY)
    assert walks.tolist() == [[0, 1, 2, -1], [1, 2, -1, -1], [2, -1, -1, -1], [3, -1, -1, -1]]


def test_relations_between_the_same_nodes_add_up() -> None:
    graph = Graph.from_edges(
        [("v", "a"), ("v", "a"), ("v", "b")], relations=["likes", "knows", "likes"]
    )
    walks = WalkGraph.of(graph).walks(np.zeros(6000, np.int32), 2, KEY)
    counts = np.bincount(walks[:, 1], minlength=3)
    assert chisquare(counts[1:], [4000, 2000]).pvalue > UNLIKELY


@pytest.mark.parametrize("n_threads", [2, 3, None])
def test_walks_do_not_depend_on_the_number_of_threads(n_threads) -> None:
    walk_graph = WalkGraph.of(toy_graphs.messy(weighted_edges=True))
    starts = np.tile(np.arange(22, dtype=np.int32), 3)
    np.testing.assert_array_equal(
        walk_graph.walks(starts, 9, KEY, p=0.3, q=3, n_threads=1),
        walk_graph.walks(starts, 9, KEY, p=0.3, q=3, n_threads=n_threads),
    )


@pytest.mark.parametrize("weighted", [True, False])
def test_walks_without_some_nodes_never_meet_them(weighted) -> None:
    graph = toy_graphs.messy(weighted_edges=weighted)
    gone = np.array([0, 3, 7])
    left = WalkGraph.of(graph).without(gone)
    starts = np.setdiff1d(np.arange(22), gone).astype(np.int32)
    walks = left.walks(np.repeat(starts, 20), 8, KEY)
    assert not np.isin(walks, gone).any()
    assert (walks[:, 1] >= 0).mean() > 0.8
    if weighted:
        # What is left weighs what it weighed.
        before, after = weights_by_edge(WalkGraph.of(graph)), weights_by_edge(left)
        assert after
        for edge, weight in after.items():
            assert weight == pytest.approx(before[edge])


def weights_by_edge(walk_graph: WalkGraph) -> dict[tuple[int, int], float]:
    """Return (source, target) → the weight that the running sums give the edge."""
    targets, found = walk_graph.targets, {}
    for v in range(targets.n_sets):
        sums = walk_graph.sums[targets.ptr[v] : targets.ptr[v + 1]]
        weights = np.diff(sums, prepend=0.0).tolist()
        found |= {(v, u): w for u, w in zip(targets.of(v).tolist(), weights, strict=True)}
    return found


@pytest.mark.parametrize(("p", "q"), [(0, 1), (1, -2), (float("nan"), 1)])
def test_p_and_q_must_be_positive(p, q) -> None:
    graph = WalkGraph.of(toy_graphs.path())
    with pytest.raises(InvalidParameterError, match="p and q must be positive"):
        graph.walks(np.zeros(1, np.int32), 3, KEY, p=p, q=q)


def test_an_alias_table_draws_by_weight() -> None:
    weights = np.array([0.0, 3.0, 1.0, 0.5, 5.5])
    keep, other = alias_table(weights)
    drawn = [draw_alias(keep, other, uniform(KEY, 0, i)) for i in range(10_000)]
    counts = np.bincount(drawn, minlength=5)
    assert counts[0] == 0
    assert chisquare(counts[1:], 1000 * weights[1:]).pvalue > UNLIKELY


def test_a_window_pairs_each_node_with_those_near_it() -> None:
    nodes, contexts = window_pairs(np.array([[1, 2, 3, 4]], np.int32), window=2)
    pairs = sorted(zip(nodes.tolist(), contexts.tolist(), strict=True))
    assert pairs == [(a, b) for a in range(1, 5) for b in range(1, 5) if abs(a - b) <= 2]

"""Ranking and AUC of a fitted model, on graphs whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.evaluation.links import (
    edge_auc,
    filtered_ranking,
    held_out_auc,
    rank_links,
    triples_of,
)
from embedprop.graph.vocabulary import Vocabulary


def line(n: int, steps: dict[str, int]) -> Graph:
    """Nodes on a line, which translations can lay out; relation r leads steps[r] further."""
    rows = [(i, i + step, name) for name, step in steps.items() for i in range(n - step)]
    edges, relations = [row[:2] for row in rows], [row[2] for row in rows]
    return Graph.from_edges(edges, relations=relations, directed=True)


def test_triples_are_in_the_ids_of_the_model() -> None:
    graph = Graph.from_edges([("b", "a"), ("a", "c")], relations=["s", "r"], directed=True)
    nodes, relations = Vocabulary.trusted("abc"), Vocabulary.trusted("rs")
    found = triples_of(graph, nodes, relations)
    assert sorted(found.tolist()) == [[0, 0, 2], [1, 1, 0]]


def test_a_model_that_has_learned_a_line_ranks_its_edges_first() -> None:
    graph = line(12, {"next": 1, "third": 3})
    model = EmbeddingPropagation(
        dim=16, epochs=300, neighborhood="edges", learning_rate=0.02, batch_size=8, verbose=False,
    ).fit(graph)  # fmt: skip
    result = rank_links(model, graph, [graph])
    assert result.n_queries == 2 * (11 + 9)
    assert result.mrr > 0.9
    assert "0 test triples with a node unseen in training" in result.protocol
    untrained = EmbeddingPropagation(dim=16, epochs=0, verbose=False).fit(graph)
    assert rank_links(untrained, graph, [graph]).mrr < 0.6


@pytest.mark.parametrize("inverse", [False, True])
def test_the_rank_is_that_of_the_scores(inverse: bool) -> None:
    graph = line(7, {"next": 1})
    model = EmbeddingPropagation(dim=4, epochs=3, verbose=False)
    model.fit(graph.with_inverses() if inverse else graph)
    back, over = (("inverse", "next"), 1) if inverse else ("next", -1)
    ranks = []
    for i in range(6):
        tails = [model.score_edge(i, node, "next") for node in range(7)]
        ranks.append(1 + sum(score > tails[i + 1] for score in tails))
        heads = [
            model.score_edge(i + 1, node, back)
            if over == 1
            else model.score_edge(node, i + 1, "next")
            for node in range(7)
        ]
        ranks.append(1 + sum(score > heads[i] for score in heads))
    assert rank_links(model, graph, [graph]).mean_rank == pytest.approx(np.mean(ranks))


def test_edges_without_relations_or_of_unknown_nodes_are_refused() -> None:
    model = EmbeddingPropagation(dim=4, epochs=1, verbose=False).fit(line(5, {"next": 1}))
    with pytest.raises(InvalidGraphError, match="directed edges with relations"):
        rank_links(model, Graph.from_edges([(0, 1)]), [])
    stranger = Graph.from_edges([(0, "x")], relations=["next"], directed=True)
    with pytest.raises(InvalidGraphError, match="unknown to the model"):
        rank_links(model, stranger, [])


def test_held_out_edges_of_two_cliques_score_higher_than_pairs_across() -> None:
    edges = [(f"{side}{i}", f"{side}{j}") for side in "ab" for i in range(8) for j in range(i)]
    graph = Graph.from_edges([*edges, ("a0", "b0")])
    model = EmbeddingPropagation(dim=8, epochs=60, learning_rate=0.02, verbose=False)
    assert edge_auc(model, graph, share=0.2) > 0.9
    assert not hasattr(model, "node_embeddings_")


N_NODES = 5
TEST = np.array([[0, 0, 1], [2, 1, 4]])
KNOWN = np.array([[0, 0, 1], [0, 0, 2], [0, 1, 3], [2, 1, 4], [3, 1, 4], [0, 0, 2]])
TAILS = {  # scores of all nodes as tail of (head, relation)
    (0, 0): [0.5, 0.5, 0.9, 0.8, 0.5],  # 3 is better, 0 and 4 tie, 2 is a known tail: rank 3
    (2, 1): [0.0, 0.1, 0.2, 0.3, 0.4],  # rank 1
}
HEADS = {  # scores of all nodes as head of (relation, tail)
    (1, 0): [0.1, 0.2, 0.3, 0.4, 0.5],  # four better: rank 5
    (4, 1): [0.7, 0.7, 0.7, 0.7, 0.6],  # 0 and 1 tie, 3 is a known head: rank 2
}


def by_hand(nodes, relations, side):
    table = TAILS if side == "tail" else HEADS
    rows = [table[node, relation] for node, relation in zip(nodes, relations, strict=True)]
    return np.array(rows, np.float32)


def test_the_ranks_of_a_drawn_example_are_those_counted_by_hand():
    result = filtered_ranking(by_hand, TEST, KNOWN, N_NODES)
    ranks = np.array([3, 1, 5, 2])
    assert result.mrr == pytest.approx((1 / ranks).mean())
    assert (result.hits_1, result.hits_3, result.hits_10) == (0.25, 0.75, 1.0)
    assert (result.mean_rank, result.n_queries) == (2.75, 4)


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_the_size_of_a_batch_changes_nothing(batch_size):
    expected = filtered_ranking(by_hand, TEST, KNOWN, N_NODES)
    assert filtered_ranking(by_hand, TEST, KNOWN, N_NODES, batch_size) == expected


def test_one_direction_alone_ranks_only_its_queries():
    result = filtered_ranking(by_hand, TEST, KNOWN, N_NODES, sides=["head"])
    assert (result.mean_rank, result.n_queries) == (3.5, 2)


def test_a_constant_score_ranks_in_the_middle_of_what_is_not_known():
    constant = lambda nodes, *_: np.zeros((len(nodes), N_NODES), np.float32)  # noqa: E731
    result = filtered_ranking(constant, TEST, KNOWN, N_NODES, sides=["tail"])
    # Ranks 1 to 4 for (0, 0), where one other tail is known, and 1 to 5 for (2, 1).
    assert result.mean_rank == (2.5 + 3) / 2


def test_minus_infinity_is_a_score_like_any_other():
    scores = np.full((1, N_NODES), -np.inf, np.float32)
    result = filtered_ranking(lambda *_: scores, TEST[:1], KNOWN, N_NODES, sides=["tail"])
    assert result.mean_rank == 2.5


def test_scores_are_not_changed():
    scores = np.arange(N_NODES, dtype=np.float32)[None, :]
    scores.flags.writeable = False
    filtered_ranking(lambda *_: scores, TEST[:1], KNOWN, N_NODES)


def test_a_test_triple_that_is_not_among_the_known_ones_is_true_all_the_same():
    without = KNOWN[1:3]
    scores = np.array([[0.1, 0.2, 0.3, 0.4, 0.5]], np.float32)
    test = np.array([[0, 0, 1], [0, 0, 4]])
    result = filtered_ranking(
        lambda nodes, *_: np.repeat(scores, len(nodes), axis=0),
        test,
        without,
        N_NODES,
        sides=["tail"],
    )
    # For tail 1 the nodes 2 (known) and 4 (test) are passed over, 3 is better; for 4 none is.
    assert result.mean_rank == 1.5


def test_the_protocol_is_said_in_one_sentence_with_the_unseen_nodes_counted():
    result = filtered_ranking(by_hand, TEST, KNOWN, N_NODES, training=[[0, 0, 2], [1, 1, 2]])
    assert result.protocol == (
        "filtered ranking of 4 queries (both directions) among all 5 nodes, ties at their mean "
        "rank, 1 test triples with a node unseen in training kept"
    )


def brute_force_ranks(score, test, known, n_nodes):
    """One query at a time, by comparing with each node in turn."""
    true = {tuple(triple) for triple in np.concatenate([known, test]).tolist()}
    for side in ("tail", "head"):
        for head, relation, tail in test.tolist():
            given, answer = (head, tail) if side == "tail" else (tail, head)
            scores = score(np.array([given]), np.array([relation]), side)[0]
            better = equal = 0
            for node in range(n_nodes):
                made = (head, relation, node) if side == "tail" else (node, relation, tail)
                if node != answer and made not in true:
                    better += scores[node] > scores[answer]
                    equal += scores[node] == scores[answer]
            yield (1 + better + 1 + better + equal) / 2


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), n_nodes=st.integers(2, 9), n_relations=st.integers(1, 3))
def test_ranks_equal_those_of_a_brute_force(seed, n_nodes, n_relations):
    rng = np.random.default_rng(seed)
    draw = lambda n: rng.integers([n_nodes, n_relations, n_nodes], size=(n, 3))  # noqa: E731
    test, known = draw(6), draw(25)
    # Few different values, so that ties are common.
    table = rng.integers(4, size=(2, n_nodes, n_relations, n_nodes)).astype(np.float32)
    score = lambda nodes, relations, side: table[int(side == "tail"), nodes, relations]  # noqa: E731
    result = filtered_ranking(score, test, known, n_nodes, batch_size=4)
    ranks = np.array(list(brute_force_ranks(score, test, known, n_nodes)))
    assert result.mean_rank == pytest.approx(ranks.mean())
    assert result.mrr == pytest.approx((1 / ranks).mean())
    found = [result.hits_1, result.hits_3, result.hits_10]
    assert found == [(ranks <= k).mean() for k in (1, 3, 10)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test": np.zeros((0, 3), int)}, "at least one test triple"),
        ({"test": [[0, 0]]}, r"`test` must hold integer rows .* shape \(1, 2\)"),
        ({"known": [[0.0, 0.0, 1.0]]}, "`known` must hold integer rows .* float64"),
        ({"test": [[0, 0, 5]]}, "nodes below n_nodes=5, got .* up to 5"),
        ({"known": [[0, -1, 1]]}, "`known` must hold ids from 0 .* got ids from -1"),
        ({"training": [[7, 0, 1]]}, "`training` must hold .* up to 7"),
        ({"sides": ["middle"]}, "sides=.'middle'"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"score_all": lambda *_: np.zeros((1, 5))}, r"shape \(2, 5\), got \(1, 5\)"),
        ({"score_all": lambda *_: np.full((2, 5), np.nan)}, "returned NaN"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"score_all": by_hand, "test": TEST, "known": KNOWN, "n_nodes": N_NODES}
    with pytest.raises(InvalidParameterError, match=message):
        filtered_ranking(**(arguments | change))


def test_auc_counts_the_pairs_in_the_right_order_and_ties_half():
    assert held_out_auc([3, 2], [2, 1]) == (1 + 1 + 0.5 + 1) / 4
    with pytest.raises(InvalidParameterError, match="got 0 and 1"):
        held_out_auc([], [1.0])

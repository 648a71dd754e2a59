"""Ranking and AUC of a fitted model, on graphs whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidGraphError
from embedprop.evaluation.links import edge_auc, rank_links, triples_of
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

"""The nearest rows, and scores of edges against the formula, written out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests import toy_graphs

import embedprop
from embedprop import ClosedForm, EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError, UnknownNodeError, UnknownRelationError
from embedprop.graph.changes.inverses import inverse_of
from embedprop.instance.catalog import DISTANCES
from embedprop.model.search import best_rows, lengths, most_similar

SMALL: dict[str, Any] = {"dim": {"node": 3, "word": 5}, "epochs": 2, "n_threads": 1}
GRAPH = toy_graphs.messy(10, directed=True, n_relations=3)


def expected(
    model: EmbeddingPropagation, head: Any, relation: Any, tail: Any, sign: float = 1.0
) -> float:
    """Minus the sum over the label types of d(h(head) + r, h(tail)), by torch, in float64."""
    rows = {node: row for row, node in enumerate(model.nodes_)}
    total, low = 0.0, 0
    for name, one in model.instance_.label_types.items():
        block = model.model_.embedding[:, low : low + one.dim].astype(np.float64)
        said = block[rows[head]]
        if relation is not None:
            row = model.relations_.index(relation)
            said = said + sign * model.relation_embeddings_[name][row]
        d = DISTANCES[one.distance]()
        total -= float(d(torch.from_numpy(said), torch.from_numpy(block[rows[tail]])))
        low += one.dim
    return total


@pytest.fixture(scope="module", params=list(DISTANCES))
def model(request: pytest.FixtureRequest) -> EmbeddingPropagation:
    distance = {"word": request.param, "node": "euclidean"}
    parts = {"distance": distance}
    return EmbeddingPropagation(**SMALL, parts=parts, learning_rate=0.1).fit(GRAPH)


def test_a_score_is_the_formula(model: EmbeddingPropagation) -> None:
    for head, relation, tail in [(0, 0, 1), (4, 2, 4), (9, 1, 3)]:
        assert model.score_edge(head, tail, relation) == pytest.approx(
            expected(model, head, relation, tail), rel=1e-4, abs=1e-4
        )


def test_tails_are_all_others_by_their_scores(model: EmbeddingPropagation) -> None:
    found = model.predict_tails(2, 1, k=99)
    by_hand = {node: expected(model, 2, 1, node) for node in model.nodes_ if node != 2}
    assert [node for node, _ in found] == sorted(by_hand, key=lambda node: -by_hand[node])
    for node, score in found:
        assert score == pytest.approx(by_hand[node], rel=1e-4, abs=1e-4)
    assert model.predict_tails(2, 1, k=3) == found[:3]


def test_heads_are_reached_backwards(model: EmbeddingPropagation) -> None:
    # d(h(head) + r, h(tail)) with h(tail) - r in the place of what is said.
    found = model.predict_heads(1, 2, k=99)
    by_hand = {n: expected(model, 2, 1, n, sign=-1.0) for n in model.nodes_ if n != 2}
    assert [node for node, _ in found] == sorted(by_hand, key=lambda node: -by_hand[node])


def test_of_euclidean_distances_heads_and_tails_agree() -> None:
    model = EmbeddingPropagation(**SMALL).fit(GRAPH)
    for head, score in model.predict_heads(1, 2, k=99):
        assert score == pytest.approx(model.score_edge(head, 2, 1), rel=1e-4)


def test_with_inverses_a_head_is_the_tail_of_the_inverse() -> None:
    model = EmbeddingPropagation(**SMALL, neighborhood="edges").fit(GRAPH.with_inverses())
    assert len(model.relations_) == 6
    found = model.predict_heads(1, 2, k=99)
    assert found == model.predict_tails(2, inverse_of(1), k=99)
    node, score = found[0]
    assert score == pytest.approx(expected(model, 2, inverse_of(1), node), rel=1e-4)
    assert model.score_edge(0, 2, 1) == pytest.approx(expected(model, 0, 1, 2), rel=1e-4)


def test_without_relations_edges_have_scores_too() -> None:
    model = EmbeddingPropagation(**SMALL).fit(toy_graphs.messy(10))
    assert model.score_edge(3, 4) == pytest.approx(expected(model, 3, None, 4), rel=1e-4)
    assert model.score_edge(3, 4) == pytest.approx(model.score_edge(4, 3), rel=1e-5)
    best, score = model.predict_tails(3, k=1)[0]
    assert score == max(model.score_edge(3, n) for n in model.nodes_ if n != 3)
    assert score == model.score_edge(3, best)


def test_scores_read_h_whatever_r_is() -> None:
    scores = [
        EmbeddingPropagation(**SMALL, parts={"representation": r}).fit(GRAPH).score_edge(0, 2, 1)
        for r in ("concatenation", "both", "pagerank")
    ]
    assert len(set(scores)) == 1


def test_the_ends_of_learned_edges_come_first() -> None:
    # A chain: one translation leads from each node to the next.
    chain = [(i, i + 1) for i in range(7)]
    graph = Graph.from_edges(chain, relations=["next"] * 7, directed=True)
    model = EmbeddingPropagation(
        dim=8, epochs=200, learning_rate=0.02, neighborhood="edges", n_negatives=4, n_threads=1
    ).fit(graph.with_inverses())
    assert [model.predict_tails(a, "next", k=1)[0][0] for a, _ in chain] == [b for _, b in chain]
    assert [model.predict_heads("next", b, k=1)[0][0] for _, b in chain] == [a for a, _ in chain]


BAD_QUERIES = {
    "unknown head": (lambda m: m.score_edge("x", 2, 1), UnknownNodeError, "Unknown node 'x'"),
    "unknown tail": (lambda m: m.score_edge(1, "x", 1), UnknownNodeError, "Unknown node 'x'"),
    "unknown relation": (
        lambda m: m.score_edge(1, 2, "likes"),
        UnknownRelationError,
        "Unknown relation 'likes': the model has 3 relations, such as ",
    ),
    "no relation": (lambda m: m.predict_tails(1), UnknownRelationError, "Unknown relation None"),
    "no relation of an edge": (lambda m: m.score_edge(1, 2), UnknownRelationError, "relation None"),
    "no count": (
        lambda m: m.predict_tails(1, 1, k=0),
        InvalidParameterError,
        "k=0: expected a whole number of at least 1",
    ),
}


@pytest.mark.parametrize("name", BAD_QUERIES)
def test_what_is_not_known_is_told(name: str) -> None:
    model = EmbeddingPropagation(**SMALL).fit(GRAPH)
    ask, error, message = BAD_QUERIES[name]
    with pytest.raises(error, match=message):
        ask(model)


def test_a_relation_where_there_are_none_is_told(star_model: EmbeddingPropagation) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"relation='r': the model was learned from edges without"
    ):
        star_model.score_edge("hub", "leaf1", "r")


def test_a_distance_of_the_user_s_own_scores_no_edges(star_with_words: Graph) -> None:
    model = EmbeddingPropagation(
        dim=4,
        epochs=1,
        n_threads=1,
        parts={"distance": {"word": lambda a, b: (a - b).abs().sum(-1)}},
    ).fit(star_with_words)
    with pytest.raises(
        InvalidParameterError,
        match=r"distance='custom function' of label type 'word' is a module of your own, which a "
        r"model does not hold; edges can be scored with: euclidean, squared_euclidean, ",
    ):
        model.score_edge("hub", "leaf1")


class Taxicab(torch.nn.Module):
    """The sum of the absolute differences: a distance of another package."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a - b).abs().sum(dim=-1)


@pytest.fixture
def taxicab() -> Iterator[str]:
    DISTANCES.register("taxicab")(Taxicab)
    yield "taxicab"
    del DISTANCES._parts["taxicab"]


def test_a_distance_that_was_registered_scores_edges(taxicab: str, tmp_path: Path) -> None:
    model = EmbeddingPropagation(**SMALL, parts={"distance": taxicab}).fit(GRAPH)
    score = model.score_edge(0, 1, 0)
    assert score == pytest.approx(expected(model, 0, 0, 1), rel=1e-4)
    assert dict(model.predict_tails(0, 0, k=99))[1] == pytest.approx(score, rel=1e-6)
    model.save(tmp_path)
    assert embedprop.load(tmp_path).score_edge(0, 1, 0) == score


def test_many_edges_at_once_have_the_scores_of_each(model: EmbeddingPropagation) -> None:
    scores, heads, relations = model.link_scores(), np.array([0, 4, 9]), np.array([0, 1, 2])
    tails = scores.tails(heads, relations)
    assert (tails.shape, tails.dtype) == ((3, 10), np.float32)
    for row, (head, relation) in enumerate(zip(heads, relations, strict=True)):
        one = model.score_edge(model.nodes_[head], model.nodes_[7], model.relations_[relation])
        assert tails[row, 7] == pytest.approx(one, rel=1e-4, abs=1e-5)


def test_a_closed_form_scores_by_squared_distances(path: Graph) -> None:
    model = ClosedForm(dim=2).fit(path)
    apart = ((model[0] - model[3]) ** 2).sum()
    assert model.score_edge(0, 3) == pytest.approx(-apart, rel=1e-4)
    assert model.predict_heads(None, 3) == model.predict_tails(3)


SCORES = st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 0.5, 2.0]), max_size=8)


@given(SCORES, st.integers(1, 9))
def test_the_best_rows_are_those_of_a_stable_sort(scores: list[float], k: int) -> None:
    found = best_rows(np.array(scores, np.float32), k)
    possible = [row for row, score in enumerate(scores) if score > -np.inf]
    expected = sorted(possible, key=lambda row: -scores[row])[:k]
    # Where more are equal than there is room for, any of them will do.
    assert [score for _, score in found] == [scores[row] for row in expected]
    assert len({row for row, _ in found}) == len(found)
    if k >= len(possible):
        assert [row for row, _ in found] == expected


def test_lengths_are_euclidean() -> None:
    assert lengths(np.array([[3, 4], [0, 0]], np.float32)).tolist() == [5, 0]


def test_the_query_itself_is_left_out() -> None:
    vectors = np.array([[1, 0], [2, 0], [0, 1], [-1, 0]], np.float32)
    assert most_similar(vectors, lengths(vectors), 0, 9) == [
        (1, pytest.approx(1)),
        (2, pytest.approx(0)),
        (3, pytest.approx(-1)),
    ]


class TestMostSimilar:
    VECTORS = np.array([[1, 0], [2, 0], [0, 3], [0, 0], [-1, 0], [1, 1]], np.float32)
    NORMS = np.linalg.norm(VECTORS, axis=1)

    def test_it_goes_by_angle_and_not_by_length(self) -> None:
        found = most_similar(self.VECTORS, self.NORMS, 0, 5)
        assert found == [(1, 1.0), (5, pytest.approx(0.5**0.5)), (2, 0.0), (3, 0.0), (4, -1.0)]

    @pytest.mark.parametrize("k", [1, 2, 4])
    def test_fewer_are_the_first_of_all(self, k: int) -> None:
        everyone = most_similar(self.VECTORS, self.NORMS, 5, 5)
        scores = [score for _, score in everyone]
        assert [score for _, score in most_similar(self.VECTORS, self.NORMS, 5, k)] == scores[:k]

    def test_a_vector_of_zeros_is_similar_to_nothing(self) -> None:
        assert most_similar(self.VECTORS, self.NORMS, 3, 9) == [
            (row, 0.0) for row in (0, 1, 2, 4, 5)
        ]

    def test_a_single_row_has_no_others(self) -> None:
        assert most_similar(self.VECTORS[:1], self.NORMS[:1], 0, 3) == []


class Scaled(torch.nn.Module):
    """A squared distance times a learned number."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        scaled: torch.Tensor = self.scale * (a - b).pow(2).sum(-1)
        return scaled


def test_what_a_distance_has_learned_counts_in_scores(tmp_path: Path) -> None:
    DISTANCES.register("scaled")(Scaled)
    try:
        graph = Graph.from_edges([(i, (i + 1) % 8) for i in range(8)])
        settings: dict[str, Any] = {"dim": 4, "epochs": 20, "learning_rate": 0.05, "verbose": False}
        model = EmbeddingPropagation(parts={"distance": "scaled"}, **settings).fit(graph)
        learned = float(model.modules_["node"].d.scale.detach())
        assert learned != 2.0
        expected = -learned * ((model[0] - model[1]) ** 2).sum()
        assert model.score_edge(0, 1) == pytest.approx(expected, rel=1e-5)
        model.save(tmp_path)
        assert embedprop.load(tmp_path).score_edge(0, 1) == model.score_edge(0, 1)
    finally:
        del DISTANCES._parts["scaled"]

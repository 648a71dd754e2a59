from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import multisets

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError
from embedprop.graph.multisets import Multisets
from embedprop.instance.catalog import REPRESENTATIONS
from embedprop.model.representations import (
    Known,
    concatenate,
    embeddings,
    make_representation,
)

VECTORS = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)


def test_h_is_the_weighted_mean_and_an_empty_set_has_zeros() -> None:
    sets = Multisets.from_lists([[0, 1], [], [2, 2, 1]], weights=[[1, 3], [], [1, 1, 2]])
    h, totals = embeddings(sets, VECTORS)
    a, b, c = VECTORS[:3]
    np.testing.assert_allclose(h, [(a + 3 * b) / 4, 0 * a, (c + b) / 2], rtol=1e-5)
    assert totals.tolist() == [4, 0, 4]


@given(multisets(max_id=8), st.randoms(use_true_random=False))
def test_a_mean_does_not_depend_on_the_order_within_a_multiset(sets: Multisets, random) -> None:
    lists, weights = [], []
    for i in range(sets.n_sets):
        pairs = list(zip(sets.of(i).tolist(), sets.weights_of(i).tolist(), strict=True))
        random.shuffle(pairs)
        lists.append([id_ for id_, _ in pairs])
        weights.append([weight for _, weight in pairs])
    shuffled = Multisets.from_lists(lists, weights=weights)
    h, totals = embeddings(sets, VECTORS)
    other, other_totals = embeddings(shuffled, VECTORS)
    np.testing.assert_allclose(h, other, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(totals, other_totals, rtol=1e-5)


def test_r_puts_label_types_side_by_side_and_copies_a_single_one_not() -> None:
    assert concatenate([VECTORS]) is VECTORS
    np.testing.assert_array_equal(concatenate([VECTORS, -VECTORS]), np.hstack([VECTORS, -VECTORS]))


every_r = pytest.mark.parametrize("name", list(REPRESENTATIONS))
H = np.arange(12, dtype=np.float32).reshape(3, 4)
H_TILDE = -H
COLUMNS = [(0, 2), (2, 4)]
# Node 0 hears 1 and 2 with weights 1 and 3, node 1 hears 0, node 2 hears nobody.
NEIGHBORS = Multisets.from_lists([[1, 2], [0], []], weights=[[1, 3], [1], []])
KNOWN = Known(H, H_TILDE, COLUMNS, NEIGHBORS)


def pagerank(h: np.ndarray, restart: float) -> np.ndarray:
    """Ten steps, node by node."""
    r = h.astype(np.float64)
    for _ in range(10):
        r = np.array(
            [
                restart * h[0] + (1 - restart) * (r[1] + 3 * r[2]) / 4,
                restart * h[1] + (1 - restart) * r[0],
                h[2],
            ]
        )
    return r


EXPECTED = {
    "concatenation": H,
    "mean": (H[:, :2] + H[:, 2:]) / 2,
    "both": np.hstack([H, H_TILDE]),
    "pagerank": pagerank(H, 0.15),
}


def test_every_r_is_tested_here() -> None:
    assert set(EXPECTED) == set(REPRESENTATIONS)


@every_r
def test_the_vectors_of_a_graph_are_the_formula(name: str) -> None:
    r = make_representation(name)
    vectors = r.of_graph(KNOWN)
    np.testing.assert_allclose(vectors, EXPECTED[name], rtol=1e-5)
    assert vectors.dtype == np.float32
    assert vectors.shape[1] == r.width([2, 2])


@every_r
def test_a_new_node_has_the_vector_that_a_known_one_with_the_same_would_have(name: str) -> None:
    r = make_representation(name)
    table = r.of_graph(KNOWN)
    of_new = r.of_new(KNOWN, table)
    # Ten steps leave 0.85^10 of the way at most; one more step changes little.
    scale = np.abs(H).max()
    np.testing.assert_allclose(of_new, table, atol=0.25 * scale if name == "pagerank" else 0)


def test_pagerank_with_its_own_restart() -> None:
    vectors = make_representation("pagerank(restart=0.6)").of_graph(KNOWN)
    np.testing.assert_allclose(vectors, pagerank(H, 0.6), rtol=1e-5)
    np.testing.assert_array_equal(make_representation("pagerank(restart=1)").of_graph(KNOWN), H)


@pytest.mark.parametrize("restart", [0, -0.5, 1.5])
def test_a_restart_is_a_chance(restart: float) -> None:
    with pytest.raises(InvalidParameterError, match=r"expected a restart above 0 and at most 1"):
        make_representation(f"pagerank(restart={restart})")


def test_means_of_neighbors_go_by_edge_weight() -> None:
    means, totals = embeddings(NEIGHBORS, H)
    np.testing.assert_allclose(means, [(H[1] + 3 * H[2]) / 4, H[0], 0 * H[0]])
    assert totals.tolist() == [4, 1, 0]


SMALL: dict[str, Any] = {"dim": 4, "epochs": 2, "n_threads": 1, "verbose": False}
GRAPH = Graph.from_edges(
    [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")],
    labels={"word": {"a": ["x", "y"], "b": ["x"], "d": ["z"]}},
)
NEW = Graph.from_edges([("n", "a"), ("n", "b"), ("m", "n")], labels={"word": {"n": ["z"]}})


@every_r
@pytest.mark.parametrize("engine", ["fused", "torch"])
def test_the_estimator_makes_r_of_h(name: str, engine: str) -> None:
    plain = EmbeddingPropagation(**SMALL, engine=engine).fit(GRAPH)
    model = EmbeddingPropagation(**SMALL, engine=engine, parts={"representation": name}).fit(GRAPH)
    h = plain.node_embeddings_
    widths = {"concatenation": 8, "mean": 4, "both": 16, "pagerank": 8}
    assert model.node_embeddings_.shape == (4, widths[name])
    if name == "mean":
        np.testing.assert_allclose(model.node_embeddings_, (h[:, :4] + h[:, 4:]) / 2, rtol=1e-5)
    if name == "both":
        np.testing.assert_array_equal(model.node_embeddings_[:, :8], h)
        # What its neighbors say is what they would say to a new node in its place.
        again = Graph.from_edges([("new", "b"), ("new", "d"), ("new", "c")])
        new = plain.transform(again, "reconstruction")[list(again.nodes).index("new")]
        a = model.node_embeddings_[list(GRAPH.nodes).index("a"), 8:]
        np.testing.assert_allclose(a, new, rtol=1e-4, atol=1e-6)
    for label_type, vectors in plain.label_embeddings_.items():
        np.testing.assert_array_equal(model.label_embeddings_[label_type], vectors)


@every_r
@pytest.mark.parametrize("parts", [{}, {"reconstruction": "max", "aggregator": "sum"}])
@pytest.mark.parametrize("source", ["reconstruction", "own", "both"])
def test_one_new_node_and_a_graph_of_it_agree(
    name: str, parts: dict[str, Any], source: str
) -> None:
    model = EmbeddingPropagation(**SMALL, parts=parts | {"representation": name}).fit(GRAPH)
    graph = Graph.from_edges([("n", "a"), ("n", "b")], labels={"word": {"n": ["z", "x"]}})
    vectors = model.transform(graph, source)
    one = model.transform_node(["a", "b"], {"word": ["z", "x"]}, source=source)
    np.testing.assert_allclose(vectors[list(graph.nodes).index("n")], one, rtol=1e-5, atol=1e-7)
    assert one.any()
    for node in ("a", "b"):
        np.testing.assert_array_equal(vectors[list(graph.nodes).index(node)], model[node])


@every_r
def test_a_saved_model_has_the_same_r(name: str, tmp_path: Path) -> None:
    model = EmbeddingPropagation(**SMALL, parts={"representation": name}).fit(GRAPH)
    model.save(tmp_path)
    loaded = EmbeddingPropagation.load(tmp_path, verify=True)
    assert loaded.node_embeddings_.tobytes() == model.node_embeddings_.tobytes()
    assert loaded.transform(NEW).tobytes() == model.transform(NEW).tobytes()
    assert loaded.similar("a") == model.similar("a")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"parts": {"representation": "mean"}, "dim": {"node": 3, "word": 4}},
            "got 3, 4. Give one dim",
        ),
        ({"parts": {"representation": "pagerank(restart=2)"}}, "a restart above 0 and at most 1"),
    ],
)
def test_an_r_that_cannot_be_is_refused_before_anything_is_learned(
    params: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        EmbeddingPropagation(**(SMALL | params)).check(GRAPH.kinds)

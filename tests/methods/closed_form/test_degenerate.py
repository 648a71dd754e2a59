"""ClosedForm() on graphs with little to learn: no NaN, and told why."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.methods.closed_form.made import RING, closed_form, made_graph

from embedprop import Graph
from embedprop.methods.closed_form import labels, spectrum


def spread_words(n: int = 20, **more: list[str]) -> dict[int, list[str]]:
    return {node: [f"w{node // 4}", *more.get("all", [])] for node in range(n)}


DEGENERATE: dict[str, tuple[Graph, set[int]]] = {
    "two nodes": (Graph.from_edges([(0, 1)]), set()),
    "a node with a self-loop": (Graph.from_edges([(0, 0)], self_loops="keep"), set()),
    "a star": (Graph.from_edges([(0, i) for i in range(1, 20)]), set()),
    "isolated nodes": (Graph.from_edges(RING, nodes=range(23)), {20, 21, 22}),
    "isolated nodes with words": (
        Graph.from_edges(RING, nodes=range(23), labels={"word": spread_words(23)}),
        set(),
    ),
    "an isolated node without words": (
        Graph.from_edges(RING, nodes=range(21), labels={"word": spread_words()}),
        {20},
    ),
    "pairs": (Graph.from_edges([(2 * i, 2 * i + 1) for i in range(4)]), set()),
    "pairs with words": (
        Graph.from_edges(
            [(2 * i, 2 * i + 1) for i in range(4)],
            labels={"word": {i: [i // 2, i % 2] for i in range(8)}},
        ),
        set(),
    ),
    "fewer words than dimensions": (
        Graph.from_edges(RING, labels={"word": {i: ["x" if i < 10 else "y"] for i in range(20)}}),
        set(),
    ),
    "a word of every node": (
        Graph.from_edges(RING, labels={"word": spread_words(all=["all"])}),
        set(),
    ),
    "weights far apart": (
        Graph.from_edges(RING, weights=[1e-6 if i % 2 else 1e6 for i in range(20)]),
        set(),
    ),
    "tiny weights": (
        Graph.from_edges(RING, weights=[1e-30] * 20, labels={"word": spread_words()}),
        set(),
    ),
    "huge weights": (
        Graph.from_edges(RING, weights=[1e30] * 20, labels={"word": spread_words()}),
        set(),
    ),
    "label weights far apart": (
        Graph.from_edges(
            RING,
            labels={"word": {i: {f"w{i // 4}": 1e-20, f"v{i // 5}": 1e20} for i in range(20)}},
        ),
        set(),
    ),
}


class TestDegenerate:
    @pytest.mark.parametrize(("graph", "silent"), DEGENERATE.values(), ids=DEGENERATE)
    def test_vectors_are_finite_and_zeros_are_those_of_isolated_nodes(
        self, graph: Graph, silent: set[int]
    ) -> None:
        model = closed_form().fit(graph)
        lengths = np.linalg.norm(model.node_embeddings_, axis=1)
        assert np.flatnonzero(lengths == 0).tolist() == sorted(silent)
        # Shorter than 2: a part of the graph that only one of the two blocks of ids reaches.
        assert lengths.max() == pytest.approx(2, rel=1e-5)
        assert all(np.isfinite(vectors).all() for vectors in model.label_embeddings_.values())
        assert all(residual < 1e-3 for residual in model.residuals_.values())

    @pytest.mark.parametrize(
        "words",
        [
            {i: ["x", "y"] for i in range(20)},  # all the same
            {i: ["x" if i % 2 else "y"] for i in range(20)},  # neighbors never have the same
            {0: ["x"]},  # one word of one node
            {},
        ],
    )
    def test_words_that_neighbors_do_not_share_give_zeros_and_a_warning(
        self, words: dict[int, list[str]], caplog: pytest.LogCaptureFixture
    ) -> None:
        model = closed_form().fit(Graph.from_edges(RING, labels={"word": words}))
        assert not model.node_embeddings_.any()
        assert model.residuals_ == {"word": 0.0}
        (record,) = [one for one in caplog.records if one.levelno == logging.WARNING]
        assert "Label type 'word': neighbors have no more of its labels in common" in caplog.text
        assert "label_types=['node']" in record.getMessage()
        assert not model.transform_node([1, 2]).any()

    def test_a_regularization_that_leaves_nothing_gives_a_warning(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert not closed_form(regularization=1e9).fit_transform(made_graph()).any()
        assert "a far too large regularization has the same effect" in caplog.text

    def test_dimensions_without_use_are_told(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, logger="embedprop"):
            closed_form().fit(DEGENERATE["fewer words than dimensions"][0])
        assert "Label type 'word' uses 1 of its 8 dimensions" in caplog.text

    @pytest.mark.parametrize(("label_types", "told"), [(None, True), (["word"], False)])
    def test_ids_beside_labels_are_left_aside_with_a_notice(
        self, label_types: list[str] | None, told: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, logger="embedprop"):
            closed_form(label_types=label_types).fit(made_graph())
        assert (
            "Not used: 'node' (beside labels that nodes share, ids do not help)." in caplog.text
        ) == told

    def test_nodes_without_edges_are_told(self, caplog: pytest.LogCaptureFixture) -> None:
        closed_form().fit(Graph.from_edges(RING, nodes=range(23)))
        assert "3 of the 23 nodes get zeros: they have no edges, or are in a part" in caplog.text

    def test_parts_that_the_dimensions_do_not_reach_are_told(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        parts = [range(0, 9), range(9, 16), range(16, 21)]
        graph = Graph.from_edges([(u, v) for part in parts for u in part for v in part if u < v])
        found = closed_form(2).fit_transform(graph)
        assert found.any(axis=1).tolist() == [True] * 16 + [False] * 5
        assert "5 of the 21 nodes get zeros: they have no edges, or are in a part" in caplog.text
        assert closed_form(3).fit_transform(graph).any(axis=1).all()

    @pytest.mark.parametrize("types", [["node"], ["word"]])
    @pytest.mark.parametrize("dim", [8, 60])
    @pytest.mark.parametrize("max_dense", [0, 6000])
    def test_a_solver_that_stops_early_leaves_zeros_and_no_nan(
        self,
        types: list[str],
        dim: int,
        max_dense: int,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        monkeypatch.setattr(spectrum, "_SMALL", 0)
        monkeypatch.setattr(spectrum, "_MAX_RESTARTS", 1)
        monkeypatch.setattr(labels, "MAX_DENSE", max_dense)
        n = 400
        graph = Graph.from_edges(
            [(i, i + 1) for i in range(n - 1)],
            labels={"word": {i: [i, (i + 1) % n] for i in range(n)}},
        )
        model = closed_form(dim, label_types=types).fit(graph)
        assert np.isfinite(model.node_embeddings_).all()
        used = model.node_embeddings_.any(axis=0)
        assert 0 < used.sum() < 10 if dim == 60 else not used.any()
        assert np.isfinite(model.transform_node([0, 5, 300])).all()
        assert f"of {dim - dim // 4 if types == ['node'] else dim} dimensions" in caplog.text

    @example(998788, 6, 2, True)  # nodes whose labels differ by rounding alone
    @given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 5), st.booleans())
    def test_no_small_graph_gives_nan(
        self, seed: int, n_nodes: int, n_words: int, weighted: bool
    ) -> None:
        rng = np.random.default_rng(seed)
        edges = [(0, 1), *rng.integers(n_nodes, size=(n_nodes, 2)).tolist()]
        words = {node: rng.integers(n_words, size=node % 3).tolist() for node in range(n_nodes)}
        graph = Graph.from_edges(
            edges,
            nodes=range(n_nodes),
            weights=10.0 ** rng.uniform(-3, 3, len(edges)) if weighted else None,
            labels={"word": words},
        )
        for types in (["node"], ["word"]):
            model = closed_form(5, label_types=types).fit(graph)
            assert (np.linalg.norm(model.node_embeddings_, axis=1) <= 2.0001).all()
            assert np.isfinite(
                model.transform_node([0, 1], {"word": [0]} if types == ["word"] else None)
            ).all()

from __future__ import annotations

import logging
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import POSITIVE, edge_rows

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.adjacency import EdgeRows
from embedprop.graph.build import build_graph, label_multisets
from embedprop.graph.vocabulary import Vocabulary

NODES = Vocabulary("abcdef")


def ids(*values):
    return np.array(values, dtype=np.int32)


def graph_of(nodes, sources, targets, *, weights=None, relation_ids=None, relations=None, **how):
    return build_graph(nodes, EdgeRows(sources, targets, weights, relation_ids, relations), **how)


def neighbor_weights(graph):
    """{(node, neighbor, relation): weight}, each entry once."""
    entries = {}
    for node in range(graph.n_nodes):
        start, stop = graph.neighbors.ptr[node : node + 2]
        for place in range(start, stop):
            relations = graph.neighbor_relations
            relation = None if relations is None else int(relations[place])
            key = (node, int(graph.neighbors.ids[place]), relation)
            assert key not in entries
            weights = graph.neighbors.weights
            entries[key] = 1.0 if weights is None else float(weights[place])
    return entries


@st.composite
def edge_tables(draw, weighted, related):
    rows = draw(edge_rows(max_nodes=6))
    columns = {}
    if weighted:
        weights = draw(st.lists(POSITIVE, min_size=len(rows), max_size=len(rows)))
        columns["weights"] = np.array(weights, dtype=np.float32)
    if related:
        relations = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
        columns |= {"relation_ids": ids(*relations), "relations": Vocabulary("rst")}
    return rows, columns


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("related", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("self_loops", ["drop", "keep"])
@settings(max_examples=30)
@given(st.data())
def test_neighbors_are_those_of_a_plain_dictionary(weighted, related, directed, self_loops, data):
    table = data.draw(edge_tables(weighted, related))
    rows, columns = table
    graph = graph_of(
        NODES, rows[:, 0], rows[:, 1], directed=directed, self_loops=self_loops, **columns
    )
    weights = columns.get("weights", np.ones(len(rows)))
    relations = columns.get("relation_ids", [None] * len(rows))
    edges = Counter()
    for (source, target), weight, relation in zip(rows.tolist(), weights, relations, strict=True):
        if source == target and self_loops == "drop":
            continue
        pair = (source, target) if directed else (min(source, target), max(source, target))
        edges[*pair, relation] += float(weight)
    expected = {}
    for (source, target, relation), weight in edges.items():
        weight = weight if "weights" in columns else 1.0
        expected[target, source, relation] = weight
        if not directed:
            expected[source, target, relation] = weight
    found = neighbor_weights(graph)
    assert found.keys() == expected.keys()
    assert found == pytest.approx(expected)
    assert graph.n_edges == len(edges)
    n_loops = int((rows[:, 0] == rows[:, 1]).sum()) if self_loops == "drop" else 0
    assert graph.n_self_loops_dropped == n_loops
    assert graph.n_duplicates_dropped == len(rows) - n_loops - len(edges)


@pytest.mark.parametrize("related", [False, True])
@given(st.data(), st.randoms(use_true_random=False))
def test_the_order_of_edges_does_not_matter(related, data, random):
    rows, columns = data.draw(edge_tables(weighted=False, related=related))
    order = random.sample(range(len(rows)), len(rows))
    shuffled = dict(columns)
    if "relation_ids" in columns:
        shuffled["relation_ids"] = columns["relation_ids"][order]
    first = graph_of(NODES, rows[:, 0], rows[:, 1], **columns)
    second = graph_of(NODES, rows[order, 0], rows[order, 1], **shuffled)
    assert first.neighbors.ids.tobytes() == second.neighbors.ids.tobytes()
    assert neighbor_weights(first) == neighbor_weights(second)


def test_an_undirected_weight_is_the_same_to_the_last_bit_in_both_directions():
    weights = np.array([0.1, 0.7, 1e-3, 0.3], dtype=np.float64)
    graph = graph_of(NODES, ids(0, 1, 0, 1), ids(1, 0, 1, 0), weights=weights)
    assert graph.neighbors.weights_of(0).tobytes() == graph.neighbors.weights_of(1).tobytes()


def test_an_edge_given_256_times_is_still_there():
    graph = graph_of(NODES, np.zeros(256, np.int32), np.ones(256, np.int32))
    assert graph.neighbors.of(0).tolist() == [1]
    assert graph.n_duplicates_dropped == 255


def test_more_columns_than_int32_can_count_still_fit():
    nodes = Vocabulary.trusted(range(70_000))
    relations = Vocabulary.trusted(range(40_000))  # 70,000 * 40,000 > 2**31
    last, none = ids(69_999, 69_999), ids(0, 0)
    graph = graph_of(
        nodes, last, none, relation_ids=ids(39_999, 0), relations=relations, directed=False
    )
    assert graph.neighbors.of(0).tolist() == [69_999, 69_999]
    assert graph.neighbor_relations.tolist() == [0, 39_999, 0, 39_999]
    assert (graph.neighbors.ids.dtype, graph.neighbor_relations.dtype) == (np.int32, np.int32)


def test_what_is_dropped_is_logged_and_counted(caplog):
    with caplog.at_level(logging.INFO, "embedprop"):
        graph = graph_of(
            NODES,
            ids(0, 1, 2, 2, 3),
            ids(1, 0, 2, 2, 4),
            weights=np.array([1.0, 2.0, 1.0, 0.0, 0.0]),
        )
    assert graph.n_self_loops_dropped == 1
    assert graph.n_zero_weights_dropped == 2
    assert graph.n_duplicates_dropped == 1
    assert graph.neighbors.weights.tolist() == [3, 3]
    assert graph.degrees.tolist() == [1, 1, 0, 0, 0, 0]
    assert caplog.messages == [
        "dropped 1 self-loop; self_loops='keep' (--self-loops keep) would keep them",
        "collapsed 1 duplicate edge: added up their weights",
        "left out 2 edges of weight 0",
    ]


def test_a_weight_too_small_for_float32_counts_as_zero():
    weights = np.array([1.0, 1e-60])
    graph = graph_of(NODES, ids(0, 1), ids(1, 2), weights=weights)
    assert graph.n_zero_weights_dropped == 1


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0, 1e39])
@pytest.mark.parametrize("directed", [False, True])
def test_bad_weights_are_refused_with_row_and_nodes(weight, directed):
    with pytest.raises(InvalidGraphError, match=r"Edge 'b' - 'c' in row 1 .* not negative"):
        graph_of(NODES, ids(0, 1), ids(1, 2), weights=np.array([1.0, weight]), directed=directed)


@pytest.mark.parametrize(
    ("sources", "targets", "weights", "message"),
    [
        ([], [], None, "the edge table is empty"),
        (
            [1, 2],
            [1, 2],
            None,
            r"got 2 rows \(2 self-loops, 0 of weight 0\).*self_loops='keep'",
        ),
        ([0], [1], [0.0], r"1 of weight 0\). Expected at least one edge between two nodes\.$"),
    ],
)
def test_a_graph_without_edges_is_refused_with_the_reason(sources, targets, weights, message):
    weights = None if weights is None else np.array(weights)
    with pytest.raises(InvalidGraphError, match=message):
        graph_of(NODES, ids(*sources), ids(*targets), weights=weights)


def test_self_loops_must_be_dropped_or_kept():
    with pytest.raises(
        InvalidParameterError, match="self_loops must be one of 'drop', 'keep', not"
    ):
        graph_of(NODES, ids(0), ids(1), self_loops="remove")


def test_weights_that_add_up_beyond_float32_are_refused():
    weights = np.array([3e38, 3e38])
    with pytest.raises(InvalidGraphError, match=r"duplicate edges add up to 6e\+38.*Divide"):
        graph_of(NODES, ids(0, 1), ids(1, 0), weights=weights)
    with pytest.raises(InvalidGraphError, match=r"repeated labels add up to 6e\+38.*Divide"):
        label_multisets(2, ids(0, 0), ids(1, 1), weights)


label_rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), POSITIVE), max_size=12)


@given(label_rows, st.booleans())
def test_labels_are_those_of_a_plain_dictionary(rows, weighted):
    nodes, labels, weights = (np.array(c) for c in zip(*rows, strict=True)) if rows else ([],) * 3
    sets = label_multisets(
        4,
        np.array(nodes, np.int32),
        np.array(labels, np.int32),
        np.array(weights, np.float32) if weighted else None,
    )
    expected = Counter()
    for node, label, weight in rows:
        expected[node, label] += weight if weighted else 1.0
    found = {
        (node, int(label)): float(weight)
        for node in range(4)
        for label, weight in zip(sets.of(node), sets.weights_of(node), strict=True)
    }
    assert found == pytest.approx(dict(expected))
    assert sets.n_values == len(expected)


def test_labels_need_no_weights_when_each_is_one():
    assert label_multisets(2, ids(0, 1), ids(1, 1), np.ones(2)).weights is None
    assert label_multisets(2, ids(0, 0), ids(1, 1)).weights.tolist() == [2]


def test_label_rows_of_weight_zero_are_left_out_and_told(caplog):
    with caplog.at_level(logging.INFO, "embedprop"):
        sets = label_multisets(2, ids(0, 1), ids(1, 0), np.array([0.0, 1.0]))
    assert sets.sizes.tolist() == [0, 1]
    assert caplog.messages == ["left out 1 label row of weight 0"]


def test_bad_label_weights_are_refused():
    with pytest.raises(InvalidGraphError, match=r"label row 1 \(counted from 0\).*got -2.0"):
        label_multisets(2, ids(0, 1), ids(1, 0), np.array([0.0, -2.0]))

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import edge_rows

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph import Graph
from embedprop.graph.objects.edge_input import EdgeInput

PAIRS = [("b", "a"), ("c", "b"), ("a", "d")]
READING_ORDER = ["b", "a", "c", "d"]
COLUMNS = {"source": ["b", "c", "a"], "target": ["a", "b", "d"]}


def as_pairs(edges: EdgeInput) -> list[tuple]:
    pairs = zip(edges.rows.sources, edges.rows.targets, strict=True)
    return [(edges.nodes[source], edges.nodes[target]) for source, target in pairs]


FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas objects": pd.DataFrame(COLUMNS, dtype=object),
    "pandas categories": pd.DataFrame(COLUMNS, dtype="category"),
    "pandas with an index": pd.DataFrame(COLUMNS, index=[5, 5, 7]),
    "polars": pl.DataFrame(COLUMNS),
    "polars categories": pl.DataFrame(COLUMNS, schema=dict.fromkeys(COLUMNS, pl.Categorical)),
    "polars in chunks": pl.concat(
        [pl.DataFrame(COLUMNS)[:2], pl.DataFrame(COLUMNS)[2:]], rechunk=False
    ),
    "lazy polars": pl.LazyFrame(COLUMNS),
    "polars objects": pl.DataFrame(COLUMNS, schema=dict.fromkeys(COLUMNS, pl.Object)),
    "arrow": pa.table(COLUMNS),
    "array": np.array(PAIRS),
    "array of objects": np.array(PAIRS, dtype=object),
    "pairs": PAIRS,
    "lists": [list(pair) for pair in PAIRS],
    "generator": (pair for pair in PAIRS),
}


@pytest.mark.parametrize("form", FRAMES)
def test_every_form_gives_the_same_edges_and_the_nodes_in_reading_order(form):
    edges = EdgeInput.of(FRAMES[form])
    assert list(edges.nodes) == READING_ORDER
    assert {type(name) for name in edges.nodes} == {str}
    assert as_pairs(edges) == PAIRS
    assert edges.rows.sources.dtype == edges.rows.targets.dtype == np.int32


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint64, np.int8])
@given(edge_rows())
def test_integer_arrays_and_pairs_agree_and_names_are_plain_integers(dtype, rows):
    rows = rows.astype(dtype)
    from_array, from_pairs = EdgeInput.of(rows), EdgeInput.of([tuple(r) for r in rows.tolist()])
    assert from_array.nodes == from_pairs.nodes
    assert as_pairs(from_array) == as_pairs(from_pairs) == list(map(tuple, rows.tolist()))
    assert {type(name) for name in from_array.nodes} == {int}


@given(edge_rows())
def test_frames_and_pairs_agree(rows):
    expected = EdgeInput.of(rows)
    for frame in (
        pd.DataFrame(rows, columns=["source", "target"]),
        pl.DataFrame(rows, schema=["source", "target"]),
    ):
        edges = EdgeInput.of(frame)
        assert edges.nodes == expected.nodes
        assert as_pairs(edges) == as_pairs(expected)
        assert {type(name) for name in edges.nodes} == {int}


@pytest.mark.parametrize(
    "rows", [np.asfortranarray([[5, 3], [3, 9]]), torch.tensor([[5, 3], [3, 9]])]
)
def test_arrays_in_any_memory_order_and_tensors_are_read_row_by_row(rows):
    assert list(EdgeInput.of(rows).nodes) == [5, 3, 9]


@given(
    st.lists(
        st.tuples(
            *[st.one_of(st.integers(0, 3), st.sampled_from("xyz"), st.tuples(st.integers(0, 1)))]
            * 2
        ),
        min_size=1,
    )
)
def test_names_of_mixed_types_are_kept(pairs):
    assert as_pairs(EdgeInput.of(pairs)) == pairs


def test_source_and_target_columns_may_differ_in_type():
    frame = pl.DataFrame({"source": [1, 2], "target": ["1", "2"]})
    assert list(EdgeInput.of(frame).nodes) == [1, "1", 2, "2"]


def test_tuples_and_dates_in_frames_are_names_too():
    frame = pd.DataFrame({"source": [(1, 2), (1, 3)], "target": [(1, 3), (1, 4)]})
    assert list(EdgeInput.of(frame).nodes) == [(1, 2), (1, 3), (1, 4)]
    day = datetime.date(2024, 1, 1)
    dates = pl.DataFrame({"source": [day], "target": [day + datetime.timedelta(1)]})
    assert EdgeInput.of(dates).nodes.find(day) == 0


def test_numpy_scalars_in_pairs_become_plain_objects():
    nodes = EdgeInput.of([(np.int64(1), np.str_("a")), (1, "b")]).nodes
    assert list(nodes) == [1, "a", "b"]
    assert {type(name) for name in nodes} == {int, str}


def test_a_set_of_edges_has_the_same_order_in_every_run():
    pairs = {(f"n{i}", f"n{i + 1}") for i in range(20)}
    assert EdgeInput.of(pairs).nodes == EdgeInput.of(sorted(pairs)).nodes


def test_weights_and_relations_come_from_columns_or_beside_the_edges():
    frame = pd.DataFrame(COLUMNS | {"weight": [1, 2, 3], "relation": ["r", "s", "r"]})
    beside = EdgeInput.of(PAIRS, weights=[1, 2, 3], relations=["r", "s", "r"])
    for edges in (EdgeInput.of(frame), EdgeInput.of(pl.from_pandas(frame)), beside):
        assert edges.rows.weights.tolist() == [1, 2, 3]
        assert edges.rows.weights.dtype == np.float64
        assert list(edges.rows.relations) == ["r", "s"]
        assert edges.rows.relation_ids.tolist() == [0, 1, 0]


def test_float32_weights_are_not_copied():
    weights = np.ones(3, dtype=np.float32)
    assert EdgeInput.of(PAIRS, weights=weights).rows.weights is weights


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), ("a",)], r"row 1 .*expected a pair \(source, target\), got \('a',\)"),
        ([("a", "b", 1.0)], "row 0 .*Give the third values as weights= or relations="),
        (["ab"], "row 0 .*expected a pair .* got 'ab'"),
        ([{"a": 1, "b": 2}], "row 0 .*expected a pair"),
        ([frozenset("ab")], "row 0 .*expected a pair"),
        ([5], "row 0 .*expected a pair .* got 5"),
        ([("a", "b"), ("a", ["b"])], r"row 1 .*a node of \('a', \['b'\]\) cannot be hashed"),
        ([("a", "b"), (None, "b")], r"row 1 .*missing \(None\)"),
        ([("a", "b"), ("b", float("nan"))], r"row 1 .*missing \(nan\)"),
        ([("a", pd.NA)], r"row 0 .*missing \(<NA>\)"),
        (np.zeros((2, 5), int), r"shape \(n, 2\).* got shape \(2, 5\). Transpose it"),
        (np.zeros((5, 3), int), r"got shape \(5, 3\). Give the third column as weights="),
        (np.zeros(4, int), r"got shape \(4,\)\.$"),
        (np.zeros((5, 2)), r"its type is float64. Convert it, for instance with edges.astype"),
        (
            pd.DataFrame({"from": [1], "target": [2]}),
            "one column 'source', but the columns are 'from'",
        ),
        (
            pl.DataFrame({"source": [1]}),
            "expected one column 'target', but the columns are 'source'",
        ),
        (pd.DataFrame({"source": ["a", None], "target": ["b", "c"]}), "sources, row 1 .*missing"),
        (pd.DataFrame({"source": [1, 2], "target": [1.0, np.nan]}), "targets, row 1 .*missing"),
        (
            pd.DataFrame({"source": [["a"]], "target": [1]}),
            r"sources, row 0 .*\['a'\] cannot be has",
        ),
        (pl.DataFrame({"source": [1], "target": [None]}), "targets, row 0 .*missing"),
        (pl.DataFrame({"source": ["a", None], "target": ["b", "c"]}), "sources, row 1 .*missing"),
        (pl.DataFrame({"source": [1.0, float("nan")], "target": [1.0, 2.0]}), "row 1 .*missing"),
        (pa.table({"source": [1, None], "target": [1, 2]}), "sources, row 1 .*missing"),
        (np.array([["a", "b"], ["c", None]], dtype=object), "row 3 .*missing"),
    ],
)
def test_edges_that_cannot_be_read_are_refused(edges, message):
    with pytest.raises(InvalidGraphError, match=message):
        EdgeInput.of(edges)


@pytest.mark.parametrize(
    "edges",
    [
        [],
        np.empty((0, 2), dtype=np.int64),
        pd.DataFrame({"source": [], "target": []}),
        pl.DataFrame({"source": [], "target": []}),
        pa.table({"source": pa.chunked_array([], pa.string())} | {"target": pa.array([])}),
    ],
    ids=lambda edges: type(edges).__name__,
)
def test_an_edge_table_without_rows_is_refused_in_every_form(edges):
    with pytest.raises(InvalidGraphError, match="no edges: the edge table is empty"):
        Graph.from_edges(edges)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"expected 3 numbers, one for each row, got an array of shape \(2,\)"),
        ([1, "2", 3], "row 1 .*expected a number, got '2' of type str"),
        (["1", "2", "3"], "row 0 .*expected a number"),
        ([1, None, 3], "got nan"),
        (pd.array([1, pd.NA, 3]), "row 1 .*got nan"),
        (pl.Series([1, None, 3]), "row 1 .*got nan"),
        ([1, 10**400, 3], "row 1 .*got inf"),
        ([[1], [2], [4]], r"row 0 .*expected a number, got \[1\]"),
        ([1, -2, 3], "Edge 'c' - 'b' in row 1 .*got -2"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(InvalidGraphError, match=message):
        Graph.from_edges(PAIRS, weights=weights)


def test_every_edge_needs_a_relation():
    with pytest.raises(InvalidGraphError, match="expected 3 relations, one for each edge, got 1"):
        EdgeInput.of(PAIRS, relations=["r"])
    with pytest.raises(InvalidGraphError, match=r"relations, row 1 .*missing \(None\)"):
        EdgeInput.of(PAIRS, relations=["r", None, "r"])


@pytest.mark.parametrize(
    ("edges", "parameters", "message"),
    [
        ("edges.csv", {}, "expected pairs .* got 'edges.csv'"),
        (7, {}, "expected pairs .* got 7"),
        (pd.DataFrame(COLUMNS | {"weight": 1}), {"weights": [1] * 3}, "has a column 'weight' too"),
        (pd.DataFrame(COLUMNS | {"relation": 1}), {"relations": [1] * 3}, "column 'relation' too"),
    ],
)
def test_parameters_that_make_no_edges_are_refused(edges, parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        EdgeInput.of(edges, **parameters)


def test_other_graph_objects_are_sent_to_their_constructor():
    import networkx as nx
    from scipy.sparse import eye_array

    with pytest.raises(InvalidParameterError, match=r"Use Graph\.from_networkx"):
        EdgeInput.of(nx.path_graph(3))
    with pytest.raises(InvalidParameterError, match=r"Use Graph\.from_scipy"):
        EdgeInput.of(eye_array(3))

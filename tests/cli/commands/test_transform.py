"""`embedprop transform`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import Shell, assert_refused

from embedprop import EmbeddingPropagation


@pytest.fixture
def new_edges(shell: Shell) -> str:
    del shell  # it goes to the folder of the test
    Path("new.csv").write_text("source,target\neve,ann\neve,bob\ncid,fay\n")
    return "new.csv"


def test_the_table_has_the_new_nodes_with_their_reconstructions(
    shell: Shell, model: Path, new_edges: str
) -> None:
    answer = shell("transform", model, "--edges", new_edges, "--out", "new.parquet")
    assert answer == (
        0,
        "Wrote vectors for 2 new nodes, linked to 3 known nodes: new.parquet\n",
        "",
    )
    table = pl.read_parquet("new.parquet")
    assert table.schema == {"node": pl.String, "vector": pl.List(pl.Float32)}
    assert table["node"].to_list() == ["eve", "fay"]
    fitted = EmbeddingPropagation.load(model)
    expected = [fitted.transform_node(["ann", "bob"]), fitted.transform_node(["cid"])]
    np.testing.assert_array_equal(np.array(table["vector"].to_list(), np.float32), expected)


def test_direction_and_source_matter(shell: Shell, model: Path, new_edges: str) -> None:
    Path("own.csv").write_text("node,label\neve,jazz\nfay,tea\n")
    fitted = EmbeddingPropagation.load(model)
    answer = shell(
        "transform", model, "--edges", new_edges, "--out", "new.parquet", "--directed",
        "--label", "word=own.csv", "--source", "both",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    vectors = dict(pl.read_parquet("new.parquet").iter_rows())
    # Nothing points to eve: the block of her id is empty, that of her words is her own.
    np.testing.assert_array_equal(vectors["eve"][:4], np.zeros(4))
    np.testing.assert_array_equal(
        np.float32(vectors["eve"][4:]), fitted.transform_node([], {"word": ["jazz"]})[4:]
    )
    np.testing.assert_array_equal(
        np.float32(vectors["fay"]), fitted.transform_node(["cid"], {"word": ["tea"]})
    )


def test_labels_of_nodes_without_edges_follow_unknown_nodes(
    shell: Shell, model: Path, new_edges: str
) -> None:
    Path("own.csv").write_text("node,label\ngil,jazz\n")
    command = ["transform", model, "--edges", new_edges, "--out", "new.parquet"]
    command += ["--label", "word=own.csv", "--source", "own", "--quiet"]
    assert_refused(shell(*command), "own.csv, line 2: node 'gil'")
    assert not Path("new.parquet").exists()
    assert shell(*command, "--unknown-nodes", "add") == (0, "", "")
    assert pl.read_parquet("new.parquet")["node"].to_list() == ["eve", "fay", "gil"]


def test_no_new_nodes_give_an_empty_table(shell: Shell, model: Path) -> None:
    answer = shell("transform", model, "--edges", "edges.csv", "--out", "new.parquet")
    assert answer.out == "No new nodes: the model already has all 4. new.parquet is empty.\n"
    table = pl.read_parquet("new.parquet")
    assert table.schema == {"node": pl.String, "vector": pl.List(pl.Float32)}
    assert len(table) == 0


def test_nodes_that_are_numbers_are_known_by_their_digits(
    shell: Shell, model_of_numbers: Path
) -> None:
    Path("new.csv").write_text("source,target\n4,1\n4,2\n")
    Path("own.csv").write_text("node,label\n4,10\n")
    shell(
        "transform", model_of_numbers, "--edges", "new.csv", "--out", "new.parquet",
        "--label", "size=own.csv", "--source", "both",
    )  # fmt: skip
    [(node, vector)] = pl.read_parquet("new.parquet").iter_rows()
    assert node == "4"
    expected = EmbeddingPropagation.load(model_of_numbers).transform_node([1, 2], {"size": [10]})
    np.testing.assert_array_equal(np.float32(vector), expected)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--out", "new.csv"], "expected a name that ends in .parquet"),
        (["--out", "no/new.parquet"], "no does not exist. Create it first."),
        (["--source", "x"], "source='x' is not known"),
        (["--label", "sound=words.csv"], "the model has no label type 'sound'. It has: node, word"),
        (["--edges", "missing.csv"], "missing.csv does not exist"),
    ],
)
def test_mistakes_write_nothing(
    shell: Shell, model: Path, new_edges: str, words: list[str], part: str
) -> None:
    before = sorted(Path().iterdir())
    command = ["transform", model, "--edges", new_edges, "--out", "new.parquet"]
    assert_refused(shell(*command, *words), part)
    assert sorted(Path().iterdir()) == before

"""`embedprop export`."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import Shell, assert_refused

from embedprop import EmbeddingPropagation


@pytest.mark.parametrize(
    ("format", "files"),
    [
        ("parquet", ["friends.parquet"]),
        ("word2vec", ["friends.txt"]),
        ("npy", ["friends.npy", "friends.ids.parquet"]),
        (
            "projector",
            [f"friends-projector/{name}" for name in ("vectors.tsv", "metadata.tsv")]
            + ["friends-projector/projector_config.pbtxt"],
        ),
    ],
)
def test_without_out_files_are_written_beside_the_model(
    shell: Shell, model: Path, format: str, files: list[str]
) -> None:
    shutil.copytree(model, "friends")
    answer = shell("export", "friends/", "--format", format)
    assert answer == (0, f"Wrote 4 vectors of 8 dimensions: {', '.join(files)}\n", "")
    assert all(Path(name).stat().st_size > 0 for name in files)


def test_nodes_and_labels_are_exported(shell: Shell, model: Path) -> None:
    fitted = EmbeddingPropagation.load(model)
    shell("export", model, "--out", "nodes.parquet", "--quiet")
    nodes = pl.read_parquet("nodes.parquet")
    assert nodes["node"].to_list() == list(fitted.nodes_)
    np.testing.assert_array_equal(np.array(nodes["vector"].to_list()), fitted.node_embeddings_)
    assert shell("export", model, "--out", "w.parquet", "--labels", "word", "--quiet").out == ""
    words = pl.read_parquet("w.parquet")
    assert words.columns == ["label", "vector"]
    assert words["label"].to_list() == ["tea", "jam", "jazz"]
    vectors = fitted.label_embeddings_["word"]
    np.testing.assert_array_equal(np.array(words["vector"].to_list()), vectors)


def test_mistakes_are_refused(shell: Shell, model: Path) -> None:
    assert_refused(shell("export", model, "--format", "x"), "format='x' is not known")
    assert_refused(shell("export", model, "--labels", "x"), "none for 'x'. It has: node, word")
    assert_refused(
        shell("export", model, "--out", "no/x.parquet"), "no does not exist. Create it first."
    )

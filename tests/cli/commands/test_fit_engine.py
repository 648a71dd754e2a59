"""`embedprop fit --engine "fused(storage=...)"`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import QUICK, Shell

from embedprop import EmbeddingPropagation


def test_a_model_is_learned_on_disk(shell: Shell) -> None:
    wanted = {
        "m": "fused(storage='memory')",
        "two": "fused(storage='disk', partitions=2)",
        "four": "fused(storage='disk', partitions=4, folder='.')",
    }
    for out, engine in wanted.items():
        answer = shell("fit", "edges.csv", "--engine", engine, "--out", out, *QUICK)
        assert answer.code == 0, answer.err
    models = {out: EmbeddingPropagation.load(out) for out in wanted}
    assert {out: model.engine for out, model in models.items()} == wanted
    np.testing.assert_array_equal(models["two"].node_embeddings_, models["m"].node_embeddings_)
    assert sorted(path.name for path in Path().iterdir() if path.is_file()) == [
        "edges.csv",
        "words.csv",
    ]


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("fused(storage='dsk')", "storage='dsk' is not known. Choose one of: 'auto', 'memory'"),
        ("fused(storage='disk', partitions=3)", "partitions=3: expected"),
        ("fused(partitions=4)", "which are for tables on disk"),
        ("fused(storage='disk', folder='gone')", "the folder gone does not exist"),
        ("fused(disk=True)", "'fused' has no parameter 'disk'"),
        ("torch(storage='disk')", "'torch' has no parameter 'storage'"),
    ],
)
def test_an_engine_that_cannot_be_is_refused_before_files_are_read(
    shell: Shell, engine: str, message: str
) -> None:
    answer = shell("fit", "nowhere.csv", "--engine", engine, "--out", "model", *QUICK)
    assert answer.code == 2
    assert message in answer.err


def test_targets_are_not_learned_by_the_fused_engine(shell: Shell) -> None:
    words = ["--engine", "fused", "--targets", "nowhere.csv"]
    answer = shell("fit", "nowhere.csv", "--out", "model", *words, *QUICK)
    assert answer.code == 2
    assert "engine='fused' computes only EP-B, but targets are given." in answer.err

"""`embedprop fit --storage`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import QUICK, Shell

from embedprop import EmbeddingPropagation


def test_a_model_is_learned_on_disk(shell: Shell) -> None:
    wanted = {"m": "memory", "two": "disk(partitions=2)", "four": "disk(partitions=4, folder='.')"}
    for out, storage in wanted.items():
        answer = shell("fit", "edges.csv", "--storage", storage, "--out", out, *QUICK)
        assert answer.code == 0, answer.err
    models = {out: EmbeddingPropagation.load(out) for out in wanted}
    assert {out: model.storage for out, model in models.items()} == wanted
    np.testing.assert_array_equal(models["two"].node_embeddings_, models["m"].node_embeddings_)
    assert sorted(path.name for path in Path().iterdir() if path.is_file()) == [
        "edges.csv",
        "words.csv",
    ]


def test_a_bad_storage_is_told_before_files_are_read(shell: Shell) -> None:
    answer = shell("fit", "nowhere.csv", "--storage", "dsk", "--out", "model", *QUICK)
    assert answer.code == 2
    assert "storage='dsk' is not known. Choose one of: 'auto', 'memory', 'disk'." in answer.err


@pytest.mark.parametrize(
    ("storage", "others", "message"),
    [
        ("disk", ["--engine", "torch"], "the engine is 'torch'"),
        ("disk", ["--targets", "nowhere.csv"], "the engine is 'torch'"),
        ("disk", ["--instance", "eps"], "the engine is 'closed form'"),
        ("disk(folder='gone')", [], "the folder gone does not exist"),
    ],
)
def test_so_is_a_disk_that_cannot_be_used(
    shell: Shell, storage: str, others: list[str], message: str
) -> None:
    quick = () if "eps" in others else QUICK
    answer = shell("fit", "nowhere.csv", "--storage", storage, "--out", "model", *others, *quick)
    assert answer.code == 2
    assert message in answer.err

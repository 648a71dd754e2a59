"""Bad input gets one clear line and exit code 2, and nothing is written."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from tests.cli.conftest import QUICK, Answer, Shell, assert_refused

BAD_EDGES: dict[str, tuple[bytes, str]] = {
    "an empty file": (b"", "bad.csv is empty"),
    "a header alone": (b"source,target\n", "bad.csv has no rows"),
    "a missing column": (b"source,to\na,b\n", "bad.csv: expected the column 'target'"),
    "a wrong number of fields": (b"source,target\na,b\na,b,c\n", "bad.csv, line 3: expected 2"),
    "a weight that is NaN": (b"source,target,weight\na,b,nan\n", "bad.csv, line 2: "),
    "an infinite weight": (b"source,target,weight\na,b,1\nb,c,inf\n", "bad.csv, line 3: "),
    "a negative weight": (b"source,target,weight\na,b,-1\n", "bad.csv, line 2: "),
    "a weight that is no number": (b"source,target,weight\na,b,x\n", "bad.csv, line 2: "),
    "bytes that are not UTF-8": (b"source,target\n\xff\xfe,b\n", "bad.csv, line 2: byte 0xff"),
    "self-loops alone": (b"source,target\na,a\n", "The graph has no edges"),
    "binary garbage": (bytes(range(256)) * 40, "bad.csv, line "),
    "gzip under another name that is cut off": (gzip.compress(b"a,b\n" * 99)[:20], "bad.csv"),
}


def fit(shell: Shell, *arguments: str) -> Answer:
    answer = shell("fit", *arguments, "--out", "model", *QUICK)
    assert not Path("model").exists()
    return answer


@pytest.mark.parametrize("content", BAD_EDGES)
def test_edges(shell: Shell, content: str) -> None:
    text, part = BAD_EDGES[content]
    Path("bad.csv").write_bytes(text)
    assert_refused(fit(shell, "bad.csv"), part)


def test_a_missing_file_or_a_folder(shell: Shell) -> None:
    assert_refused(fit(shell, "missing.csv"), "missing.csv does not exist")
    assert_refused(fit(shell, "."), ". is a folder")
    assert_refused(fit(shell, "edges.csv", "--label", "word=no.csv"), "no.csv does not exist")


def test_a_label_file_that_names_unknown_nodes(shell: Shell) -> None:
    Path("words.csv").write_text("node,label\nann,tea\neve,jam\n")
    answer = fit(shell, "edges.csv", "--label", "word=words.csv")
    assert_refused(answer, "words.csv, line 3: node 'eve'", "--unknown-nodes")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--dim", "0"], "dim=0: expected a whole number of at least 1, got 0."),
        (["--dim", "x"], "--dim: expected a whole number, got 'x'"),
        (["--dim", "node=4,word="], "--dim: expected NAME=VALUE, got 'word='"),
        (["--dim", "node=4,node=5"], "--dim: 'node' is given twice"),
        (["--dim", "sound=4"], "one entry for each label type"),
        (["--margin", "0"], "margin=0.0: expected a finite number above 0, got 0.0."),
        (["--margin", "-1"], "margin=-1.0: expected"),
        (["--margin", "nan"], "margin=nan: expected"),
        (["--epochs", "-1"], "epochs=-1: expected"),
        (["--batch-size", "0"], "batch_size=0: expected"),
        (["--learning-rate", "0"], "learning_rate=0.0: expected"),
        (["--random-state", "-1"], "random_state=-1: expected"),
        (["--random-state", "x"], "--random-state: expected a whole number, got 'x'"),
        (["--label-types", "sound"], "label_types=['sound']"),
        (["--label-types", "word,"], "--label-types: expected names separated by commas"),
        (["--negatives", "x"], "negatives='x' is not known"),
        (["--engine", "x"], "engine='x' is not known"),
        (["--method", "x"], "method='x' is not known"),
        (["--neighborhood", "x"], "neighborhood='x' is not known"),
        (["--label", "word"], "--label: expected TYPE=FILE, got 'word'"),
        (["--label", "word:sound=words.csv"], "unknown kind 'sound'"),
        (["--label", "node=words.csv"], "'node' is reserved"),
        (["--unknown-nodes", "x"], "unknown_nodes must be one of"),
        (["--self-loops", "x"], "self_loops must be one of"),
        (["--columns", "from=source"], "columns: expected keys among"),
        (["--separator", "::"], "separator must be one ASCII character"),
    ],
)
def test_options_of_fit(shell: Shell, words: list[str], part: str) -> None:
    answer = shell("fit", "edges.csv", "--out", "model", *QUICK, *words)
    assert_refused(answer, part)
    assert not Path("model").exists()


def test_bad_settings_are_refused_before_the_graph_is_read(shell: Shell) -> None:
    assert_refused(
        shell("fit", "missing.csv", "--out", "model", "--method", "epb", "--dim", "0"),
        "dim=0: expected a whole number of at least 1",
    )


@pytest.mark.parametrize(
    "command",
    [
        ["similar", "broken", "ann"],
        ["export", "broken", "--out", "vectors.parquet"],
        ["transform", "broken", "--edges", "edges.csv", "--out", "vectors.parquet"],
    ],
)
def test_a_broken_or_newer_model(shell: Shell, model: Path, command: list[str]) -> None:
    assert_refused(shell(*command), "broken: no such folder")
    Path("broken").mkdir()
    assert_refused(shell(*command), "broken: there is no manifest.json")
    shutil.copytree(model, "broken", dirs_exist_ok=True)
    manifest = json.loads(Path("broken/manifest.json").read_text())
    Path("broken/manifest.json").write_text(json.dumps(manifest | {"format_version": 99}))
    assert_refused(shell(*command), "format version 99", "Upgrade")
    Path("broken/manifest.json").write_text("{")
    assert_refused(shell(*command), "manifest.json")
    shutil.copy(model / "manifest.json", "broken/manifest.json")
    for path in Path("broken").glob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-1])
    assert_refused(shell(*command), "bytes, got ", "damaged")
    assert not Path("vectors.parquet").exists()

"""Small files, and a way to call commands as a shell does, in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from embedprop import EmbeddingPropagation, Graph
from embedprop.cli.main import main

EDGES = "source,target\nann,bob\nbob,cid\ncid,ann\ncid,dan\n"
WORDS = "node,label\nann,tea\nbob,tea\nbob,jam\ndan,jazz\n"
# Enough to learn something, little enough to wait for.
QUICK = ("--method", "epb", "--dim", "4", "--epochs", "2", "--n-threads", "1")


class Answer(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Shell = Callable[..., Answer]


@pytest.fixture
def shell(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Shell:
    """Run `embedprop ...` in a folder with edges.csv and words.csv."""
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text(EDGES)
    Path("words.csv").write_text(WORDS)

    def run(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Answer(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the edges and words above; tests must not change it."""
    folder = tmp_path_factory.mktemp("models") / "friends"
    edges, words = folder.parent / "edges.csv", folder.parent / "words.csv"
    edges.write_text(EDGES)
    words.write_text(WORDS)
    graph = Graph.read(edges, {"word": words})
    EmbeddingPropagation(dim=4, epochs=2, n_threads=1).fit(graph).save(folder)
    return folder


@pytest.fixture(scope="session")
def model_of_numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model made in Python, whose nodes and labels are numbers."""
    folder = tmp_path_factory.mktemp("models") / "numbers"
    graph = Graph.from_edges([(1, 2), (2, 3), (3, 1)], labels={"size": {1: [10], 2: [20]}})
    EmbeddingPropagation(dim=4, epochs=2, n_threads=1).fit(graph).save(folder)
    return folder


def assert_refused(answer: Answer, *parts: str) -> None:
    """One line on stderr that has all `parts`, exit code 2, and no result."""
    assert answer.code == 2, answer
    assert answer.err.count("\n") == 1, answer.err
    assert answer.err.endswith("\n")
    for part in parts:
        assert part in answer.err

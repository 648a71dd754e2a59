"""`embedprop demo`; what it does is tested in tests/demo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Shell, assert_refused


def test_the_command_runs_the_demo(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Path, bool]] = []

    def run_demo(out: Path, say: Callable[[str], None], verbose: bool) -> None:
        calls.append((out, verbose))
        say("hello")

    monkeypatch.setattr("embedprop.demo.run.run_demo", run_demo)
    assert shell("demo") == (0, "hello\n", "")
    assert shell("demo", "--out", "there", "--quiet") == (0, "", "")
    assert calls == [(Path("embedprop-demo"), True), (Path("there"), False)]


def test_a_file_in_the_way_is_refused(shell: Shell) -> None:
    assert_refused(shell("demo", "--out", "words.csv"), "words.csv is a file")

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from embedprop import EmbeddingPropagation, Graph
from embedprop.methods.progress import counted_progress, progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def on_a_terminal() -> Iterator[Terminal]:
    # Not a fixture: pytest sets sys.stderr anew between set-up and test.
    with pytest.MonkeyPatch.context() as patch:
        screen = Terminal()
        patch.setattr(sys, "stderr", screen)
        patch.setenv("TERM", "xterm")
        patch.setenv("COLUMNS", "200")
        yield screen


def test_on_a_terminal_it_shows_epoch_and_losses() -> None:
    with on_a_terminal() as screen, progress_bar(epochs=3, verbose=True) as report:
        report(0, 0.5, {"node": 0.25, "word": 1.0})
        report(2, 1.0, {"node": 0.125, "word": 0.5})
    assert "epoch 3/3" in screen.getvalue()
    assert "loss node 0.1250, word 0.5000" in screen.getvalue()


def test_it_is_silent_when_not_asked_for() -> None:
    with on_a_terminal() as screen, progress_bar(epochs=3, verbose=False) as report:
        report(0, 1.0, {"node": 0.25})
    assert screen.getvalue() == ""


def test_training_fills_the_bar(path: Graph) -> None:
    with on_a_terminal() as screen:
        EmbeddingPropagation(dim=2, epochs=4, n_threads=1, verbose=True).fit(path)
    assert "epoch 4/4" in screen.getvalue()


def test_it_is_silent_where_nobody_watches(path: Graph, capsys: pytest.CaptureFixture[str]) -> None:
    EmbeddingPropagation(dim=2, epochs=1, n_threads=1, verbose=True).fit(path)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_counted_work_runs_by_above_its_bar() -> None:
    echoed: list[str] = []
    with on_a_terminal() as screen, counted_progress(echoed.append) as told:
        told(3, 40, "table3 [ppi] done")
    assert "table3 [ppi] done" in screen.getvalue()
    assert "3/40" in screen.getvalue()
    assert echoed == []


def test_counted_work_is_told_in_lines_where_nobody_watches() -> None:
    echoed: list[str] = []
    with counted_progress(echoed.append) as told:
        told(3, 40, "table3 done")
    assert echoed == ["[3/40] table3 done"]

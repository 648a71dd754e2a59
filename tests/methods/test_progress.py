from __future__ import annotations

import io
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from embedprop import ClosedForm, EmbeddingPropagation, Graph
from embedprop.methods.progress import InterruptWatch, counted_progress, progress_bar


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


def test_on_a_terminal_it_shows_what_is_reported() -> None:
    with on_a_terminal() as screen, progress_bar(verbose=True) as report:
        report(0.5, 3, "the first third")
        report(3, 3, "all of it")
    assert "all of it" in screen.getvalue()


def test_work_whose_end_is_not_known_is_shown_too() -> None:
    with on_a_terminal() as screen, progress_bar(verbose=True) as report:
        report(7, None, "7 message passes")
    assert "7 message passes" in screen.getvalue()


def test_it_is_silent_when_not_asked_for() -> None:
    with on_a_terminal() as screen, progress_bar(verbose=False) as report:
        report(1, 3, "the first third")
    assert screen.getvalue() == ""


def test_training_shows_its_epochs_and_losses(path: Graph) -> None:
    model = EmbeddingPropagation(dim=2, epochs=4, n_threads=1, verbose=True)
    with on_a_terminal() as screen:
        model.fit(path)
    assert f"epoch 4/4, loss node {model.loss_history_['node'][-1]:.4f}" in screen.getvalue()


def test_solving_shows_what_is_solved() -> None:
    ring = Graph.from_edges([(i, (i + 1) % 700) for i in range(700)])  # too large to be dense
    with on_a_terminal() as screen:
        ClosedForm(dim=2, verbose=True).fit(ring)
    assert "solving 'node': " in screen.getvalue()


@pytest.mark.parametrize("estimator", [EmbeddingPropagation, ClosedForm])
def test_it_is_silent_where_nobody_watches(
    estimator: Any, path: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    estimator(dim=2, verbose=True).fit(path)
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


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_the_first_press_is_only_noted() -> None:
    with InterruptWatch() as watch:
        assert not watch.pressed
        press()
        assert watch.pressed
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_second_press_warns_that_the_next_one_costs_the_model(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with InterruptWatch() as watch:
        press()
        assert caplog.messages == ["Stopping after the running batch; what was learned is kept."]
        press()
        assert watch.pressed
    assert caplog.messages[1:] == [
        "Still keeping what was learned. Ctrl-C once more loses it and stops at once."
    ]


def test_the_third_press_interrupts_at_once() -> None:
    with InterruptWatch() as watch:
        press()
        press()
        with pytest.raises(KeyboardInterrupt):
            press()
        with pytest.raises(KeyboardInterrupt):
            press()
    assert watch.pressed
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_each_watch_counts_its_own_presses() -> None:
    for _ in range(3):
        with InterruptWatch() as watch:
            press()
            assert watch.pressed


def test_after_closing_a_press_interrupts_as_usual() -> None:
    with InterruptWatch() as watch:
        pass
    with pytest.raises(KeyboardInterrupt):
        press()
    assert not watch.pressed


def test_the_handler_comes_back_when_training_fails() -> None:
    with pytest.raises(RuntimeError, match="training failed"), InterruptWatch():
        raise RuntimeError("training failed")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_application_stays_in_charge() -> None:
    heard = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        with InterruptWatch() as watch:
            press()
        press()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert heard == [signal.SIGINT] * 2
    assert not watch.pressed


def test_outside_the_main_thread_nothing_is_watched() -> None:
    seen = []

    def work() -> None:
        with InterruptWatch() as watch:
            seen.append((watch.pressed, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(False, signal.default_int_handler)]

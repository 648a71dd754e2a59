from __future__ import annotations

import signal
import threading

import pytest

from embedprop.methods.interrupt import InterruptWatch


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
        assert caplog.messages == []
        press()
        assert watch.pressed
    assert caplog.messages == [
        "Keeping what was learned: a moment. Ctrl-C once more loses it and stops at once."
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

from __future__ import annotations

import threading

import numba
import numpy as np
import pytest

from embedprop.kernels import meeting
from embedprop.kernels.meeting import arrive, have_arrived, n_arrived


@numba.njit(nogil=True)
def relay(number: int, n_threads: int, n_meetings: int, arrived: np.ndarray, seen: np.ndarray):
    """At each meeting add up what all have written before it; meet again before the next."""
    for i in range(n_meetings):
        seen[number, 0] = i + number
        arrive(arrived)
        while not have_arrived(arrived, (2 * i + 1) * n_threads):
            pass
        for other in range(n_threads):
            seen[number, 1] += seen[other, 0]
        arrive(arrived)
        while not have_arrived(arrived, (2 * i + 2) * n_threads):
            pass


def test_what_was_written_before_a_meeting_all_see_after_it() -> None:
    n_threads, n_meetings = 2, 20_000
    arrived, seen = np.zeros(1, np.int64), np.zeros((n_threads, 2), np.int64)
    relay(0, 1, 1, np.zeros(1, np.int64), np.zeros((1, 2), np.int64))  # compiles
    threads = [
        threading.Thread(target=relay, args=(i, n_threads, n_meetings, arrived, seen))
        for i in range(n_threads)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = sum(i + other for i in range(n_meetings) for other in range(n_threads))
    assert seen[:, 1].tolist() == [expected] * n_threads
    assert arrived[0] == 2 * n_meetings * n_threads


def test_who_waits_in_vain_gives_up() -> None:
    arrived = np.zeros(1, np.int64)
    assert have_arrived(arrived, 0)
    assert not have_arrived(arrived, 1)


def test_plain_python_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meeting, "PATIENCE", 3)
    arrived = np.zeros(1, np.int64)
    arrive(arrived)
    assert n_arrived(arrived) == 1
    assert have_arrived.py_func(arrived, 1)
    assert not have_arrived.py_func(arrived, 2)

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from tests.kernels.compiled import needs_compiling

from embedprop.kernels.machine import meeting
from embedprop.kernels.machine.meeting import arrive, have_arrived, let_others_run, n_arrived


@numba.njit(nogil=True)
def relay(number: int, n_threads: int, n_meetings: int, arrived: np.ndarray, seen: np.ndarray):
    """Write, meet, add up what all have written, and meet again; return whether all came."""
    for i in range(n_meetings):
        seen[number, 0] = i + number
        for place in (2 * i + 1, 2 * i + 2):
            arrive(arrived)
            tries = 0
            while not have_arrived(arrived, place * n_threads):
                tries += 1
                if tries > 10_000:
                    return False
            if place == 2 * i + 1:
                for other in range(n_threads):
                    seen[number, 1] += seen[other, 0]
    return True


def test_what_was_written_before_a_meeting_all_see_after_it() -> None:
    n_threads, n_meetings = 2, 300
    arrived, seen = np.zeros(1, np.int64), np.zeros((n_threads, 2), np.int64)
    assert relay(0, 1, 1, np.zeros(1, np.int64), np.zeros((1, 2), np.int64))  # compiles
    with ThreadPoolExecutor(n_threads) as pool:
        came = pool.map(lambda i: relay(i, n_threads, n_meetings, arrived, seen), range(n_threads))
        assert all(came)
    expected = sum(i + other for i in range(n_meetings) for other in range(n_threads))
    assert seen[:, 1].tolist() == [expected] * n_threads
    assert arrived[0] == 2 * n_meetings * n_threads


@numba.njit(nogil=True)
def come_often(arrived: np.ndarray, came: np.ndarray) -> None:
    for i in range(len(came)):
        came[i] = arrive(arrived)


def test_each_arrival_is_told_how_many_came_before() -> None:
    arrived, came = np.zeros(1, np.int64), np.zeros((3, 300_000), np.int64)
    come_often(arrived, came[0, :0])  # compiles
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda i: come_often(arrived, came[i]), range(3)))
    assert arrived[0] == came.size
    np.testing.assert_array_equal(np.sort(came, axis=None), np.arange(came.size))
    assert (np.diff(came) > 0).all()


@needs_compiling
def test_a_counter_of_another_type_is_refused() -> None:
    with pytest.raises(numba.TypingError):
        have_arrived(np.zeros(1, np.int32), 1)


def test_who_waits_in_vain_gives_up() -> None:
    arrived = np.zeros(1, np.int64)
    assert have_arrived(arrived, 0)
    assert not have_arrived(arrived, 1)


@needs_compiling
@pytest.mark.skipif(meeting.WINDOWS, reason="there it is left to the caller")
def test_who_waits_offers_the_core_to_others() -> None:
    offer = numba.njit(lambda: let_others_run())
    offer()
    (code,) = offer.inspect_llvm().values()
    assert "sched_yield" in code


def test_plain_python_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meeting, "PATIENCE", 3)
    arrived = np.zeros(1, np.int64)
    arrive(arrived)
    assert n_arrived(arrived) == 1
    plain = getattr(have_arrived, "py_func", have_arrived)
    assert plain(arrived, 1)
    assert not plain(arrived, 2)

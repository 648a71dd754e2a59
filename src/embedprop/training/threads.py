"""How many threads to use: results do not depend on it, so the clock may decide."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

import numba

logger = logging.getLogger(__name__)

# A few measurements of each choice, again after this many runs, because machines get busy.
_RUNS_BETWEEN_TRIALS = 60
_TRIALS = 2


# GNU OpenMP's threads spin 300,000 times for each other before they sleep. On a busy machine that
# is a disaster (measured: 10 times slower than one thread, against 2 times with this number); on a
# quiet one they meet within a few hundred.
_SPINS = {"GOMP_SPINCOUNT": "10000"}


def launch_threads() -> None:
    """Start Numba's threads, if they are not running yet, with patience for a busy machine."""
    if any(name in os.environ for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")):
        return  # the user has decided
    try:
        from numba.np.ufunc.parallel import _launch_threads
    except ImportError:  # not part of Numba's public face; without it threads start as usual
        return
    # OpenMP reads the environment once, when it is loaded; nobody else shall see the change.
    os.environ.update(_SPINS)
    try:
        _launch_threads()  # type: ignore[no-untyped-call]
    finally:
        for name in _SPINS:
            del os.environ[name]


@contextmanager
def torch_undisturbed() -> Iterator[None]:
    """Give torch its number of threads back: it may share OpenMP, and its setting, with Numba."""
    torch = sys.modules.get("torch")
    before = None if torch is None else torch.get_num_threads()
    try:
        yield
    finally:
        if torch is not None and torch.get_num_threads() != before:
            torch.set_num_threads(before)


def available_threads() -> int:
    """Return how many threads Numba has here."""
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


class ThreadChoice:
    """Picks the number of threads for each run of a kernel.

    A given number is kept (clamped to what Numba has, with a notice). None tries one thread and
    all of them from time to time and goes on with the faster: on a busy machine, or where
    starting threads is slow, one thread can win by far.
    """

    def __init__(self, n_threads: int | None) -> None:
        available = available_threads()
        if n_threads is not None and n_threads > available:
            logger.warning(
                "n_threads=%d is more than the %d that Numba has here: using %d. "
                "The result is the same.",
                n_threads,
                available,
                available,
            )
        most = min(n_threads or available, available)
        self._choices = sorted({most} if n_threads is not None else {1, most})
        self._best = most
        self._n_runs = 0
        self._seconds: dict[int, float] = {}

    @property
    def most(self) -> int:
        """The largest number that may be chosen."""
        return max(self._choices)

    @contextmanager
    def run(self, amount: float) -> Iterator[int]:
        """Set the number of threads for one run of about `amount` work, and time it."""
        turn = self._n_runs % _RUNS_BETWEEN_TRIALS
        if turn == 0:
            self._seconds = {}
        on_trial = turn < _TRIALS * len(self._choices)
        n_threads = self._choices[turn % len(self._choices)] if on_trial else self._best
        before = numba.get_num_threads()
        start = perf_counter()
        numba.set_num_threads(n_threads)
        try:
            yield n_threads
        finally:
            numba.set_num_threads(before)
        self._n_runs += 1
        if on_trial and amount > 0:
            seconds = (perf_counter() - start) / amount
            self._seconds[n_threads] = min(seconds, self._seconds.get(n_threads, seconds))
            self._best = min(self._seconds, key=lambda n: (self._seconds[n], n))

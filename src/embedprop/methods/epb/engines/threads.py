"""How many threads to use: results do not depend on it, so the clock may decide."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Self

import numba

logger = logging.getLogger(__name__)

# A few measurements of each choice, again after this many runs, because machines get busy.
_RUNS_BETWEEN_TRIALS = 60
_TRIALS = 2


class Crew:
    """Helpers of the thread that calls `run`; they stay as long as it is open; one run at a time.

    Kernels are run about once per epoch. Starting a thread for each run took 0.9 ms and 12 % of the
    time on Cora; a waiting helper begins after 0.3 ms.
    """

    def __init__(self) -> None:
        self._helpers: list[_Helper] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for helper in self._helpers:
            helper.tasks.put(None)
        for helper in self._helpers:
            helper.join()

    def run(self, go_on: Callable[[int], bool], n_threads: int) -> None:
        """Call go_on(0), go_on(1), ..., each in a thread of its own, until each has returned True.

        Whoever returns False waits for the others and is called again. An exception in one ends
        them all, because the others would wait for ever.
        """
        errors: list[BaseException] = []
        ended, news = list[int](), SimpleQueue[int]()

        def work(thread: int) -> None:
            try:
                while not errors and not go_on(thread):
                    time.sleep(0)  # on Windows nothing else offers the core to others
            except BaseException as error:
                errors.append(error)

        def help_with(thread: int) -> None:
            work(thread)
            ended.append(thread)
            news.put(thread)

        n_begun = 0
        try:
            for thread in range(1, n_threads):
                self._helper(thread).put(partial(help_with, thread))
                n_begun += 1
            work(0)
        except BaseException as error:  # a thread that cannot start, or an interrupt
            errors.append(error)
        while len(ended) < n_begun:  # an interrupt may have taken some of the news
            try:
                news.get()
            except BaseException as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _helper(self, thread: int) -> SimpleQueue[Callable[[], None] | None]:
        """Return where to put tasks for the helper that is thread 1, 2, ...; start new ones."""
        if thread > len(self._helpers):
            helper = _Helper()
            helper.start()
            self._helpers.append(helper)
        return self._helpers[thread - 1].tasks


class _Helper(Thread):
    """Does one task after the other, until one is None.

    A pool of `concurrent.futures` takes no task once the main thread has ended, but a fit in
    another thread goes on then.
    """

    def __init__(self) -> None:
        # If Python ends in the middle of a task, it shall not wait for it.
        super().__init__(name="embedprop", daemon=True)
        self.tasks = SimpleQueue[Callable[[], None] | None]()

    def run(self) -> None:
        """Wait for tasks."""
        while (task := self.tasks.get()) is not None:
            task()
            del task  # while it waits for another, the tables shall not wait with it


def available_threads() -> int:
    """Return how many cores this process may use; NUMBA_NUM_THREADS, if it is set, wins."""
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


class ThreadChoice:
    """Picks the number of threads for each run of a kernel.

    A given number is kept (but no more than there are cores, with a notice). None tries one thread
    and all of them from time to time and goes on with the faster: on a busy machine one thread can
    win by far.
    """

    def __init__(self, n_threads: int | None) -> None:
        available = available_threads()
        if n_threads is not None and n_threads > available:
            logger.warning(
                f"n_threads={n_threads}: expected at most {available}, the number of available "
                f"cores; using {available}. The result is the same."
            )
        most = min(n_threads or available, available)
        self._choices = sorted({most} if n_threads is not None else {1, most})
        self._best, self._n_runs = most, 0
        self._seconds: dict[int, float] = {}

    @property
    def most(self) -> int:
        """The largest number that may be chosen."""
        return max(self._choices)

    @contextmanager
    def run(self, amount: float) -> Iterator[int]:
        """Yield the number of threads for one run of about `amount` work, and time the run."""
        turn = self._n_runs % _RUNS_BETWEEN_TRIALS
        if turn == 0:
            self._seconds = {}
        on_trial = turn < _TRIALS * len(self._choices)
        n_threads = self._choices[turn % len(self._choices)] if on_trial else self._best
        start = perf_counter()
        yield n_threads
        self._n_runs += 1
        if on_trial and amount > 0:
            seconds = (perf_counter() - start) / amount
            self._seconds[n_threads] = min(seconds, self._seconds.get(n_threads, seconds))
            self._best = min(self._seconds, key=lambda n: (self._seconds[n], n))

"""Who watches long work: how much is done and the time left, and Ctrl-C, which keeps it safe."""

import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from embedprop.methods.method import Report, silent

logger = logging.getLogger(__name__)


@contextmanager
def progress_bar(verbose: bool) -> Iterator[Report]:
    """Give the function that a method reports to; it draws only if `verbose` and on a terminal."""
    if not verbose or not sys.stderr.isatty():
        yield silent
        return
    from rich.progress import TextColumn

    with _bar(TextColumn("{task.description}"), refresh_per_second=4) as progress:
        task = progress.add_task("starting", total=None)

        def report(done: float, total: float | None, text: str) -> None:
            progress.update(task, completed=done, total=total, description=text)

        yield report


@contextmanager
def counted_progress(echo: Callable[[str], None]) -> Iterator[Callable[[int, int, str], None]]:
    """Give the function that hears (done, total, text) of each finished piece of work.

    On a terminal the texts run by above a bar with the time left; elsewhere each goes to `echo`
    with its count.
    """
    if not sys.stderr.isatty():
        yield lambda done, total, text: echo(f"[{done}/{total}] {text}")
        return
    from rich.progress import MofNCompleteColumn

    # A piece of work may take minutes.
    with _bar(MofNCompleteColumn(), speed_estimate_period=3600) as progress:
        task = progress.add_task("work", total=None)

        def report(done: int, total: int, text: str) -> None:
            progress.console.print(text, markup=False, highlight=False)
            progress.update(task, completed=done, total=total)

        yield report


def _bar(first: Any, **settings: Any) -> Any:
    """Return rich's bar on stderr: `first`, the bar, the time so far and the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as Left

    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("·"), Left(), TextColumn("left"))
    return Progress(first, *columns, console=Console(stderr=True), **settings)


class InterruptWatch:
    """While open, the first Ctrl-C sets `pressed`, the second warns, the third interrupts.

    So a second one, pressed in impatience, does not lose the model that is being finished. Outside
    the main thread signals cannot be watched, and nothing changes.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._warned = False
        self._previous: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.getsignal(signal.SIGINT)
            # Only where Ctrl-C has its usual meaning: another handler belongs to the application.
            if self._previous is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._press)
            else:
                self._previous = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self._warned:
            signal.default_int_handler(number, frame)
        if self.pressed:
            self._warned = True
            text = "Still keeping what was learned. Ctrl-C once more loses it and stops at once."
        else:
            text = "Stopping after the running batch; what was learned is kept."
        logger.warning(text)
        self.pressed = True

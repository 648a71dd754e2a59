"""Ctrl-C that waits for the running batch."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Self


class InterruptWatch:
    """While open, the first Ctrl-C only sets `pressed`; a second one interrupts as usual.

    Outside the main thread signals cannot be watched, and nothing changes.
    """

    def __init__(self) -> None:
        self.pressed = False
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

    def _press(self, _number: int, _frame: FrameType | None) -> None:
        self.pressed = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

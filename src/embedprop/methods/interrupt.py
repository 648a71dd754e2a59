"""Ctrl-C that waits for the running batch, and for what was learned to be safe."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType
from typing import Any, Self

logger = logging.getLogger(__name__)


class InterruptWatch:
    """While open, the first Ctrl-C only sets `pressed`, the second warns, the third interrupts.

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
            logger.warning(
                "Keeping what was learned: a moment. Ctrl-C once more loses it and stops at once."
            )
        self.pressed = True

"""The peak memory of this process, as the system counts it."""

from __future__ import annotations

import gc
import re
import sys
from contextlib import suppress
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def peak_memory() -> int | None:
    """Return the peak resident memory of this process in bytes; None where it is not counted.

    Linux reports it as VmHWM, which a process does not inherit from the one that started it;
    ru_maxrss it does inherit.
    """
    with suppress(OSError):
        found = re.search(r"^VmHWM:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
        if found:
            return 1024 * int(found[1])
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def forget_peak() -> None:
    """Count the peak from now on, where the system can: what loading took is then left out."""
    gc.collect()
    with suppress(OSError):
        # Linux: 5 sets the peak back to what is in use now (man 5 proc).
        _CLEAR.write_text("5")

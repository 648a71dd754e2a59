"""How much memory this machine or container has."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_CGROUPS, _OWN_CGROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def physical_memory() -> int | None:
    """Return the bytes of memory of this machine or container; None where nobody tells."""
    found = _container_limits()
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(found, default=None)


def _container_limits() -> list[int]:
    """Return the limits of this process's control groups, of both versions, and of those above."""
    files = [_CGROUPS / "memory.max", _CGROUPS / "memory/memory.limit_in_bytes"]
    with suppress(OSError):
        for line in _OWN_CGROUPS.read_text(encoding="utf-8", errors="replace").splitlines():
            _, controllers, place = [*line.split(":", 2), "", ""][:3]
            steps = [step for step in place.split("/") if step]
            above = ["/".join(steps[:n]) for n in range(1, len(steps) + 1)]
            if not controllers:
                files += [_CGROUPS / group / "memory.max" for group in above]
            elif "memory" in controllers.split(","):
                files += [_CGROUPS / "memory" / group / "memory.limit_in_bytes" for group in above]
    limits = []
    for file in files:
        with suppress(ValueError, OSError):  # "max": as much as the machine has
            limits.append(int(file.read_text()))
    return limits

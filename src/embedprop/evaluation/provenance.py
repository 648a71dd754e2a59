"""What a result was made with and what it took: version, commit, machine, day and memory."""

import gc
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from embedprop import __version__
from embedprop.evaluation.records import append_record


def provenance() -> dict[str, str]:
    """Return what a result was made with, for its record."""
    return {"version": __version__, "commit": commit(), "machine": machine()}


def publish(record: Mapping[str, Any], out: Path | None) -> None:
    """Print a measurement with machine, commit and date; append it to `out` if that is given."""
    made_with = {"machine": busy_machine(), "commit": commit(dirty_mark="+"), "date": date()}
    whole = {**record, **made_with}
    print(json.dumps(whole), flush=True)  # noqa: T201 (the answer of a benchmark)
    if out is not None:
        append_record(out, whole)


@cache
def commit(dirty_mark: str | None = None) -> str:
    """Return the commit of a checkout that this package runs from; empty when it is installed.

    Files that have changed since add `dirty_mark`, if one is given.
    """
    # All tags excluded: the commit alone, abbreviated as git does.
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--exclude", "*"]
    if dirty_mark is not None:
        command.append(f"--dirty={dirty_mark}")
    with suppress(OSError, subprocess.CalledProcessError):
        return subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL).strip()
    return ""


@cache
def machine() -> str:
    """Return the processor and how many cores of it there are."""
    named = _line_of("/proc/cpuinfo", r"model name\s*:(.*)")
    model = named or platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores"


def busy_machine() -> str:
    """Return the machine, its memory, its system, and how busy it has been in the last minute."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"{machine()}, {memory:.0f} GB, {platform.system()}, load {os.getloadavg()[0]:.1f}"


def date() -> str:
    """Return the day, UTC."""
    return datetime.now(UTC).date().isoformat()


def peak_memory() -> int | None:
    """Return the peak resident memory of this process in bytes; None where it is not counted.

    Linux reports it as VmHWM, which a process does not inherit from the one that started it;
    ru_maxrss it does inherit.
    """
    if kilobytes := _line_of("/proc/self/status", r"VmHWM:\s+(\d+) kB"):
        return 1024 * int(kilobytes)
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
        Path("/proc/self/clear_refs").write_text("5")


def _line_of(path: str, pattern: str) -> str:
    """Return what the group of a pattern matches on a line of a file; empty without any."""
    with suppress(OSError):
        if found := re.search(f"^{pattern}$", Path(path).read_text("utf-8"), re.MULTILINE):
            return found[1].strip()
    return ""

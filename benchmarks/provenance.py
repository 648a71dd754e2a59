"""Where and of what a measurement was taken, and the file that keeps it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from embedprop.evaluation.records import append_record


def publish(record: Mapping[str, Any], out: Path | None) -> None:
    """Print a record with machine, commit and date; append it to `out` if that is given."""
    whole = {**record, "machine": machine(), "commit": commit(), "date": date()}
    print(json.dumps(whole), flush=True)
    if out is not None:
        append_record(out, whole)


def machine() -> str:
    """Return processor, cores, memory, system, and how busy it has been in the last minute."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, "
        f"load {os.getloadavg()[0]:.1f}"
    )


def commit() -> str:
    """Return the commit of the code, with a + if files have changed since; none: no checkout."""
    here = Path(__file__).parents[1]
    found = subprocess.run(
        ["git", "describe", "--always", "--exclude", "*", "--dirty=+"],
        capture_output=True,
        text=True,
        check=False,
        cwd=here,
    )
    return found.stdout.strip()


def date() -> str:
    """Return the day, UTC."""
    return datetime.now(UTC).date().isoformat()


def _processor() -> str:
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.exists():
        for line in cpu_info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()

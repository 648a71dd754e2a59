"""Results as JSON lines: appended one by one, so that a stopped run goes on where it was."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


def append_record(path: str | os.PathLike[str], record: Mapping[str, Any]) -> None:
    """Append one line to a file, at once and for good; the file is made if need be."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(record, allow_nan=False) + "\n"
    with file.open("a+b") as stream:
        # A line that a crash cut short must not swallow this one.
        if stream.tell() > 0:
            stream.seek(-1, os.SEEK_END)
            if stream.read(1) != b"\n":
                line = "\n" + line
        stream.write(line.encode())
        stream.flush()
        os.fsync(stream.fileno())


def read_records(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return all whole lines of a file; none if it does not exist."""
    file = Path(path)
    if not file.exists():
        return []
    records = []
    for line in file.read_bytes().split(b"\n"):
        with suppress(ValueError):  # cut short by a crash, or empty: its unit is run again
            records.append(json.loads(line))
    # A line cut short can still be JSON, such as the start of a number.
    return [record for record in records if isinstance(record, dict)]

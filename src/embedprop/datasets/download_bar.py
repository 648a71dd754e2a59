"""The progress bar of downloads; silent when nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from embedprop.datasets.download import Report


@contextmanager
def download_bar(verbose: bool) -> Iterator[Report | None]:
    """Give the function that downloads report to, or None if not `verbose` or on no terminal."""
    if not verbose or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=4) as progress:
        # A file is known by its name: an attempt that starts anew goes on in the same bar.
        tasks: dict[str, TaskID] = {}

        def report(name: str, n_bytes: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=total)
            progress.update(tasks[name], completed=n_bytes, total=total)

        yield report

"""The progress bar of training: epochs, loss and time left; silent when nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from embedprop.methods.epb.engines.engine import Report


@contextmanager
def progress_bar(epochs: int, verbose: bool) -> Iterator[Report]:
    """Give the function that engines report to; it draws only if `verbose` and on a terminal."""
    if not verbose or not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("epoch {task.fields[epoch]}/{task.total:.0f}"),
        BarColumn(),
        TextColumn("loss {task.fields[loss]}"),
        TimeElapsedColumn(),
        TextColumn("·"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        refresh_per_second=4,
    ) as progress:
        task = progress.add_task("training", total=epochs, epoch=0, loss="")

        def report(epoch: int, share: float, losses: Mapping[str, float]) -> None:
            shown = ", ".join(f"{name} {loss:.4f}" for name, loss in losses.items())
            progress.update(task, completed=epoch + share, epoch=epoch + 1, loss=shown)

        yield report


def _silent(epoch: int, share: float, losses: Mapping[str, float]) -> None:
    del epoch, share, losses


@contextmanager
def solver_status(verbose: bool) -> Iterator[Callable[[str, int], None]]:
    """Give the function that hears of a solver's products; a line on a terminal, else silent."""
    if not verbose or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console

    with Console(stderr=True).status("solving") as status:

        def told(label_type: str, n_products: int) -> None:
            if n_products % 10 == 0:
                status.update(f"solving {label_type!r}: {n_products} message passes")

        yield told


@contextmanager
def counted_progress(echo: Callable[[str], None]) -> Iterator[Callable[[int, int, str], None]]:
    """Give the function that hears (done, total, text) of each finished piece of work.

    On a terminal the texts run by above a bar with the time left; elsewhere each goes to `echo`
    with its count.
    """
    if not sys.stderr.isatty():
        yield lambda done, total, text: echo(f"[{done}/{total}] {text}")
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        MofNCompleteColumn(),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("·"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        speed_estimate_period=3600,  # a piece of work may take minutes
    ) as progress:
        task = progress.add_task("work", total=None)

        def told(done: int, total: int, text: str) -> None:
            progress.console.print(text, markup=False, highlight=False)
            progress.update(task, completed=done, total=total)

        yield told

"""What people see: text and notices on stdout, warnings and errors on stderr."""

import errno
import logging
import sys
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager

import typer


class StoppedError(Exception):
    """Ctrl-C, and what happened to the work."""


class ConsoleHandler(logging.Handler):
    """Shows what the library logs: notices as part of the text, warnings beside it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one message; warnings go to stderr."""
        typer.echo(record.getMessage(), err=record.levelno >= logging.WARNING)


_handler = ConsoleHandler()


@contextmanager
def console() -> Iterator[None]:
    """Show the library's warnings while a command runs; `speaker` adds the notices."""
    logger = logging.getLogger("embedprop")
    level = logger.level
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name that the terminal cannot show is not an error
            stream.reconfigure(errors="backslashreplace")
    _handler.setLevel(logging.WARNING)
    logger.addHandler(_handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(_handler)
        logger.setLevel(level)


def speaker(quiet: bool) -> Callable[[str], None]:
    """Return the function that prints text for people; `quiet` silences it and the library."""
    _handler.setLevel(logging.CRITICAL if quiet else logging.INFO)
    return (lambda _: None) if quiet else typer.echo


def complain(message: str) -> None:
    """Print one line to stderr, whatever the message holds."""
    typer.echo(_printable(" ".join(message.splitlines())), err=True)


def reason(error: OSError) -> str:
    """Return what the system says about a file, without the number of the error."""
    text = error.strerror or str(error) or errno.errorcode.get(error.errno or 0, "unknown error")
    return text if error.filename is None else f"{error.filename}: {text}."


def show_scores(kind: str, found: Sequence[tuple[Hashable, float]]) -> None:
    """Print a table of names and scores."""
    rows = [(_printable(str(name)), f"{score:.4f}") for name, score in found]
    show_table([(kind, "score"), *rows], right=[1])


def show_table(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> None:
    """Print rows: aligned for people, tab separated for programs; the first is the header.

    A row that is shorter than the header is a name and a remark. The columns of `right` are numbers
    that end below each other.
    """
    whole = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    widths[0] = max(len(row[0]) for row in rows)
    for row in rows:
        aligned = (
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=False))
        )
        typer.echo("  ".join(aligned).rstrip() if sys.stdout.isatty() else "\t".join(row))


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)

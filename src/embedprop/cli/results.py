"""What `evaluate` and `compare` share: the options of a protocol, tables and JSON files."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from embedprop.cli.options import bad_value, listed, number_of

if TYPE_CHECKING:
    from embedprop.evaluation.protocols import Protocol

DEFAULT_SHARES = "0.1,0.5,0.9"

TargetsOption = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="The classes: a file with columns node,class; a node with several has several rows.",
        show_default=False,
    ),
]
TrainShareOption = Annotated[
    str | None,
    typer.Option(
        metavar="X,Y",
        help=f"Shares of the nodes that train; the rest is for testing. Default: {DEFAULT_SHARES}.",
    ),
]
PerClassOption = Annotated[
    int | None, typer.Option(metavar="N", help="Instead: N training nodes of each class.")
]
RunsOption = Annotated[int, typer.Option(metavar="N", help="Random splits per protocol.")]
RandomStateOption = Annotated[int, typer.Option(metavar="N", help="Seed of all random draws.")]
JsonOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the results here as JSON too.")
]


def protocols_of(
    train_share: str | None, per_class: int | None, runs: int, random_state: int
) -> list[Protocol]:
    """Return the protocols that the options ask for."""
    from embedprop.evaluation.protocols import Protocol

    if per_class is not None:
        if train_share is not None:
            raise bad_value("--per-class", "give either this or --train-share")
        return [Protocol(n_per_class=per_class, n_runs=runs, random_state=random_state)]
    texts = listed("--train-share", train_share or DEFAULT_SHARES) or []
    shares = [number_of("--train-share", text, float) for text in texts]
    return [Protocol(train_share=share, n_runs=runs, random_state=random_state) for share in shares]


def percent(record: Mapping[str, Any]) -> str:
    """Return "78.32 ± 1.07"; the mean alone if there was one run."""
    mean, spread = record["mean"], record["sd"]
    return f"{100 * mean:.2f}" if spread is None else f"{100 * mean:.2f} ± {100 * spread:.2f}"


def show_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows: aligned for people, tab separated for programs; the first is the header.

    A row that is shorter than the header is a name and a remark.
    """
    whole = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    widths[0] = max(len(row[0]) for row in rows)
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row[:-1], widths, strict=False)]
        typer.echo("  ".join([*cells, row[-1]]) if sys.stdout.isatty() else "\t".join(row))


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    from embedprop.files.atomic import replaced

    with replaced(path) as (stream,):
        stream.write(json.dumps(content, indent=2, allow_nan=False).encode() + b"\n")

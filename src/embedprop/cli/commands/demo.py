"""`embedprop demo`: see it work on real data."""

from pathlib import Path
from typing import Annotated

import typer

from embedprop.cli.console import speaker
from embedprop.cli.options import QuietOption


def demo(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where to write the data, the model and the map.")
    ] = Path("embedprop-demo"),
    quiet: QuietOption = False,
) -> None:
    """See embedprop work on real data; nothing is downloaded."""
    from embedprop.demo.run import run_demo

    run_demo(out, speaker(quiet), verbose=not quiet)

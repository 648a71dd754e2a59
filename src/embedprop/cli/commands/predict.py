"""`embedprop predict`: the class of every node, by a model that learned targets."""

from pathlib import Path
from typing import Annotated

import typer

from embedprop.cli.console import speaker
from embedprop.cli.options import ModelArgument, QuietOption


def predict(
    model: ModelArgument,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="A CSV file to write, with columns node,class.", show_default=False
        ),
    ],
    quiet: QuietOption = False,
) -> None:
    """Write the class of every node, by a model fitted with --targets."""
    import polars as pl

    from embedprop.files.atomic import check_file, replaced
    from embedprop.graph.messages import counted
    from embedprop.model.codec import load_model

    check_file(out)
    fitted = load_model(model)
    classes = fitted.predict()
    table = pl.DataFrame({"node": list(map(str, fitted.nodes)), "class": list(map(str, classes))})
    with replaced(out) as [file]:
        table.write_csv(file)
    speaker(quiet)(f"Wrote the classes of {counted(len(classes), 'node')} to {out}.")

"""`embedprop predict` and `embedprop tails`: what a model says of classes and edges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from embedprop.cli.commands.similar import show_scores
from embedprop.cli.console import speaker
from embedprop.cli.options import ModelArgument, QuietOption


def tails(
    model: ModelArgument,
    head: Annotated[str, typer.Argument(help="A node.", show_default=False)],
    relation: Annotated[
        str | None,
        typer.Argument(help="A relation, for a model that has some.", show_default=False),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many to show.")] = 10,
    quiet: QuietOption = False,  # noqa: ARG001 (there is nothing to silence but the result)
) -> None:
    """Show the likeliest targets of edges from a node, over a relation if there are any."""
    from embedprop.cli.spelling import as_known
    from embedprop.estimators import EmbeddingPropagation

    fitted = EmbeddingPropagation.load(model)
    wanted = None if relation is None else as_known(relation, fitted.relations_ or ())
    show_scores("tail", fitted.predict_tails(as_known(head, fitted.nodes_), wanted, k))


def predict(
    model: ModelArgument,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to write node,class.", show_default=False)
    ],
    quiet: QuietOption = False,
) -> None:
    """Write the class of every node, by a model that was fitted with --targets."""
    import polars as pl

    from embedprop.estimators import EmbeddingPropagation
    from embedprop.files.atomic import check_file, replaced

    check_file(out)
    fitted = EmbeddingPropagation.load(model)
    classes = fitted.predict()
    table = pl.DataFrame({"node": list(map(str, fitted.nodes_)), "class": list(map(str, classes))})
    with replaced(out) as [file]:
        table.write_csv(file)
    speaker(quiet)(f"The classes of {len(classes):,} nodes are in {out}.")

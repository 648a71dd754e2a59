"""`embedprop tails`: the likeliest edges from a node."""

from typing import Annotated

import typer

from embedprop.cli.console import show_scores
from embedprop.cli.options import ModelArgument, QuietOption


def tails(
    model: ModelArgument,
    head: Annotated[str, typer.Argument(help="A node.", show_default=False)],
    relation: Annotated[
        str | None,
        typer.Argument(help="A relation; required if the model has relations.", show_default=False),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="Number to show.")] = 10,
    quiet: QuietOption = False,  # noqa: ARG001 (there is nothing to silence but the result)
) -> None:
    """Show the likeliest targets of edges from a node."""
    from embedprop.cli.spelling import as_known
    from embedprop.model.codec import load_model

    fitted = load_model(model)
    wanted = None if relation is None else as_known(relation, fitted.relations or ())
    show_scores("tail", fitted.predict_tails(as_known(head, fitted.nodes), wanted, k))

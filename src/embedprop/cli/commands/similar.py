"""`embedprop similar`: the nearest nodes to a node, or labels to a label."""

from typing import Annotated

import typer

from embedprop.cli.console import show_scores
from embedprop.cli.options import ModelArgument, QuietOption


def similar(
    model: ModelArgument,
    node: Annotated[
        str,
        typer.Argument(help="A node, or a label if --label-type is given.", show_default=False),
    ],
    k: Annotated[int, typer.Option("-k", metavar="N", help="Number to show.")] = 10,
    label_type: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Search the labels of this type.")
    ] = None,
    quiet: QuietOption = False,  # noqa: ARG001 (there is nothing to silence but the result)
) -> None:
    """Show what is most similar to a node or a label, by cosine."""
    from embedprop.cli.spelling import as_known
    from embedprop.model.codec import load_model

    fitted = load_model(model)
    if label_type is None:
        found = fitted.similar(as_known(node, fitted.nodes), k)
    else:
        known = fitted.vocabularies.get(label_type, ())
        found = fitted.similar_labels(label_type, as_known(node, known), k)
    show_scores("node" if label_type is None else label_type, found)

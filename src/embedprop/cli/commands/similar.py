"""`embedprop similar`: what is near a node or a label."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import Annotated

import typer

from embedprop.cli.options import ModelArgument, QuietOption


def similar(
    model: ModelArgument,
    node: Annotated[
        str,
        typer.Argument(help="A node; with --label-type a label.", show_default=False),
    ],
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many to show.")] = 10,
    label_type: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Compare the labels of this type.")
    ] = None,
    quiet: QuietOption = False,  # noqa: ARG001 (there is nothing to silence but the result)
) -> None:
    """Show what is most similar to a node, by cosine."""
    from embedprop.cli.spelling import as_known
    from embedprop.estimators import EmbeddingPropagation

    fitted = EmbeddingPropagation.load(model)
    if label_type is None:
        found = fitted.similar(as_known(node, fitted.nodes_), k)
    else:
        known = fitted.labels_.get(label_type, ())
        found = fitted.similar_labels(label_type, as_known(node, known), k)
    show_scores("node" if label_type is None else label_type, found)


def show_scores(kind: str, found: Sequence[tuple[Hashable, float]]) -> None:
    """Print a table: aligned for people, tab separated for programs."""
    shown = [(_on_one_line(name), f"{score:.4f}") for name, score in found]
    width = max((len(name) for name, _ in [(kind, ""), *shown]), default=0)
    for name, score in [(kind, "score"), *shown]:
        separated = f"{name}\t{score}"
        typer.echo(f"{name:<{width}}  {score:>7}" if sys.stdout.isatty() else separated)


def _on_one_line(name: Hashable) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(name))

"""`embedprop export`: a model's vectors as a file that other tools read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from embedprop.cli.console import speaker
from embedprop.cli.options import ModelArgument, QuietOption, bad_value

if TYPE_CHECKING:
    from embedprop.files.export import FormatName
    from embedprop.graph.arrays import Vectors


def export(
    model: ModelArgument,
    format: Annotated[
        str,
        typer.Option(
            metavar="parquet|word2vec|npy|projector",
            help="A table; word2vec's text; NumPy's array and a table of ids; or TensorBoard's "
            "embedding projector.",
        ),
    ] = "parquet",
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Where to write. Default: beside the model."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(metavar="TYPE", help="Vectors of the labels of this type, not of the nodes."),
    ] = None,
    relations: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE", help="Vectors of the relations, as learned for this label type."
        ),
    ] = None,
    escape_keys: Annotated[
        bool,
        typer.Option("--escape-keys", help="word2vec: write blanks in names as %20 and the like."),
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Write vectors as files that other tools read."""
    from embedprop.files.export import default_path, export_vectors
    from embedprop.model.codec import load_model

    say = speaker(quiet)
    fitted = load_model(model)
    if labels is not None and relations is not None:
        raise bad_value("--relations", "give either --labels or --relations")
    column, part, names, vectors = "node", None, fitted.nodes.names, fitted.vectors
    if relations is not None:
        _require_known("--relations", relations, fitted.relation_vectors)
        column, part, vectors = (
            "relation",
            f"{relations}-relations",
            fitted.relation_vectors[relations],
        )
        names = () if fitted.relations is None else fitted.relations.names
    elif labels is not None:
        _require_known("--labels", labels, fitted.label_vectors)
        column, part, vectors = "label", labels, fitted.label_vectors[labels]
        names = fitted.vocabularies[labels].names
    kind = cast("FormatName", format)
    path = default_path(model, kind, part) if out is None else out
    written = export_vectors(
        path, names, vectors, format=kind, column=column, escape_keys=escape_keys
    )
    say(f"{len(names):,} vectors of {vectors.shape[1]} numbers: {', '.join(map(str, written))}")


def _require_known(option: str, name: str, known: Mapping[str, Vectors]) -> None:
    if name not in known:
        has = ", ".join(known) or "none at all"
        raise bad_value(option, f"the model has none for {name!r}; it has: {has}")

"""`embedprop export`: a model's vectors as a file that other tools read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from embedprop.cli.console import speaker
from embedprop.cli.options import ModelArgument, QuietOption, bad_value

if TYPE_CHECKING:
    from embedprop.files.export import FormatName


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
    from embedprop.estimators import EmbeddingPropagation
    from embedprop.files.export import default_path, export_vectors

    say = speaker(quiet)
    fitted = EmbeddingPropagation.load(model)
    if labels is not None and relations is not None:
        raise bad_value("--relations", "give either --labels or --relations")
    if relations is not None:
        if relations not in fitted.relation_embeddings_:
            known = ", ".join(fitted.relation_embeddings_) or "no relations at all"
            raise bad_value("--relations", f"the model has none for {relations!r}; it has: {known}")
        names, vectors = fitted.relations_ or (), fitted.relation_embeddings_[relations]
    elif labels is None:
        names, vectors = fitted.nodes_, fitted.node_embeddings_
    elif labels in fitted.labels_:
        names, vectors = fitted.labels_[labels], fitted.label_embeddings_[labels]
    else:
        known = ", ".join(fitted.labels_)
        raise bad_value("--labels", f"the model has no label type {labels!r}, only {known}")
    part = labels if relations is None else f"{relations}-relations"
    kind = cast("FormatName", format)
    path = default_path(model, kind, part) if out is None else out
    written = export_vectors(
        path,
        names,
        vectors,
        format=kind,
        column="node" if part is None else "label" if relations is None else "relation",
        escape_keys=escape_keys,
    )
    say(f"{len(names):,} vectors of {vectors.shape[1]} numbers: {', '.join(map(str, written))}")

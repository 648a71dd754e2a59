"""`embedprop export`: a model's vectors as a file that other tools read."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from embedprop.cli.console import speaker
from embedprop.cli.options import ModelArgument, QuietOption, bad_value, option

if TYPE_CHECKING:
    from embedprop.files.export import FormatName


@dataclass(frozen=True, kw_only=True)
class Exported:
    """Which vectors are written, where, and how."""

    format: str = option(
        "parquet",
        "A Parquet table; word2vec's text format; a NumPy array and a table of ids; or files for "
        "TensorBoard's embedding projector.",
        "parquet|word2vec|npy|projector",
    )
    out: Path | None = option(None, "Where to write. Default: beside the model.", "PATH")
    labels: str | None = option(
        None, "Write the vectors of the labels of this type instead of the nodes'.", "TYPE"
    )
    relations: str | None = option(
        None, "Write the vectors of the relations, as learned for this label type.", "TYPE"
    )
    escape_keys: bool = option(False, "word2vec: write spaces in names as %20, and so on.")


def export(model: ModelArgument, wanted: Exported, quiet: QuietOption = False) -> None:
    """Write vectors as files that other tools read."""
    from embedprop.files.export import default_path, export_vectors
    from embedprop.graph.messages import counted
    from embedprop.model.codec import load_model

    labels, relations, kind = wanted.labels, wanted.relations, cast("FormatName", wanted.format)
    fitted = load_model(model)
    if labels is not None and relations is not None:
        raise bad_value("--relations", "expected either this or --labels, got both")
    column, part, names, vectors = "node", None, fitted.nodes.names, fitted.vectors
    for option_, name, known in (
        ("--labels", labels, fitted.label_vectors),
        ("--relations", relations, fitted.relation_vectors),
    ):
        if name is not None and name not in known:
            has = ", ".join(known) or "none"
            raise bad_value(option_, f"the model has none for {name!r}. It has: {has}")
    if labels is not None:
        column, part, vectors = "label", labels, fitted.label_vectors[labels]
        names = fitted.vocabularies[labels].names
    if relations is not None:
        column, part = "relation", f"{relations}-relations"
        vectors = fitted.relation_vectors[relations]
        names = () if fitted.relations is None else fitted.relations.names
    path = default_path(model, kind, part) if wanted.out is None else wanted.out
    written = export_vectors(
        path, names, vectors, format=kind, column=column, escape_keys=wanted.escape_keys
    )
    shown = ", ".join(map(str, written))
    speaker(quiet)(
        f"Wrote {counted(len(names), 'vector')} of {vectors.shape[1]} dimensions: {shown}"
    )

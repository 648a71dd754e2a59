"""`embedprop transform`: vectors for nodes that arrive after training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from embedprop.cli.console import speaker
from embedprop.cli.graph_files import (
    ColumnsOption,
    GraphFiles,
    HeaderOption,
    LabelOption,
    SeparatorOption,
    UnknownNodesOption,
)
from embedprop.cli.options import ModelArgument, QuietOption, bad_value

if TYPE_CHECKING:
    from embedprop.model.newcomers import Source


def transform(
    model: ModelArgument,
    edges: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="The edges of the new nodes: source,target.", show_default=False
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE.parquet",
            help="Where to write the vectors: a table with the columns node and vector.",
            show_default=False,
        ),
    ],
    label: LabelOption = None,
    directed: Annotated[
        bool | None,
        typer.Option(
            "--directed/--undirected", help="Default: as the graph that the model was trained on."
        ),
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            metavar="both|reconstruction|own",
            help="What a vector is made of: the neighbors' labels and the node's own, or one of "
            "the two.",
        ),
    ] = "both",
    unknown_nodes: UnknownNodesOption = "error",
    columns: ColumnsOption = None,
    header: HeaderOption = None,
    separator: SeparatorOption = None,
    quiet: QuietOption = False,
) -> None:
    """Compute vectors of new nodes, without learning."""
    from embedprop.cli.spelling import respelled
    from embedprop.files.atomic import check_file
    from embedprop.files.export import write_parquet
    from embedprop.graph.labels import split_kinds
    from embedprop.model.codec import load_model

    say = speaker(quiet)
    if out.suffix != ".parquet":
        raise bad_value("--out", f"expected a name that ends in .parquet, got '{out}'")
    check_file(out)
    fitted = load_model(model)
    files = GraphFiles.of(edges, label, columns, header, separator)
    for label_type, _ in split_kinds(files.labels).values():
        if label_type not in fitted.vocabularies:
            known = ", ".join(fitted.vocabularies)
            raise bad_value("--label", f"the model knows no type {label_type!r}, only {known}")
    directed = fitted.directed if directed is None else directed
    graph = respelled(files.read(directed=directed, unknown_nodes=unknown_nodes), fitted)
    vectors = fitted.transform(graph, cast("Source", source))
    learned = set(fitted.nodes)
    rows = [row for row, name in enumerate(graph.nodes) if name not in learned]
    write_parquet(out, [graph.nodes[row] for row in rows], vectors[rows])
    if rows:
        n_known = graph.n_nodes - len(rows)
        nodes = (
            "1 new node, which has" if len(rows) == 1 else f"{len(rows):,} new nodes, which have"
        )
        say(f"{out}: vectors of {nodes} {n_known:,} known ones around.")
    else:
        say(f"No new nodes: the model knows all {graph.n_nodes:,}. {out} is empty.")

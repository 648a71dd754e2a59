"""`embedprop transform`: vectors for nodes that arrive after training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from embedprop.cli.console import speaker
from embedprop.cli.options import (
    ColumnsOption,
    HeaderOption,
    LabelOption,
    ModelArgument,
    QuietOption,
    SeparatorOption,
    UnknownNodesOption,
    bad_value,
    pairs,
)

if TYPE_CHECKING:
    from embedprop.graph.graph import UnknownNodes


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
        str | None,
        typer.Option(
            metavar="reconstruction|own|both",
            help="What a vector is made of: the neighbors' labels (default of EP-B), the node's "
            "own, or both (default of eps).",
        ),
    ] = None,
    unknown_nodes: UnknownNodesOption = "error",
    columns: ColumnsOption = None,
    header: HeaderOption = None,
    separator: SeparatorOption = None,
    quiet: QuietOption = False,
) -> None:
    """Compute vectors of new nodes, without learning."""
    from embedprop.cli.spelling import respelled
    from embedprop.estimators import EmbeddingPropagation
    from embedprop.files.atomic import check_file
    from embedprop.files.export import write_parquet
    from embedprop.graph.graph import Graph
    from embedprop.graph.labels import split_kinds

    say = speaker(quiet)
    if out.suffix != ".parquet":
        raise bad_value("--out", f"expected a name that ends in .parquet, but came '{out}'")
    check_file(out)
    fitted = EmbeddingPropagation.load(model)
    labels = pairs("--label", label or [])
    for label_type, _ in split_kinds(labels).values():
        if label_type not in fitted.labels_:
            known = ", ".join(fitted.labels_)
            raise bad_value("--label", f"the model knows no type {label_type!r}, only {known}")
    graph = Graph.read(
        edges,
        labels,
        directed=fitted.directed_ if directed is None else directed,
        unknown_nodes=cast("UnknownNodes", unknown_nodes),
        columns=None if columns is None else pairs("--columns", columns.split(",")),
        has_header=header,
        separator=separator,
    )
    graph = respelled(graph, fitted)
    vectors = fitted.transform(graph, source)
    learned = set(fitted.nodes_)
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

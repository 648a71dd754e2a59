"""`embedprop transform`: vectors for nodes that arrive after training."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from embedprop.cli.console import speaker
from embedprop.cli.graph_files import UNKNOWN_NODES, GraphFiles
from embedprop.cli.options import ModelArgument, QuietOption, bad_value, option

if TYPE_CHECKING:
    from embedprop.model.newcomers import Source


@dataclass(frozen=True, kw_only=True)
class Newcomers:
    """The new nodes, and what their vectors are computed from."""

    edges: Path = option(..., "The edges of the new nodes: source,target.", "FILE")
    out: Path = option(
        ...,
        "Where to write the vectors: a table with columns node and vector.",
        "FILE.parquet",
    )
    directed: bool | None = option(
        None,
        "Default: like the graph that the model was trained on.",
        flags="--directed/--undirected",
    )
    source: str = option(
        "both",
        "What a vector is computed from: the neighbors' labels (reconstruction), the node's own, "
        "or both.",
        "both|reconstruction|own",
    )
    unknown_nodes: str = option("error", UNKNOWN_NODES, "error|ignore|add")


def transform(
    model: ModelArgument, wanted: Newcomers, files: GraphFiles, quiet: QuietOption = False
) -> None:
    """Compute vectors of new nodes, without training."""
    from embedprop.cli.spelling import respelled
    from embedprop.files.atomic import check_file
    from embedprop.files.export import write_parquet
    from embedprop.graph.labels import split_kinds
    from embedprop.graph.messages import counted
    from embedprop.model.codec import load_model

    say, out = speaker(quiet), wanted.out
    if out.suffix != ".parquet":
        raise bad_value("--out", f"expected a name that ends in .parquet, got '{out}'")
    check_file(out)
    fitted = load_model(model)
    for label_type, _ in split_kinds(files.labels).values():
        if label_type not in fitted.vocabularies:
            known = ", ".join(fitted.vocabularies)
            raise bad_value(
                "--label", f"the model has no label type {label_type!r}. It has: {known}"
            )
    directed = fitted.directed if wanted.directed is None else wanted.directed
    read = files.read(wanted.edges, directed=directed, unknown_nodes=wanted.unknown_nodes)
    graph = respelled(read, fitted)
    vectors = fitted.transform(graph, cast("Source", wanted.source))
    learned = set(fitted.nodes)
    rows = [row for row, name in enumerate(graph.nodes) if name not in learned]
    write_parquet(out, [graph.nodes[row] for row in rows], vectors[rows])
    if rows:
        known_nodes = counted(graph.n_nodes - len(rows), "known node")
        new_nodes = counted(len(rows), "new node")
        say(f"Wrote vectors for {new_nodes}, linked to {known_nodes}: {out}")
    else:
        say(f"No new nodes: the model already has all {graph.n_nodes:,}. {out} is empty.")

"""Table 1: how many numbers a method learns, and how many a user has to choose."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from embedprop.datasets import load_dataset
from embedprop.evaluation.provenance import provenance
from embedprop.evaluation.records import append_record, read_records
from embedprop.graph import Graph
from embedprop.paper.markdown import markdown_table
from embedprop.paper.rows import estimator
from embedprop.paper.units import Unit


class Counted(NamedTuple):
    """One row: the names are parameters of our class, a vector has d numbers."""

    name: str
    hyperparameters: tuple[str, ...]
    vectors_per_node: int  # 0: counted in a model
    published: tuple[str, str]


WALKS = ("dim", "n_walks", "walk_length", "window")
COUNTED = {
    "deepwalk": Counted("DeepWalk", WALKS, 2, ("2d\\|V\\|", "4")),
    "node2vec": Counted("node2vec", (*WALKS, "p", "q"), 2, ("2d\\|V\\|", "6")),
    "line": Counted("LINE", ("dim", "n_samples", "n_negatives"), 2, ("2d\\|V\\|", "2")),
    "epb": Counted("EP-B", ("dim", "margin"), 0, ("d\\|V\\|", "2")),
}


def add_table1(results: Path, *, quick: bool = False) -> str:
    """Count on BlogCatalog (quick: PPI), append what `results` lacks, and return the table."""
    name = "ppi" if quick else "blogcatalog"
    records = table1_records(name, load_dataset(name, directed=False, weighted=False).graph)
    finished = {Unit.of(record) for record in read_records(results)}
    for record in records:
        if Unit.of(record) not in finished:
            append_record(results, record)
    return table1(records)


def table1_records(name: str, graph: Graph, dim: int = 128) -> list[dict[str, Any]]:
    """Return a record per method for a graph without attributes.

    EP-B's number is counted in the tables of a model. The others' is by formula: d numbers for a
    node as itself, and d as the context of others.
    """
    model = estimator("epb", dim=dim, epochs=1, label_types=["node"]).fit(graph)
    size = {"dim": dim, "n_nodes": graph.n_nodes}
    return [
        Unit("table1", name, method, "counts", 0).to_dict()
        | {"n_parameters": row.vectors_per_node * dim * graph.n_nodes or model.n_parameters_}
        | {"n_hyperparameters": len(row.hyperparameters), **size, **provenance()}
        for method, row in COUNTED.items()
    ]


def table1(records: Iterable[dict[str, Any]]) -> str:
    """Return Table 1 as Markdown, a row for each record; "" without any."""
    rows = [_row(record) for record in records if record["experiment"] == "table1"]
    if not rows:
        return ""
    head = ["", "data set", "parameters", "published", "hyperparameters", "published"]
    notes = (
        "EP-B's parameters are counted in a model's tables, the others' are by the paper's "
        "formula. Hyperparameters are those that we name; for LINE the paper counts one less and "
        "does not say which. Our LINE gives half of d to each order and only the second order has "
        "contexts, so it learns 1.5 d|V|. Planetoid is not counted: its numbers depend on the "
        "classes too."
    )
    planetoid = ["Planetoid", "–", "–", "≫ 2d\\|V\\|", "–", "≥ 6"]
    return f"{markdown_table(head, [*rows, planetoid])}\n\n{notes}"


def _row(record: dict[str, Any]) -> list[str]:
    row = COUNTED[record["method"]]
    factor = record["n_parameters"] / (record["dim"] * record["n_nodes"])
    counted = f"{record['n_parameters']:,} = {'' if factor == 1 else f'{factor:g}'}d\\|V\\|"
    names = ", ".join(f"`{name}`" for name in row.hyperparameters)
    hyperparameters = f"{record['n_hyperparameters']}: {names}"
    parameters, chosen = row.published
    return [row.name, record["dataset"], counted, parameters, hyperparameters, chosen]

"""The paper's tables with our numbers beside the published ones, as Markdown made from results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from embedprop.paper.differences import BASELINE_LIMIT, Cell, differences, published
from embedprop.paper.figures_report import kappas, silhouettes
from embedprop.paper.markdown import markdown_table
from embedprop.paper.table1 import table1
from embedprop.paper.units import (
    CITATIONS,
    DATASETS_OF_PARTS,
    N_RUNS,
    NAMES,
    SHARE_TABLES,
    STRUCTURE,
    TABLE5_METHODS,
    base_method,
)

PART_NAMES = {
    "public": "Planetoid's public split (not in the paper)",
    "tf-idf": "words with their TF-IDF weights (not in the paper)",
}
PART_NOTES = {
    "directed": [
        "Messages and walks go from the cited to the citing paper, the order of the original "
        "files. The other way round EP-B has 75.4 on Cora and 70.2 on Citeseer; the paper does "
        "not say which way it took."
    ],
}
# Marks of a cell against the published one, in its standard deviations.
LOWER, HIGHER = "▼", "▲"

INTRODUCTION = (
    "# Reproduction of the paper's tables\n\n"
    "Each cell: ours, mean ± standard deviation over runs in percent, then the published mean. "
    f"{LOWER} marks ours more than one published standard deviation below, {HIGHER} above; "
    "a number in parentheses says how many of the 10 runs are done. Made by "
    "`embedprop reproduce`; do not edit."
)
DIFFERENCES_NOTE = (
    "Every cell where ours is more than one published standard deviation lower than the published "
    f"EP-B, and every cell where a baseline differs by more than {BASELINE_LIMIT:g}, either way."
)

Record = dict[str, Any]


@dataclass(frozen=True)
class Block:
    """One table of the report: methods below each other, columns of (data set, setting)."""

    table: str
    name: str  # in the files of published numbers
    heading: str
    metric: str
    methods: Sequence[str]
    columns: Sequence[tuple[str, str]]

    def head(self, dataset: str, setting: str) -> str:
        """Return the name of a column, as the files of published numbers have it."""
        return dataset if setting == self.name else f"{dataset} {setting}"


def blocks() -> Iterator[Block]:
    """Yield all tables, in the order of the report."""
    for table, (methods, shares) in SHARE_TABLES.items():
        columns = [(dataset, share) for dataset in STRUCTURE for share in shares]
        by = "training nodes" if table == "table3" else "removed nodes"
        for metric in ("micro", "macro"):
            heading = f"## Table {table[-1]}, {metric} F1, by % of {by}"
            yield Block(table, metric, heading, metric, methods, columns)
        for metric in ("micro", "macro"):
            heading = f"### Table {table[-1]}, {metric} F1 when the number of classes is not given"
            name = f"{metric}_predicted"
            yield Block(table, name, heading, name, methods, columns)
    for part, methods in TABLE5_METHODS.items():
        columns = [(dataset, part) for dataset in DATASETS_OF_PARTS.get(part, CITATIONS)]
        heading = f"## Table 5, accuracy, {PART_NAMES.get(part, part)}"
        yield Block("table5", part, heading, "accuracy", methods, columns)


def report(records: Iterable[Record], pictures: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the report of all results so far; pictures: the addresses of figures, by name."""
    records = list(records)
    run = {record["experiment"] for record in records}
    parts = [INTRODUCTION, _provenance(records)]
    compared: list[Cell] = []
    for block in blocks():
        if block.table in run:
            text, cells = _table(block, records)
            parts += [block.heading, *PART_NOTES.get(block.name, ()), text]
            compared += cells
    if compared:
        listed = differences(compared) or "Nowhere."
        parts += ["## Where we differ", DIFFERENCES_NOTE, listed]
    for name, heading, text in (
        ("table1", "Table 1, parameters and hyperparameters", table1(records)),
        ("figure-tsne", "Figure, silhouettes", silhouettes(records)),
        ("figure-kappa", "Figure, at most κ neighbors", kappas(records)),
    ):
        if text:
            picture = [f"![{heading}]({pictures[name]})"] if name in pictures else []
            parts += [f"## {heading}", *picture, text]
    return "\n\n".join(parts) + "\n"


def _provenance(records: Sequence[Record]) -> str:
    """Return where the results come from."""
    machines = sorted({record["machine"] for record in records if record.get("machine")})
    commits = dict.fromkeys(record["commit"] for record in records if record.get("commit"))
    hours = sum(record.get("cpu_seconds", 0.0) for record in records) / 3600
    return (
        f"{len(records)} results, {hours:.1f} CPU hours; machine: {'; '.join(machines) or '–'}; "
        f"commits: {', '.join(commits) or '–'}."
    )


def _table(block: Block, records: Sequence[Record]) -> tuple[str, list[Cell]]:
    """Return a block as Markdown, and those of its cells that can be compared."""
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for record in records:
        if record["experiment"] == block.table and block.metric in record:
            key = record["method"], record["dataset"], record["setting"]
            values[key].append(record[block.metric])
    numbers = published(block.table).get(block.name, {})
    rows, compared = [], []
    for method in block.methods:
        row = [NAMES[method]]
        for column in block.columns:
            ours, head = values[method, *column], block.head(*column)
            known = numbers.get(base_method(method), {}).get(head)
            row.append(_cell(ours, known))
            if ours and known:
                mean = 100 * float(np.mean(ours))
                compared.append(Cell(block.table, block.name, method, head, mean, *known))
        rows.append(row)
    heads = [block.head(*column) for column in block.columns]
    return markdown_table(["", *heads], rows), compared


def _cell(values: list[float], known: list[float] | None) -> str:
    theirs = "" if known is None else f" / {known[0]:.2f}"
    if not values:
        return f"·{theirs}"
    mean, deviation = 100 * float(np.mean(values)), 100 * float(np.std(values))
    mark = ""
    if known is not None and abs(mean - known[0]) > known[1]:
        mark = f" {HIGHER}" if mean > known[0] else f" {LOWER}"
    count = "" if len(values) >= N_RUNS else f" ({len(values)})"
    return f"{mean:.2f} ± {deviation:.2f}{mark}{count}{theirs}"

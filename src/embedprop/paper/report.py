"""The paper's tables with our numbers beside the published ones, as Markdown made from results."""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from embedprop.paper.figure_kappa import kappas
from embedprop.paper.figure_tsne import silhouettes
from embedprop.paper.markdown import markdown_table
from embedprop.paper.rows import ROWS, base_method
from embedprop.paper.table1 import table1
from embedprop.paper.units import F1_METRICS, N_RUNS, TABLES

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

# In published standard deviations: ours must not be lower by more, a baseline not differ by more.
OWN_LIMIT, BASELINE_LIMIT = 1.0, 2.0
UNEXPLAINED = "We do not know why."

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


class Block(NamedTuple):
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


class Cell(NamedTuple):
    """One cell of a table: ours and the published mean and deviation, in percent."""

    table: str
    block: str
    method: str
    column: str
    ours: float
    published: float
    deviation: float

    @property
    def distance(self) -> float:
        """Our mean less the published one, in published standard deviations."""
        return (self.ours - self.published) / self.deviation

    @property
    def differs(self) -> bool:
        """Whether it needs an explanation."""
        if ROWS[self.method].estimator is not None:
            return self.distance < -OWN_LIMIT
        return abs(self.distance) > BASELINE_LIMIT

    def __str__(self) -> str:
        ours_for_theirs = f"{self.ours:.2f} for {self.published:.2f} ({self.distance:+.1f} sd)"
        return f"{self.column} {self.block} {ours_for_theirs}"


def blocks() -> Iterator[Block]:
    """Yield all tables, in the order of the report."""
    for table, part in ((table, part) for table, parts in TABLES.items() for part in parts):
        columns = list(product(part.datasets, part.settings))
        if table == "table5":
            (name,) = part.settings
            heading = f"## Table 5, accuracy, {PART_NAMES.get(name, name)}"
            yield Block(table, name, heading, "accuracy", part.methods, columns)
            continue
        by = "training nodes" if table == "table3" else "removed nodes"
        for metric in F1_METRICS:
            name, _, is_predicted = metric.partition("_")
            more = " when the number of classes is not given" if is_predicted else f", by % of {by}"
            heading = f"{'###' if is_predicted else '##'} Table {table[-1]}, {name} F1{more}"
            yield Block(table, metric, heading, metric, part.methods, columns)


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
        parts += ["## Where we differ", DIFFERENCES_NOTE, differences(compared) or "Nowhere."]
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
        row = [ROWS[method].name]
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


def published(file: str) -> dict[str, Any]:
    """Return a file of the folder `published`.

    Of a table: {block: {method: {column: [mean, deviation]}}}. Of the remarks: those that explain
    a difference, each with `table`, `method` and `text`, some with `block`, or with `starts`: how
    the column begins.
    """
    text = files("embedprop.paper").joinpath(f"published/{file}.toml").read_text("utf-8")
    return tomllib.loads(text)


def differences(cells: Iterable[Cell]) -> str:
    """Return an item for each method and reason that lists all its cells that differ."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.differs:
            groups.setdefault((cell.method, reason(cell)), []).append(cell)
    return "\n".join(
        f"- **{ROWS[method].name}**: {'; '.join(map(str, group))}. {why}"
        for (method, why), group in groups.items()
    )


def reason(cell: Cell) -> str:
    """Return the first remark that fits a cell, or that there is none."""
    fitting = (
        str(remark["text"])
        for remark in published("remarks")["remark"]
        if remark["table"] in (cell.table, "any")
        and remark["method"] == cell.method
        and remark.get("block", cell.block) == cell.block
        and cell.column.startswith(remark.get("starts", ""))
    )
    return next(fitting, UNEXPLAINED)

"""The paper's tables with our numbers beside the published ones, as Markdown made from results."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import numpy as np

from embedprop.paper.differences import BASELINE_LIMIT, Cell, differences
from embedprop.paper.figures_report import kappas, silhouettes
from embedprop.paper.table1 import table1
from embedprop.paper.units import (
    BOTH,
    CITATIONS,
    CITED_GCN_I,
    CLOSED_FORM,
    DATASETS_OF_PARTS,
    DEGREE,
    DENSE_LINE,
    SHORT_LINE,
    STRUCTURE,
    TABLE3_METHODS,
    TABLE4_METHODS,
    TABLE5_METHODS,
    base_method,
)

NAMES = {
    "epb": "EP-B (1 u, uniform)",
    "epb-squared": "EP-B (1 u, uniform; d squared)",
    BOTH: "EP-B (1 u, uniform; h and h~)",
    DEGREE: "EP-B (5 u, by degree)",
    CLOSED_FORM: "closed form (ours)",
    "deepwalk": "DeepWalk",
    "node2vec": "node2vec",
    "line": "LINE",
    DENSE_LINE: "LINE (densified to 100 neighbors, fitted)",
    SHORT_LINE: "LINE (3 million samples, fitted)",
    "wvrn": "wvRN",
    "majority": "Majority",
    "dw-bow": "DW+BoW",
    "planetoid-t": "Planetoid-T",
    "planetoid-i": "Planetoid-I",
    "gcn": "GCN",
    "gcn-i": "GCN-I",
    CITED_GCN_I: "GCN-I (without citations by test nodes)",
    "bow": "BoW",
}
PART_NAMES = {
    "public": "Planetoid's public split (not in the paper)",
    "tf-idf": "words with their TF-IDF weights (not in the paper)",
}
PART_NOTES = {
    "directed": "Messages and walks go from the cited to the citing paper, the order of the "
    "original files. The other way round EP-B has 75.4 on Cora and 70.2 on Citeseer; the paper "
    "does not say which way it took.",
}
# Marks of a cell against the published one, in its standard deviations.
LOWER, HIGHER = "▼", "▲"

DIFFERENCES_NOTE = (
    "Every cell where ours is more than one published standard deviation lower than the published "
    f"EP-B, and every cell where a baseline differs by more than {BASELINE_LIMIT:g}, either way."
)

Cells = dict[tuple[str, str, str, str], list[dict[str, Any]]]


def published(table: str) -> dict[str, Any]:
    """Return the published numbers of a table: {block: {method: {column: [mean, deviation]}}}."""
    text = files("embedprop.paper").joinpath(f"published/{table}.toml").read_text("utf-8")
    return tomllib.loads(text)


def report(
    records: Iterable[dict[str, Any]], pictures: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the report of all results so far; pictures: the addresses of figures, by name."""
    records = list(records)
    cells: Cells = defaultdict(list)
    for record in records:
        key = (record["experiment"], record["dataset"], record["method"], record["setting"])
        cells[key].append(record)
    compared: list[Cell] = []
    parts = [
        "# Reproduction of the paper's tables",
        "Each cell: ours, mean ± standard deviation over runs in percent, then the published mean. "
        f"{LOWER} marks ours more than one published standard deviation below, {HIGHER} above; "
        "a number in parentheses says how many of the 10 runs are done. Made by "
        "`embedprop reproduce`; do not edit.",
        _provenance(records),
    ]
    run = {record["experiment"] for record in records}
    if "table3" in run:
        parts += _share_tables(cells, "table3", TABLE3_METHODS, ("10", "50", "90"), compared)
    if "table4" in run:
        parts += _share_tables(cells, "table4", TABLE4_METHODS, ("20", "40"), compared)
    if "table5" in run:
        parts += _accuracy_tables(cells, compared)
    if compared:
        parts += [
            "## Where we differ",
            DIFFERENCES_NOTE,
            differences(compared, NAMES) or "Nowhere.",
        ]
    for name, heading, text in (
        ("table1", "Table 1, parameters and hyperparameters", table1(records)),
        ("figure-tsne", "Figure, silhouettes", silhouettes(records)),
        ("figure-kappa", "Figure, at most κ neighbors", kappas(records)),
    ):
        if text:
            parts.append(f"## {heading}")
            if name in pictures:
                parts.append(f"![{heading}]({pictures[name]})")
            parts.append(text)
    return "\n\n".join(parts) + "\n"


def _share_tables(
    cells: Cells, table: str, methods: Sequence[str], shares: Sequence[str], compared: list[Cell]
) -> list[str]:
    """Return the blocks of table 3 or 4, with the number of classes given, then without."""
    what = "training nodes" if table == "table3" else "removed nodes"
    columns = [(dataset, share) for dataset in STRUCTURE for share in shares]
    parts = []
    for metric in ("micro", "macro"):
        parts.append(f"## Table {table[-1]}, {metric} F1, by % of {what}")
        parts.append(_table(cells, table, metric, metric, methods, columns, compared))
    for metric in ("micro", "macro"):
        parts.append(f"### Table {table[-1]}, {metric} F1 when the number of classes is not given")
        honest = f"{metric}_predicted"
        parts.append(_table(cells, table, honest, honest, methods, columns, compared))
    return parts


def _accuracy_tables(cells: Cells, compared: list[Cell]) -> list[str]:
    """Return the blocks of table 5."""
    parts = []
    for part, methods in TABLE5_METHODS.items():
        parts.append(f"## Table 5, accuracy, {PART_NAMES.get(part, part)}")
        if part in PART_NOTES:
            parts.append(PART_NOTES[part])
        columns = [(dataset, part) for dataset in DATASETS_OF_PARTS.get(part, CITATIONS)]
        parts.append(_table(cells, "table5", part, "accuracy", methods, columns, compared))
    return parts


def _provenance(records: Sequence[dict[str, Any]]) -> str:
    """Return where the results come from."""
    machines = sorted({record["machine"] for record in records if record.get("machine")})
    commits = dict.fromkeys(record["commit"] for record in records if record.get("commit"))
    hours = sum(record.get("cpu_seconds", 0.0) for record in records) / 3600
    return (
        f"{len(records)} results, {hours:.1f} CPU hours; machine: {'; '.join(machines) or '–'}; "
        f"commits: {', '.join(commits) or '–'}."
    )


def _table(
    cells: Cells,
    table: str,
    block: str,
    metric: str,
    methods: Sequence[str],
    columns: Sequence[tuple[str, str]],
    compared: list[Cell],
) -> str:
    numbers = published(table).get(block, {})
    heads = [
        dataset if setting == block else f"{dataset} {setting}" for dataset, setting in columns
    ]
    lines = ["| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for method in methods:
        row = []
        for head, (dataset, setting) in zip(heads, columns, strict=True):
            found = cells.get((table, dataset, method, setting), [])
            values = [record[metric] for record in found if metric in record]
            known = numbers.get(base_method(method), {}).get(head)
            row.append(_cell(values, known))
            if values and known:
                compared.append(
                    Cell(table, block, method, head, 100 * float(np.mean(values)), *known)
                )
        lines.append(f"| {NAMES[method]} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def _cell(values: list[float], known: list[float] | None) -> str:
    theirs = "" if known is None else f" / {known[0]:.2f}"
    if not values:
        return f"·{theirs}"
    mean, deviation = 100 * float(np.mean(values)), 100 * float(np.std(values))
    mark = ""
    if known is not None and abs(mean - known[0]) > known[1]:
        mark = f" {HIGHER}" if mean > known[0] else f" {LOWER}"
    count = "" if len(values) >= 10 else f" ({len(values)})"
    return f"{mean:.2f} ± {deviation:.2f}{mark}{count}{theirs}"

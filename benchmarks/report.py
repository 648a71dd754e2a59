"""The page and the picture of all benchmarks, made from their record.

    python benchmarks/report.py [--records experiments/benchmarks.jsonl] [--docs docs]

The page has a section for each kind of benchmark that the record has: whole jobs against peers,
and, where there are records of them, the others as plain tables. Ends with 1 if the demand on whole
jobs (ten times less CPU time than the judged peers, at equal or better quality) does not hold.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from peers.claims import judged, rows
from peers.page import section as peers_section
from peers.picture import draw

from embedprop.evaluation.records import read_records

ROOT = Path(__file__).resolve().parents[1]
PICTURE = Path("images") / "quality-against-time.png"
# Kinds that other benchmarks write, in the order of the page.
TITLES = {
    "epoch": "An epoch against the sparse products it contains",
    "scale": "Growth with the number of edges",
    "memory": "Memory",
    "larger_than_memory": "Tables larger than memory",
    "partitions": "What partitions cost in quality",
    "preset": "Time to quality: the presets",
}
ABOUT = ("benchmark", "machine", "commit", "date")

Record = Mapping[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=Path, default=ROOT / "experiments" / "benchmarks.jsonl")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    options = parser.parse_args()
    records = read_records(options.records)
    options.docs.mkdir(parents=True, exist_ok=True)
    (options.docs / "benchmarks.md").write_text(page(records))
    found = rows(records)
    if found:
        draw(options.docs / PICTURE, found)
    comparisons = judged(found)
    n_held = sum(one.holds for one in comparisons)
    print(f"ten times less CPU time at equal or better quality: {n_held} of {len(comparisons)}")
    return 0 if n_held == len(comparisons) else 1


def page(records: Sequence[Record]) -> str:
    """Return the whole page as Markdown."""
    parts = [
        "# Benchmarks",
        "Made by `python benchmarks/report.py` from `experiments/benchmarks.jsonl`, to which the "
        "benchmarks append; not edited by hand.",
    ]
    found = rows(records)
    if found:
        parts.append(peers_section(found, str(PICTURE)))
    for kind, title in TITLES.items():
        of_kind = [one for one in records if one.get("benchmark") == kind]
        if of_kind:
            parts.append(f"## {title}\n\n{plain_table(of_kind)}")
    parts.append(f"## Where it was measured\n\n{machines(records)}")
    return "\n\n".join(parts) + "\n"


def plain_table(records: Sequence[Record]) -> str:
    """Return a row per record; columns are the fields with a single value, as they come.

    The commit is a column where there are several: what was measured again stands there twice.
    """
    several = len({one.get("commit") for one in records}) > 1
    hidden = set(ABOUT) - ({"commit"} if several else set())
    fields = (name for one in records for name in one if plain(one, name))
    names = [name for name in dict.fromkeys(fields) if name not in hidden]
    lines = ["| " + " | ".join(name.replace("_", " ") for name in names) + " |"]
    lines.append("|---" * len(names) + "|")
    for one in records:
        lines.append("| " + " | ".join(written(one.get(name)) for name in names) + " |")
    return "\n".join(lines)


def plain(record: Record, name: str) -> bool:
    """Return whether a field fits into a cell."""
    return isinstance(record[name], (str, int, float, bool))


def written(value: Any) -> str:
    """Return a cell: numbers with three digits that count, large ones in full.

    >>> written(0.034567), written(1234.5), written(10_000_000), written(None)
    ('0.0346', '1,234', '10,000,000', '')
    """
    if value is None or isinstance(value, (list, dict)):
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 1000 else f"{value:.3g}"


def machines(records: Iterable[Record]) -> str:
    """Return the machines, commits and days of the record, each once per kind of benchmark."""
    seen: dict[tuple[str, str], list[Record]] = {}
    for one in records:
        machine = str(one.get("machine", "")).split(", load")[0]
        seen.setdefault((str(one.get("benchmark", "")), machine), []).append(one)
    lines = ["| benchmark | machine | commits | from | to |", "|---|---|---|---|---|"]
    for (kind, machine), group in seen.items():
        commits = ", ".join(dict.fromkeys(str(one.get("commit", "")) for one in group))
        days = sorted(str(one.get("date", ""))[:10] for one in group)
        lines.append(f"| {kind} | {machine} | {commits} | {days[0]} | {days[-1]} |")
    return "\n".join(lines) + "\n\nA + behind a commit: its sources were being changed."


if __name__ == "__main__":
    sys.exit(main())

"""The page and the picture of all benchmarks, made from their record.

    python benchmarks/report.py [--records experiments/benchmarks.jsonl] [--docs docs]

The page begins with every limit: what is asked, what was measured, whether it holds. Then it has a
section for each kind of benchmark that the record has. Ends with 1 if a limit is missed or was not
measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import limits
import sections
from peers.claims import load_of
from peers.claims import rows as rows_of
from peers.page import section as peers_section
from peers.picture import draw

from embedprop.evaluation.records import read_records
from embedprop.paper.markdown import markdown_table

ROOT = Path(__file__).resolve().parents[1]
PICTURE = Path("images") / "quality-against-time.png"

Record = Mapping[str, Any]
# Kinds that other benchmarks write, in the order of the page: title, table.
KINDS: Mapping[str, tuple[str, Callable[[Sequence[Record]], str]]] = {
    "epoch": ("An epoch against the sparse products it contains", sections.epochs),
    "scale": ("Growth with the number of edges", sections.growth),
    "memory": ("Memory", sections.memory),
    "larger_than_memory": ("Tables larger than memory", sections.larger_than_memory),
    "partitions": ("What partitions cost in quality", sections.partitions),
    "preset": ("Time to quality: the paper's settings and `fast`", sections.presets),
}
# Shown where the file exists: other benchmarks draw them.
PICTURES = {
    "scale": ("CPU seconds of an epoch against the number of edges", "images/scale.png"),
    "preset": (
        "Quality against CPU seconds for the paper's settings and fast",
        "images/presets.png",
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=Path, default=ROOT / "experiments" / "benchmarks.jsonl")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    options = parser.parse_args()
    records = read_records(options.records)
    options.docs.mkdir(parents=True, exist_ok=True)
    (options.docs / "benchmarks.md").write_text(page(records, options.docs))
    found = rows_of(records)
    if found:
        draw(options.docs / PICTURE, found)
    asked = limits.limits(records)
    print(limits.table(asked))
    return 0 if all(one.holds for one in asked) else 1


def page(records: Sequence[Record], docs: Path = ROOT / "docs") -> str:
    """Return the whole page as Markdown."""
    parts = [
        "# Benchmarks",
        "Made by `python benchmarks/report.py` from `experiments/benchmarks.jsonl`, to which the "
        "benchmarks append; not edited by hand. Of what was measured several times, the newest "
        "record counts.",
        f"## What is asked, and what holds\n\n{limits.table(limits.limits(records))}",
    ]
    found = rows_of(records)
    if found:
        parts.append(peers_section(found, str(PICTURE)))
    for kind, (title, table) in KINDS.items():
        of_kind = [one for one in records if one.get("benchmark") == kind]
        if of_kind:
            parts += [f"## {title}", *picture_of(kind, docs), table(of_kind)]
    parts.append(f"## Where it was measured\n\n{machines(records)}")
    return "\n\n".join(parts) + "\n"


def picture_of(kind: str, docs: Path) -> list[str]:
    """Return the picture of a kind, if it has been drawn."""
    text, file = PICTURES.get(kind, ("", ""))
    return [f"![{text}]({file})"] if file and (docs / file).is_file() else []


def machines(records: Iterable[Record]) -> str:
    """Return machine, loads and days of every commit and kind of benchmark."""
    seen: dict[tuple[str, str, str], list[Record]] = {}
    for one in records:
        machine = str(one.get("machine", "")).split(", load")[0]
        key = (str(one.get("benchmark", "")), str(one.get("commit", "")), machine)
        seen.setdefault(key, []).append(one)
    rows = []
    for key, group in seen.items():
        loads = sorted({load for one in group if (load := load_of(one))}, key=float)
        span = " to ".join(dict.fromkeys([*loads[:1], *loads[-1:]]))
        days = sorted(str(one.get("date", ""))[:10] for one in group)
        rows.append([*key, len(group), span, days[0], days[-1]])
    head = ["benchmark", "commit", "machine", "records", "loads", "from", "to"]
    return markdown_table(head, rows) + (
        "\n\nAll records, also those that newer ones replace. A + behind a commit: its sources "
        "were being changed."
    )


if __name__ == "__main__":
    sys.exit(main())

"""Where our numbers differ from the published ones, and why, as far as we know."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from embedprop.paper.units import NAMES, base_method

# In published standard deviations: ours must not be lower by more, a baseline not differ by more.
OWN_LIMIT, BASELINE_LIMIT = 1.0, 2.0
UNEXPLAINED = "We do not know why."


@dataclass(frozen=True)
class Cell:
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
        if base_method(self.method) == "epb":
            return self.distance < -OWN_LIMIT
        return abs(self.distance) > BASELINE_LIMIT

    def __str__(self) -> str:
        ours_for_theirs = f"{self.ours:.2f} for {self.published:.2f} ({self.distance:+.1f} sd)"
        return f"{self.column} {self.block} {ours_for_theirs}"


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
    lines = []
    for (method, why), group in groups.items():
        listed = "; ".join(map(str, group))
        lines.append(f"- **{NAMES[method]}**: {listed}. {why}")
    return "\n".join(lines)


def reason(cell: Cell) -> str:
    """Return the first remark that fits a cell, or that there is none."""
    for remark in published("remarks")["remark"]:
        fits = (
            remark["table"] in (cell.table, "any")
            and remark["method"] == cell.method
            and remark.get("block", cell.block) == cell.block
            and cell.column.startswith(remark.get("starts", ""))
        )
        if fits:
            return str(remark["text"])
    return UNEXPLAINED

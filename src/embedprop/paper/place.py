"""Where the numbers and pictures of a figure go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedprop.evaluation.provenance import provenance
from embedprop.evaluation.records import append_record, read_records
from embedprop.paper.units import Unit
from embedprop.paper.vectors import Cache


@dataclass(frozen=True)
class Place:
    """Where records, vectors and pictures of a figure go, and what prints a line of text."""

    results: Path
    figures: Path
    say: Callable[[str], None]

    @property
    def cache(self) -> Cache:
        """Vectors that were learned before."""
        return Cache(self.results.parent / "vectors")

    def measured(self, unit: Unit, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the record of a unit; one without a record is measured and recorded."""
        found = [record for record in read_records(self.results) if Unit.of(record) == unit]
        if found:
            return found[-1]
        record = unit.to_dict() | measure() | provenance()
        append_record(self.results, record)
        shown = ("silhouette", "final_loss", "full_loss", "cpu_seconds_per_epoch")
        numbers = ", ".join(f"{name} {record[name]:.4f}" for name in shown if name in record)
        self.say(f"{unit}: {numbers}")
        return record

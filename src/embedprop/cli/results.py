"""What `evaluate` and `compare` share: the options of a protocol, tables and JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embedprop.cli.options import bad_value, listed, number_of, option

if TYPE_CHECKING:
    from embedprop.evaluation.protocols import Protocol

DEFAULT_SHARES = "0.1,0.5,0.9"


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """What is measured, on which splits, and where the results go."""

    targets: Path = option(
        ...,
        "A file with columns node,class; a node with several classes has several rows.",
        "FILE",
    )
    train_share: str | None = option(
        None,
        f"Shares of the nodes to train on; the rest are for testing. Default: {DEFAULT_SHARES}.",
        "X,Y",
    )
    per_class: int | None = option(None, "Train on N nodes of each class instead.", "N")
    runs: int = option(10, "Random splits per protocol.", "N")
    unknown_nodes: str = option(
        "error", "What to do with labels or classes of unknown nodes.", "error|ignore"
    )
    random_state: int = option(0, "Seed of all random draws.", "N")
    json: Path | None = option(None, "Also write the results to this file, as JSON.", "FILE")

    def protocols(self) -> list[Protocol]:
        """Return the protocols that the options ask for; refuse a file that cannot be written."""
        from embedprop.evaluation.protocols import Protocol
        from embedprop.files.atomic import check_file

        if self.json is not None:
            check_file(self.json)
        draws: Any = {"n_runs": self.runs, "random_state": self.random_state}
        if self.per_class is not None:
            if self.train_share is not None:
                raise bad_value("--per-class", "expected either this or --train-share, got both")
            return [Protocol(n_per_class=self.per_class, **draws)]
        texts = listed("--train-share", self.train_share or DEFAULT_SHARES) or []
        shares = [number_of("--train-share", text, float) for text in texts]
        return [Protocol(train_share=share, **draws) for share in shares]

    def write_json(self, content: Mapping[str, Any]) -> None:
        """Write the results as JSON, whole or not at all, if they are wanted."""
        from embedprop.files.atomic import replaced

        if self.json is not None:
            with replaced(self.json) as (stream,):
                stream.write(json.dumps(content, indent=2, allow_nan=False).encode() + b"\n")


def percent(record: Mapping[str, Any]) -> str:
    """Return "78.32 ± 1.07"; the mean alone if there was one run."""
    mean, spread = record["mean"], record["sd"]
    return f"{100 * mean:.2f}" if spread is None else f"{100 * mean:.2f} ± {100 * spread:.2f}"

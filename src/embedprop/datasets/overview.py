"""Which data sets are known, which are there, and how to get the others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from embedprop.datasets.folder import META, found_folders, read_json
from embedprop.datasets.sources import sources

COUNTS = ("nodes", "edges", "classes")


@dataclass(frozen=True)
class Entry:
    """A data set in the list; `where` is its folder, or how to get it."""

    name: str
    n_nodes: int
    n_edges: int
    n_classes: int
    where: str


def overview() -> list[Entry]:
    """Return what `load_dataset` finds, and what is known but not there."""
    entries: dict[str, Entry] = {}
    for folder in found_folders():
        if folder.name not in entries:
            entries[folder.name] = _present(folder)
    known = sources()
    for name, source in known.items():
        how = f"embedprop data get {name}"
        if not source.format or source.obstacle:
            how = f"cannot be fetched, '{how}' says why"
        counts = (source.n_nodes, source.n_edges, source.n_classes)
        entries.setdefault(name, Entry(name, *counts, f"not here: {how}"))
    # Those of the list in its order, then the user's own by name.
    return [entries[name] for name in (*known, *sorted(entries.keys() - known.keys()))]


def _present(folder: Path) -> Entry:
    meta = read_json(folder / META)
    n_nodes, n_edges, n_classes = (int(meta.get(f"n_{key}", 0)) for key in COUNTS)
    return Entry(folder.name, n_nodes, n_edges, n_classes, str(folder))

"""Which data sets are known, which are there, and how to get the others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from embedprop.datasets.folder import META, data_folders, read_json
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
    for folder in data_folders():
        for path in folder.glob(f"*/{META}"):
            if path.parent.name not in entries:
                entries[path.parent.name] = _present(path.parent)
    for source in sources().values():
        if source.name in entries:
            continue
        fetchable = source.format and not source.obstacle
        how = f"embedprop data get {source.name}"
        if not fetchable:
            how = f"cannot be fetched, '{how}' says why"
        counts = (source.n_nodes, source.n_edges, source.n_classes)
        entries[source.name] = Entry(source.name, *counts, f"not here: {how}")
    order = {name: position for position, name in enumerate(sources())}
    return sorted(
        entries.values(), key=lambda entry: (order.get(entry.name, len(order)), entry.name)
    )


def _present(folder: Path) -> Entry:
    meta = read_json(folder / META)
    n_nodes, n_edges, n_classes = (int(meta.get(f"n_{key}", 0)) for key in COUNTS)
    return Entry(folder.name, n_nodes, n_edges, n_classes, str(folder))

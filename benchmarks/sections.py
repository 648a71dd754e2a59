"""The sections of the page on single kinds of benchmarks: few columns, newest records only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from limits import EPOCHS, PAPER_GRAPHS, reached

from embedprop.paper.markdown import markdown_table

Record = Mapping[str, Any]
ABOUT = ("benchmark", "machine", "commit", "date")
COMMIT = ("commit", lambda one: one.get("commit"))
Columns = Sequence[tuple[str, Callable[[Record], Any]]]


def newest_of_each(records: Sequence[Record], names: Sequence[str]) -> list[Record]:
    """Return the last record of each combination of fields, in order of appearance."""
    found = {repr([one.get(name) for name in names]): one for one in records}
    return list(found.values())


def epochs(records: Sequence[Record]) -> str:
    """Return the cost of an epoch of each graph, and of its products."""
    columns: Columns = (
        ("graph", lambda one: one["graph"]),
        ("labels", lambda one: " + ".join(one["label_types"])),
        ("edges", lambda one: one["n_edges"]),
        ("epochs", lambda one: one["epochs"]),
        ("CPU s per epoch", lambda one: one["cpu_seconds"] / one["epochs"]),
        ("CPU s of its products", lambda one: sum(one["product_cpu_seconds"].values())),
        ("ratio", lambda one: one["ratio"]),
        ("speed-up by a second thread", lambda one: one.get("speed_up_of_2_threads")),
        ("by a second process", lambda one: one.get("speed_up_of_2_processes")),
        COMMIT,
    )
    return table(newest_of_each(records, ("graph", "n_nodes", "n_edges", "label_types")), columns)


def growth(records: Sequence[Record]) -> str:
    """Return the slopes; of the product too, which any program meets, and of the rows touched."""
    columns: Columns = (
        ("instance", lambda one: one["instance"]),
        ("edges from", lambda one: min(point["n_edges"] for point in one["points"])),
        ("to", lambda one: max(point["n_edges"] for point in one["points"])),
        ("slope", lambda one: one["slope"]),
        ("slope of the product A X", lambda one: one.get("product_slope")),
        ("slope of the rows that batches touch", lambda one: one.get("rows_slope")),
        COMMIT,
    )
    return table(newest_of_each(records, ("graph", "instance")), columns)


def memory(records: Sequence[Record]) -> str:
    """Return the peaks, and what is allowed."""
    columns: Columns = (
        ("graph", lambda one: one["graph"]),
        ("nodes", lambda one: one["n_nodes"]),
        ("edges", lambda one: one["n_edges"]),
        ("peak GB", lambda one: one["peak_gb"]),
        ("allowed GB", lambda one: one["allowed_gb"]),
        COMMIT,
    )
    return table(newest_of_each(records, ("graph", "n_nodes", "n_edges")), columns)


def larger_than_memory(records: Sequence[Record]) -> str:
    """Return what tables on disk take."""
    names = ("nodes", "edges", "from", "tables GB", "epoch seconds")
    peaks = ("peak anonymous GB", "peak resident GB")
    columns = [*((name, field(name)) for name in (*names, *peaks)), COMMIT]
    return table(newest_of_each(records, ("nodes", "edges", "max_neighbors", "from")), columns)


def field(name: str) -> Callable[[Record], Any]:
    return lambda one: one.get(name)


def partitions(records: Sequence[Record]) -> str:
    """Return quality and time of each storage."""
    names = ("data", "order", "storage", "epochs", "max_neighbors")
    return plain_table(newest_of_each(records, names))


def presets(records: Sequence[Record]) -> str:
    """Return both presets as they are, a row per graph, and the difference."""
    about = (
        f"Means over seeds, `paper` at {EPOCHS['paper']} epochs and `fast` at {EPOCHS['fast']}: "
        "micro-F1 with 10 % of the nodes, or accuracy with 20 nodes per class (Cora, Citeseer, "
        "Pubmed, with words). How they were chosen: "
        "[decision 002](decisions/002-fast-settings.md)."
    )
    rows = []
    for graph, title in PAPER_GRAPHS.items():
        paper, fast = (reached(records, graph, preset) for preset in ("paper", "fast"))
        cells = [title]
        for one in (paper, fast):
            cells += ["", ""] if one is None else [f"{one.quality:.2f}", f"{one.cpu_seconds:.1f}"]
        if paper is not None and fast is not None:
            cells.append(f"{fast.quality - paper.quality:+.2f}")
            cells.append(" / ".join(map(str, dict.fromkeys((paper.n_seeds, fast.n_seeds)))))
        else:
            cells += ["", ""]
        if paper is not None or fast is not None:
            rows.append(cells)
    head = ["graph", "paper", "CPU s", "fast", "CPU s", "difference", "seeds"]
    return f"{about}\n\n{markdown_table(head, rows)}"


def table(records: Sequence[Record], columns: Columns) -> str:
    """Return a row per record."""
    rows = [[written(value(one)) for _, value in columns] for one in records]
    return markdown_table([name for name, _ in columns], rows)


def plain_table(records: Sequence[Record]) -> str:
    """Return a row per record; columns are the fields with a single value, as they come.

    The commit is a column where there are several.
    """
    several = len({one.get("commit") for one in records}) > 1
    hidden = set(ABOUT) - ({"commit"} if several else set())
    fields = (name for one in records for name in one if plain(one, name))
    names = [name for name in dict.fromkeys(fields) if name not in hidden]
    return table(records, [(name.replace("_", " "), field(name)) for name in names])


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

"""The limits on speed and scale, each with what was measured.

Of each kind the newest record that fits counts. A limit without a record is listed as not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from peers.claims import FACTOR, rows, tally
from peers.picture import TITLES

from embedprop.instance.parameters import FAST
from embedprop.paper.markdown import markdown_table

Record = Mapping[str, Any]

MILLION = 1_000_000
PAPER_GRAPHS = {**TITLES, "cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed"}
EPOCHS = {"paper": 200, "fast": FAST["epochs"]}  # a preset as it is
# What is asked.
BLOGCATALOG_RATIO, PUBMED_RATIO, POWER_LAW_RATIO, SPEED_UP = 2.5, 3, 5, 1.6
ANONYMOUS_GB = 6
SLOPES = (0.9, 1.1)
FAST_SECONDS, FAST_MICRO, FAST_LOSS = 6, 34.5, 0.5
START_SECONDS = 0.5


@dataclass(frozen=True)
class Limit:
    """One row of the table; `holds` is None where nothing was measured."""

    what: str
    asked: str
    measured: str = "no record"
    holds: bool | None = None


@dataclass(frozen=True)
class Reached:
    """A preset on a graph: means over its seeds."""

    quality: float
    cpu_seconds: float
    n_seeds: int


def limits(records: Sequence[Record]) -> list[Limit]:
    """Return all limits."""
    return [
        *epoch_limits(records),
        *memory_limits(records),
        slope_limit(records),
        *preset_limits(records),
        *peer_limits(records),
        *start_limits(records),
    ]


def table(found: Sequence[Limit]) -> str:
    """Return how many hold, which do not, and all of them."""
    missed = [one.what for one in found if one.holds is False]
    unknown = [one.what for one in found if one.holds is None]
    lines = [f"Of {len(found)} limits, {sum(one.holds is True for one in found)} hold."]
    if missed:
        lines += ["", f"**Missed ({len(missed)}):** {'; '.join(missed)}."]
    if unknown:
        lines += ["", f"**Not measured ({len(unknown)}):** {'; '.join(unknown)}."]
    words = {True: "yes", False: "**no**", None: "**not known**"}
    rows = [(one.what, one.asked, one.measured, words[one.holds]) for one in found]
    return "\n".join([*lines, "", markdown_table(["", "asked", "measured", "holds"], rows)])


def newest(
    records: Sequence[Record], kind: str, fits: Callable[[Record], bool] = lambda _: True
) -> Record | None:
    """Return the last record of a kind that fits."""
    found = [one for one in records if one.get("benchmark") == kind and fits(one)]
    return found[-1] if found else None


def at_most(what: str, bound: float, value: float | None, unit: str = "") -> Limit:
    """Return a limit from above."""
    return bounded(what, f"at most {bound:g}{unit}", value, lambda one: one <= bound, unit)


def at_least(what: str, bound: float, value: float | None, unit: str = "") -> Limit:
    """Return a limit from below."""
    return bounded(what, f"at least {bound:g}{unit}", value, lambda one: one >= bound, unit)


def bounded(
    what: str, asked: str, value: float | None, test: Callable[[float], bool], unit: str = ""
) -> Limit:
    """Return a limit; its value is tested as recorded, before it is rounded for the page."""
    if value is None:
        return Limit(what, asked)
    return Limit(what, asked, f"{value:.2f}{unit}", test(value))


def value_of(record: Record | None, name: str) -> float | None:
    """Return a field, or None if there is no such record or field."""
    value = None if record is None else record.get(name)
    return None if value is None else float(value)


def epoch_limits(records: Sequence[Record]) -> Iterator[Limit]:
    """Yield the cost of an epoch, and the gain from a second thread."""

    def blogcatalog(one: Record) -> bool:
        return (one["graph"], one["label_types"], one["epochs"]) == ("blogcatalog", ["node"], 200)

    def pubmed(one: Record) -> bool:
        return one["graph"] == "pubmed" and "word" in one["label_types"]

    def timed(one: Record) -> bool:
        return blogcatalog(one) and "speed_up_of_2_threads" in one

    cases = (
        ("BlogCatalog", blogcatalog, BLOGCATALOG_RATIO),
        ("Pubmed with words", pubmed, PUBMED_RATIO),
        ("power-law graph, 1 M nodes, 10 M edges", is_large, POWER_LAW_RATIO),
    )
    for title, fits, bound in cases:
        ratio = value_of(newest(records, "epoch", fits), "ratio")
        yield at_most(f"{title}: an epoch ÷ its sparse products", bound, ratio)
    speed_up = value_of(newest(records, "epoch", timed), "speed_up_of_2_threads")
    yield at_least("BlogCatalog: speed-up by a second thread", SPEED_UP, speed_up)


def start_limits(records: Sequence[Record]) -> Iterator[Limit]:
    """Yield how long the first answer takes."""
    last = newest(records, "startup")
    for title, name in (("import embedprop", "import"), ("embedprop --help", "help")):
        yield at_most(f"`{title}`", START_SECONDS, value_of(last, f"{name}_seconds"), " s")


def is_large(one: Record) -> bool:
    """Return whether a record is of the power-law graph that limits are for."""
    size = (one["graph"], one["n_nodes"], one["n_edges"])
    return size == ("power-law", MILLION, 10 * MILLION)


def memory_limits(records: Sequence[Record]) -> Iterator[Limit]:
    """Yield the peak in memory, and the peak with tables on disk."""
    what = "power-law graph, 1 M nodes, 10 M edges: peak memory"
    one = newest(records, "memory", is_large)
    if one is None:
        yield Limit(what, "1.3 × (vectors + moments + CSR) + output + 0.5 GB")
    else:
        yield at_most(what, one["allowed_gb"], one["peak_gb"], " GB")

    def of_way(way: str) -> Callable[[Record], bool]:
        return lambda one: (
            one["from"] == way and one["nodes"] >= 10 * MILLION and one["max_neighbors"] == 10
        )

    for way, title in (("array", "edges of an array"), ("text", "edges read from text")):
        record = newest(records, "larger_than_memory", of_way(way))
        yield at_most(
            f"10 M nodes on disk, κ = 10, {title}: anonymous memory",
            ANONYMOUS_GB,
            value_of(record, "peak anonymous GB"),
            " GB",
        )


def slope_limit(records: Sequence[Record]) -> Limit:
    """Return how the cost of EP-B grows."""

    def whole(one: Record) -> bool:
        edges = [int(point["n_edges"]) for point in one["points"]]
        is_whole = min(edges) <= 10_000 and max(edges) >= 10 * MILLION
        return is_whole and one["instance"] == "epb"

    low, high = SLOPES
    return bounded(
        "growth from 10⁴ to 10⁷ edges: slope on log axes",
        f"{low:g} to {high:g}",
        value_of(newest(records, "scale", whole), "slope"),
        lambda slope: low <= slope <= high,
    )


def reached(records: Sequence[Record], graph: str, preset: str) -> Reached | None:
    """Return means over seeds of a preset with its own number of epochs; the last of each seed."""
    wanted = ("preset", graph, preset, EPOCHS[preset])
    seeds = {
        one["seed"]: one
        for one in records
        if tuple(one.get(name) for name in ("benchmark", "graph", "preset", "epochs")) == wanted
    }
    if not seeds:
        return None
    quality, cpu = (
        fmean(one[name] for one in seeds.values()) for name in ("quality", "cpu_seconds")
    )
    return Reached(quality, cpu, len(seeds))


def preset_limits(records: Sequence[Record]) -> Iterator[Limit]:
    """Yield what `EmbeddingPropagation.fast` takes and reaches."""
    fast = reached(records, "blogcatalog", "fast")
    seconds, micro = (None, None) if fast is None else (fast.cpu_seconds, fast.quality)
    name = "BlogCatalog, `fast`"
    yield at_most(f"{name}: CPU", FAST_SECONDS, seconds, " s")
    yield at_least(f"{name}: micro-F1 at 10 %", FAST_MICRO, micro)
    for graph, title in PAPER_GRAPHS.items():
        one, paper = (reached(records, graph, preset) for preset in ("fast", "paper"))
        change = None if one is None or paper is None else one.quality - paper.quality
        yield at_least(f"{title}: `fast` less the paper's settings, points", -FAST_LOSS, change)


def peer_limits(records: Sequence[Record]) -> Iterator[Limit]:
    """Yield whole jobs against peers, those that have not converged apart."""
    found = rows(records)
    for converged in (True, False):
        one = tally(found, converged, len(TITLES))
        peers = ", ".join(one.peers) + ("" if converged else " (not converged)")
        what = f"CPU time at equal or better micro-F1, against {peers}"
        asked = f"{FACTOR} times less in {one.n_asked} of {one.n_asked} cases"
        if one.n_measured == 0:
            yield Limit(what, asked)
            continue
        measured = (
            f"{one.by_any} of {one.n_asked} by any of ours, {one.by_closed_form} by the closed "
            f"form, {one.by_trained} by EP-B alone"
        )
        if one.least is not None:
            measured += f"; {one.least:.0f} times less at least"
        yield Limit(what, asked, measured, one.holds)

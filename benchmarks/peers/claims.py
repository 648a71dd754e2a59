"""What the record says: a row per graph and method, and how many times more a peer costs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from .methods import METHODS
from .records import Record, latest

FACTOR = 10  # times less CPU time that ours is to need
# What "equal or better" is measured by: micro-F1 of the vectors as they are returned.
JUDGED_BY = "micro"
CLOSED_FORM = "closed-form"


@dataclass(frozen=True)
class Row:
    """A method on a graph: the mean over its seeds."""

    graph: str
    method: str
    cpu_seconds: float
    peak_rss_mb: float
    figures: Mapping[str, float]  # micro, macro, both also _scaled
    spreads: Mapping[str, float | None]  # standard deviation over splits
    runs: Mapping[str, tuple[float, ...]]  # by split
    n_seeds: int
    version: str
    commits: tuple[str, ...]
    loads: tuple[str, ...]  # of the machine, in the minute before it was recorded

    @property
    def title(self) -> str:
        return METHODS[self.method].title

    @property
    def is_ours(self) -> bool:
        return METHODS[self.method].is_ours


@dataclass(frozen=True)
class Comparison:
    """A peer, and the cheapest of ours that is at least as good; None if none is."""

    peer: Row
    ours: Row | None

    @property
    def ratio(self) -> float | None:
        """Return how many times more CPU seconds the peer needs."""
        return None if self.ours is None else self.peer.cpu_seconds / self.ours.cpu_seconds

    def lead(self, figure: str = JUDGED_BY) -> tuple[float, float] | None:
        """Return how much better ours is, and the standard error over the splits, in points."""
        if self.ours is None:
            return None
        pairs = zip(self.ours.runs[figure], self.peer.runs[figure], strict=True)
        gains = [ours - peer for ours, peer in pairs]
        error = stdev(gains) / len(gains) ** 0.5 if len(gains) > 1 else float("nan")
        return fmean(gains), error

    @property
    def holds(self) -> bool:
        """Return whether ours needs `FACTOR` times less at equal or better quality."""
        return self.ratio is not None and self.ratio >= FACTOR


def rows(records: Iterable[Record], train_share: float = 0.1) -> list[Row]:
    """Return a row per graph and known method, cheapest first within a graph."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for one in latest(records):
        if one["train_share"] == train_share and one["method"] in METHODS:
            groups.setdefault((one["graph"], one["method"]), []).append(one)
    found = [_row(graph, method, group) for (graph, method), group in groups.items()]
    order = list(dict.fromkeys(row.graph for row in found))
    return sorted(found, key=lambda row: (order.index(row.graph), row.cpu_seconds))


def _row(graph: str, method: str, group: Sequence[Record]) -> Row:
    names = [name for name in group[0] if f"{name}_runs" in group[0]]
    return Row(
        graph,
        method,
        cpu_seconds=_mean(group, "cpu_seconds"),
        peak_rss_mb=_mean(group, "peak_rss_mb"),
        figures={name: _mean(group, name) for name in names},
        spreads={name: group[-1][f"{name}_sd"] for name in names},
        runs={name: _by_split(group, f"{name}_runs") for name in names},
        n_seeds=len(group),
        version=group[-1]["version"],
        commits=tuple(str(one.get("commit", "")) for one in group),
        loads=tuple(load for one in group if (load := load_of(one))),
    )


def load_of(record: Record) -> str:
    """Return how busy the machine was.

    >>> load_of({"machine": "some processor, 2 cores, load 3.4"}), load_of({"machine": "other"})
    ('3.4', '')
    """
    found = re.search(r"load ([\d.]+)$", str(record.get("machine", "")))
    return found[1] if found else ""


def _mean(group: Sequence[Mapping[str, Any]], name: str) -> float:
    return fmean(float(one[name]) for one in group)


def _by_split(group: Sequence[Mapping[str, Any]], name: str) -> tuple[float, ...]:
    return tuple(fmean(values) for values in zip(*(one[name] for one in group), strict=True))


def compared(peer: Row, others: Iterable[Row], figure: str = JUDGED_BY) -> Comparison:
    """Return the peer, with the cheapest of our rows of its graph that is not worse."""
    good = [
        row
        for row in others
        if row.is_ours and row.graph == peer.graph and row.figures[figure] >= peer.figures[figure]
    ]
    return Comparison(peer, min(good, key=lambda row: row.cpu_seconds, default=None))


def judged(found: Sequence[Row], figure: str = JUDGED_BY) -> list[Comparison]:
    """Return the comparisons with the peers that ours is to beat ten times, by graph.

    Of a peer in several settings, the best on that graph by `JUDGED_BY` counts: a case each.
    """
    best: dict[tuple[str, str], Row] = {}
    for row in found:
        key = (row.graph, METHODS[row.method].worker)
        if METHODS[row.method].judged and (
            key not in best or row.figures[JUDGED_BY] > best[key].figures[JUDGED_BY]
        ):
            best[key] = row
    return [compared(row, found, figure) for row in found if row in best.values()]


@dataclass(frozen=True)
class Tally:
    """In how many cases ten times less holds: by any of ours, by the closed form, by EP-B."""

    peers: tuple[str, ...]
    converged: bool
    n_asked: int  # a case per peer and graph, measured or not
    n_measured: int
    by_any: int
    by_closed_form: int
    by_trained: int
    least: float | None  # ratio; None: none of ours is as good, or nothing is measured

    @property
    def holds(self) -> bool:
        return self.by_any == self.n_asked


def tally(found: Sequence[Row], converged: bool, n_graphs: int) -> Tally:
    """Return the count over peers that have converged, or over those that have not."""

    def cases(ours: Sequence[Row]) -> list[Comparison]:
        others = [row for row in found if not row.is_ours]
        return [one for one in judged([*others, *ours]) if _converged(one.peer) == converged]

    mine = [row for row in found if row.is_ours]
    by_any = cases(mine)
    ratios = [one.ratio for one in by_any]
    peers = dict.fromkeys(
        one.title.split(",")[0]
        for one in METHODS.values()
        if one.judged and one.converged == converged
    )
    return Tally(
        tuple(peers),
        converged,
        n_asked=n_graphs * len(peers),
        n_measured=len(by_any),
        by_any=sum(one.holds for one in by_any),
        by_closed_form=sum(
            one.holds for one in cases([row for row in mine if row.method == CLOSED_FORM])
        ),
        by_trained=sum(
            one.holds for one in cases([row for row in mine if row.method != CLOSED_FORM])
        ),
        least=None if None in ratios else min((one for one in ratios if one), default=None),
    )


def _converged(row: Row) -> bool:
    return METHODS[row.method].converged

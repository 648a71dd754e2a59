"""The section on whole jobs, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from embedprop.paper.markdown import markdown_table

from .claims import CLOSED_FORM, FACTOR, JUDGED_BY, Comparison, Row, compared, judged, tally
from .methods import METHODS
from .picture import TITLES

HOW = """\
128 dimensions, one thread, graphs without weights and self-loops; every peer in an environment and
a process of its own (`benchmarks/peers/run.py`). CPU seconds are user and system time of learning,
walks included; imports, reading the graph and compilation are left out for all. Quality: micro- and
macro-F1 of one-vs-rest logistic regression with 10 % of the nodes for training, C by 3-fold
cross-validation, number of classes given, the same 10 splits for all; ± is the standard deviation
over splits. *Scaled*: cross-validation may also standardize the columns, which takes the scale of
the vectors out of the comparison. *Times ours*: CPU seconds divided by those of the cheapest of
ours (bold) whose micro-F1 is not lower; a dash says that none of ours is as good. Peers have their
own default or published settings; those of the closed form were [found](closed-form.md) on the
paper's graphs, to which these three belong."""

UNFINISHED = """\
Node2Vec of PyTorch Geometric has not converged here: its own example takes 100 epochs, which do not
end within the 8 CPU minutes that a job may take. What it reaches then was not measured."""

FIGURES = {"micro": "micro-F1", "macro": "macro-F1", "micro_scaled": "micro-F1, scaled"}


def section(rows: Sequence[Row], picture: str) -> str:
    """Return picture, verdict, a table per graph, commits and loads, and the settings."""
    parts = [
        "## Whole jobs against peers",
        f"![Quality against CPU time on three graphs]({picture})",
        HOW,
        f"### {FACTOR} times less CPU time at equal or better quality?",
        verdict(rows),
    ]
    if any(not METHODS[row.method].converged for row in rows):
        parts.append(UNFINISHED)
    graphs = dict.fromkeys([*TITLES, *(row.graph for row in rows)])
    for graph in graphs:
        of_graph = [row for row in rows if row.graph == graph]
        if of_graph:
            parts += [f"### {TITLES.get(graph, graph)}", graph_table(of_graph)]
    parts += ["### Commits and loads", conditions(rows)]
    parts += ["### Settings", settings_table(rows)]
    return "\n\n".join(parts)


def verdict(rows: Sequence[Row]) -> str:
    """Return in how many cases it holds, and the ratio to each judged peer by each figure."""
    trained = [row for row in rows if row.method != CLOSED_FORM]
    kinds = [judged(rows, figure) for figure in FIGURES] + [judged(trained)]
    about = (
        f"Each case, by {FIGURES[JUDGED_BY]}. Of ours, the cheapest that is not worse is taken; "
        "± is the standard error over the splits, paired. A dash: none is as good by that figure."
    )
    head = [
        "graph", "peer", "CPU s", "micro-F1", "ours", "CPU s", "lead in points", "times less",
        "holds", "times less by EP-B alone", "by macro", "by scaled micro",
    ]  # fmt: skip
    cases = []
    for one, macro, scaled, by_trained in zip(*kinds, strict=True):
        peer = one.peer
        cells = [
            TITLES.get(peer.graph, peer.graph),
            peer.title,
            seconds(peer.cpu_seconds),
            f"{peer.figures[JUDGED_BY]:.2f}",
            *ours_cells(one),
            ratio(one),
            "yes" if one.holds else "**no**",
            *(ratio(other) for other in (by_trained, macro, scaled)),
        ]
        cases.append(cells)
    return "\n\n".join([counts(rows), about, markdown_table(head, cases)])


def counts(rows: Sequence[Row]) -> str:
    """Return in how many cases it holds, peers that have not converged apart."""
    cases = []
    for converged in (True, False):
        one = tally(rows, converged, len(TITLES))
        title = ", ".join(one.peers)
        if not converged:
            title += ": not converged; its best setting on each graph"
        cases.append([title, one.n_asked, one.by_any, one.by_closed_form, one.by_trained])
    head = ["peers", "cases", "by any of ours", "by the closed form", "by EP-B alone"]
    return markdown_table(head, cases)


def conditions(rows: Sequence[Row]) -> str:
    """Return at which commits and loads ours and the peers were measured."""
    about = (
        "Not one run: each job was measured by itself, at these commits and, with other work on "
        "the machine, under these loads (of the minute before the record, the job included)."
    )
    found = []
    for graph in dict.fromkeys(row.graph for row in rows):
        for title, is_ours in (("ours", True), ("peers", False)):
            group = [row for row in rows if row.graph == graph and row.is_ours == is_ours]
            if group:
                commits = sorted({commit for row in group for commit in row.commits})
                loads = sorted({load for row in group for load in row.loads}, key=float)
                cells = [TITLES.get(graph, graph), title, ", ".join(commits), ", ".join(loads)]
                found.append(cells)
    return f"{about}\n\n{markdown_table(['graph', 'methods', 'commits', 'loads'], found)}"


def ours_cells(one: Comparison) -> list[str]:
    """Return title and seconds of ours, and by how much it is better; dashes if none is."""
    lead = one.lead()
    if one.ours is None or lead is None:
        return ["none is as good", "–", "–"]
    return [one.ours.title, seconds(one.ours.cpu_seconds), f"{lead[0]:.2f} ± {lead[1]:.2f}"]


def graph_table(rows: Sequence[Row]) -> str:
    """Return all methods on a graph, cheapest first."""
    found = []
    for row in rows:
        title = f"**{row.title}**" if row.is_ours else row.title
        if row.n_seeds > 1:
            title += f" (mean of {row.n_seeds} seeds)"
        figures = [spread(row, name) for name in ("micro", "macro")]
        scaled = f"{row.figures['micro_scaled']:.1f} / {row.figures['macro_scaled']:.1f}"
        times = "" if row.is_ours else ratio(compared(row, rows))
        cost = f"{row.peak_rss_mb:.0f}"
        found.append([title, seconds(row.cpu_seconds), *figures, scaled, times, cost])
    head = ["method", "CPU s", "micro-F1", "macro-F1"]
    return markdown_table([*head, "scaled micro / macro", "times ours", "peak MB"], found)


def settings_table(rows: Sequence[Row]) -> str:
    """Return the settings of each method, and its release."""
    found = []
    for name, method in METHODS.items():
        releases = dict.fromkeys(row.version for row in rows if row.method == name)
        if releases:
            settings = ", ".join(f"{key} {value}" for key, value in method.settings.items())
            found.append([method.title, settings, "; ".join(releases)])
    return markdown_table(["method", "settings", "release"], found)


def spread(row: Row, name: str) -> str:
    """Return a figure with its standard deviation over splits."""
    sd = row.spreads[name]
    return f"{row.figures[name]:.2f}" + ("" if sd is None else f" ± {sd:.2f}")


def seconds(value: float) -> str:
    """Return seconds: two decimals below 10, one below 100.

    >>> seconds(0.256), seconds(95.04), seconds(123.4)
    ('0.26', '95.0', '123')
    """
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def ratio(one: Comparison) -> str:
    """Return how many times more the peer costs, or a dash."""
    if one.ratio is None:
        return "–"
    return f"{one.ratio:.1f}" if one.ratio < FACTOR else f"{one.ratio:.0f}"

"""The record of `missing_words.py` as tables, a picture, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from embedprop.paper.markdown import markdown_table

FILLERS = ("zeros", "mean", "propagation")
EPB = ("epb words", "epb words + ids", "epb words + ids, r = PageRank")
INSTANCES = ("closed-form words", "closed-form words + ids", *EPB)
METHODS = (*FILLERS, "propagation + PageRank", *INSTANCES)
TITLES = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed", "twitch_engb": "Twitch EN-GB"}
JUDGED = (0.5, 0.9)
N_GRAPHS = 3  # of the four, on which EP is to be better at both shares

Record = Mapping[str, Any]
# metric of a record → graph, share, method → run → value
Values = dict[tuple[str, float, str], dict[int, float]]


def report(records: Sequence[Record], picture: Path) -> int:
    """Print tables and verdict, draw the curves; return 0 if EP is better where it should be."""
    tests, validations = values(records, "accuracy"), values(records, "validation_accuracy")
    for name in TITLES:
        print(f"\n{TITLES[name]}, accuracy\n\n{table(tests, name)}")
    print(f"\nTwitch EN-GB, AUC\n\n{table(values(records, 'auc'), 'twitch_engb')}\n")
    better = dict.fromkeys(TITLES, True)
    for name in TITLES:
        for share in JUDGED:
            better[name] &= verdict(tests, validations, name, share)
    areas = values(records, "auc"), values(records, "validation_auc")
    for share in JUDGED:
        verdict(*areas, "twitch_engb", share, "AUC")
    draw(tests, picture)
    seconds = sum(one["cpu_s"] + one["classifier_cpu_s"] for one in records)
    print(f"\n{len(records)} records, {seconds / 60:.1f} CPU minutes; curves in {picture.name}")
    n_better = sum(better.values())
    print(
        f"EP better than all three fillers at 50 % and 90 %: on {n_better} of {len(better)} graphs"
    )
    return 0 if n_better >= N_GRAPHS else 1


def values(records: Sequence[Record], metric: str) -> Values:
    found: Values = {}
    for one in records:
        if metric in one:
            place = (one["data"], one["share"], one["method"])
            found.setdefault(place, {})[one["run"]] = 100 * one[metric]
    return found


def table(tests: Values, name: str) -> str:
    shares = sorted({share for data, share, _ in tests if data == name})
    rows = []
    for method in METHODS:
        cells = [_cell(tests.get((name, share, method), {})) for share in shares]
        if any(cells):
            rows.append([method, *cells])
    return markdown_table(["words removed", *(f"{share:.0%}" for share in shares)], rows)


def _cell(runs: Mapping[int, float]) -> str:
    if not runs:
        return ""
    few = f" ({len(runs)} runs)" if len(runs) < 10 else ""
    return f"{np.mean(list(runs.values())):.1f} ± {np.std(list(runs.values())):.1f}{few}"


def best_of(validations: Values, name: str, share: float, methods: Sequence[str]) -> str:
    """Return the method that is best on the validation nodes of the runs that all of them have."""
    runs = {m: validations.get((name, share, m), {}) for m in methods}
    runs = {m: of_run for m, of_run in runs.items() if of_run}
    shared = sorted(set.intersection(*[set(of_run) for of_run in runs.values()]))
    return max(runs, key=lambda m: float(np.mean([runs[m][run] for run in shared])))


def verdict(
    tests: Values, validations: Values, name: str, share: float, metric: str = "accuracy"
) -> bool:
    """Print the best instance of EP and the best filler; return whether EP beats all of them."""
    chosen = best_of(validations, name, share, INSTANCES)
    ours = tests[name, share, chosen]
    means = {m: float(np.mean(list(tests[name, share, m].values()))) for m in FILLERS}
    filler = max(means, key=lambda m: means[m])
    theirs = tests[name, share, filler]
    runs = sorted(ours.keys() & theirs.keys())
    gains = np.array([ours[run] - theirs[run] for run in runs])
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else float("nan")
    print(
        f"{TITLES[name]} {share:.0%} {metric}: {chosen} {np.mean(list(ours.values())):.2f}, best "
        f"filler {filler} {means[filler]:.2f}; gain {gains.mean():+.2f} ± {error:.2f} (standard "
        f"error), better in {int((gains > 0).sum())} of {len(runs)} runs"
    )
    return float(np.mean(list(ours.values()))) > means[filler]


STYLES = {
    "zeros": ("#bbbbbb", "--", ""),
    "mean": ("#888888", ":", ""),
    "propagation": ("#d95f02", "-", "s"),
    "propagation + PageRank": ("#e6ab02", "--", ""),
    "closed-form words": ("#1b6ca8", "-", "o"),
    "epb words + ids": ("#1b9e77", "", "D"),
}


def draw(tests: Values, picture: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(TITLES), figsize=(13, 3.4), layout="constrained")
    for panel, (name, title) in zip(panels, TITLES.items(), strict=True):
        for method, (color, line, marker) in STYLES.items():
            shares = [share for data, share, m in tests if (data, m) == (name, method)]
            shares.sort()
            means = [np.mean(list(tests[name, share, method].values())) for share in shares]
            style = {"color": color, "linestyle": line, "marker": marker, "markersize": 5}
            panel.plot([100 * s for s in shares], means, label=method, **style)
        panel.set(title=title, xlabel="nodes without words, %", xticks=[10, 30, 50, 70, 90])
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("accuracy, %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=110)
    plt.close(figure)

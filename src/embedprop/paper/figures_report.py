"""What the report says about the figures, as Markdown made from their records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from embedprop.paper.figure_tsne import (
    DRAWN_MARGIN,
    DRAWN_METHOD,
    MEASURED,
    PUBLISHED_SILHOUETTES,
    in_published_order,
    panel_setting,
)
from embedprop.paper.markdown import markdown_table
from embedprop.paper.ours import MARGINS
from embedprop.paper.units import EPB

CLOSE = 0.03  # the loss with κ = 50 is to differ from that with all neighbors by no more
DISTANCES = {"epb": "d", "epb-squared": "d squared"}
SILHOUETTES_NOTE = (
    "EP-B on Cora, undirected; silhouettes of the vectors by Euclidean distance, not of their "
    "t-SNE. The paper speaks of 128-dimensional embeddings in all three maps, so both are ids and "
    "words as labels of one type. EP-B's concatenation of two label types has 256 dimensions; its "
    "silhouette lies between those of its two halves."
)
KAPPAS_NOTE = (
    "Training loss: the mean over the last 10 epochs, and the last alone, which is noisy; then the "
    "loss of the final vectors when all neighbors speak, with 20 u for each v. Means over the "
    "seeds; in parentheses the difference from training with all neighbors."
)
LOSSES = ("final_loss", "last_epoch_loss", "full_loss")


def silhouettes(records: Iterable[dict[str, Any]]) -> str:
    """Return the silhouettes of each margin and whether they are in the published order."""
    found = {
        (record["method"], record["setting"]): record["silhouette"]
        for record in records
        if record["experiment"] == "figure-tsne"
    }
    rows = [_silhouette_row("published", PUBLISHED_SILHOUETTES)]
    for method in EPB:
        for margin in MARGINS:
            keys = {panel: (method, panel_setting(panel, margin)) for panel in MEASURED}
            if all(key in found for key in keys.values()):
                drawn = " (drawn)" if (method, margin) == (DRAWN_METHOD, DRAWN_MARGIN) else ""
                name = f"{DISTANCES[method]}, margin {margin:g}{drawn}"
                numbers = {panel: found[key] for panel, key in keys.items()}
                rows.append(_silhouette_row(name, numbers))
    if len(rows) == 1:
        return ""
    head = ["", "node ids", "words", "both", "order", "concatenation"]
    return f"{markdown_table(head, rows)}\n\n{SILHOUETTES_NOTE}"


def _silhouette_row(name: str, numbers: Mapping[str, float]) -> list[str]:
    order = " < ".join(sorted(PUBLISHED_SILHOUETTES, key=lambda panel: numbers[panel]))
    verdict = "" if in_published_order(numbers) else " (not the published one)"
    cells = [f"{numbers[panel]:.3f}" for panel in PUBLISHED_SILHOUETTES]
    concatenation = f"{numbers['concatenation']:.3f}" if "concatenation" in numbers else "–"
    return [name, *cells, f"{order}{verdict}", concatenation]


def kappas(records: Iterable[dict[str, Any]]) -> str:
    """Return the final losses by κ, and how far each is from the loss with all neighbors."""
    groups: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for record in records:
        if record["experiment"] == "figure-kappa":
            group = groups.setdefault((record["dataset"], record["method"]), {})
            group.setdefault(record["setting"], []).append(record)
    tables = [_kappa_table(*key, found) for key, found in sorted(groups.items())]
    return "\n\n".join([*tables, KAPPAS_NOTE]) if tables else ""


def _kappa_table(dataset: str, method: str, found: Mapping[str, list[dict[str, Any]]]) -> str:
    columns = (*LOSSES, "cpu_seconds_per_epoch")
    means = {
        kappa: {name: float(np.mean([record[name] for record in runs])) for name in columns}
        for kappa, runs in found.items()
    }
    full = means.get("all")
    heads = ("final loss", "last epoch", "with all neighbors", "CPU ms per epoch")
    rows = []
    for kappa, losses in means.items():
        base = None if kappa == "all" else full
        cells = [_loss(losses[name], base[name] if base else None) for name in LOSSES]
        rows.append([kappa, *cells, f"{1000 * losses['cpu_seconds_per_epoch']:.0f}"])
    table = markdown_table([f"{dataset}, {DISTANCES[method]}, κ", *heads], rows)
    runs = next(iter(found.values()))
    return f"{table}\n\n{runs[0]['epochs']} epochs, {len(runs)} seeds.{_verdict(means)}"


def _loss(value: float, full: float | None) -> str:
    return f"{value:.4f}" + ("" if full is None else f" ({100 * (value / full - 1):+.1f} %)")


def _verdict(means: Mapping[str, Mapping[str, float]]) -> str:
    if not {"50", "all"} <= set(means):
        return ""
    names = {"final_loss": "training loss", "full_loss": "loss of the final vectors"}
    parts = []
    for column, name in names.items():
        difference = means["50"][column] / means["all"][column] - 1
        met = "within" if abs(difference) <= CLOSE else "not within"
        parts.append(f"the {name} differs by {100 * difference:+.1f} % ({met} 3 %)")
    return f" For κ = 50, {' and '.join(parts)}."

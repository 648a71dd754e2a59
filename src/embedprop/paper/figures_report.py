"""What the report says about the figures, as Markdown made from their records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from embedprop.paper.figures import (
    OTHER_MARGINS,
    PANELS,
    PUBLISHED_SILHOUETTES,
    TSNE_MARGIN,
    in_published_order,
    map_setting,
    panel_setting,
)

CLOSE = 0.03  # κ = 50 is to be so close to the loss with all neighbors
Records = dict[str, dict[str, Any]]


def silhouettes(records: Iterable[dict[str, Any]]) -> str:
    """Return the silhouettes of each margin and whether they are in the published order."""
    found = _by_setting(record for record in records if record["experiment"] == "figure-tsne")
    lines = ["| | node ids | words | both | order |", "|---|---|---|---|---|"]
    lines.append(_silhouette_line("published", PUBLISHED_SILHOUETTES))
    for margin in (TSNE_MARGIN, *OTHER_MARGINS):
        settings = {panel: panel_setting(panel, margin) for panel in PANELS}
        if all(setting in found for setting in settings.values()):
            numbers = {panel: found[setting]["silhouette"] for panel, setting in settings.items()}
            drawn = " (drawn)" if margin == TSNE_MARGIN else ""
            lines.append(_silhouette_line(f"ours, margin {margin:g}{drawn}", numbers))
    if all(map_setting(panel) in found for panel in PANELS):
        numbers = {panel: found[map_setting(panel)]["silhouette"] for panel in PANELS}
        lines.append(_silhouette_line(f"the maps, margin {TSNE_MARGIN:g}", numbers))
    if len(lines) == 3:
        return ""
    notes = (
        "EP-B on Cora, undirected; silhouettes of the vectors by Euclidean distance, not of their "
        "t-SNE. Other margins are shown where the drawn one is not in the published order. The "
        "last row is of the positions in the t-SNE maps: if these are in the published order where "
        "the vectors are not, the paper may have measured its maps."
    )
    return "\n".join(lines) + "\n\n" + notes


def _silhouette_line(name: str, numbers: dict[str, float]) -> str:
    order = " < ".join(sorted(PANELS, key=lambda panel: numbers[panel]))
    verdict = "" if in_published_order(numbers) else " (not the published one)"
    cells = " | ".join(f"{numbers[panel]:.3f}" for panel in PANELS)
    return f"| {name} | {cells} | {order}{verdict} |"


def kappas(records: Iterable[dict[str, Any]]) -> str:
    """Return the final losses by κ, and how far each is from the loss with all neighbors."""
    by_dataset: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if record["experiment"] == "figure-kappa":
            by_dataset.setdefault(record["dataset"], []).append(record)
    return "\n\n".join(_kappa_table(name, found) for name, found in by_dataset.items())


def _kappa_table(name: str, records: list[dict[str, Any]]) -> str:
    found = _by_setting(records)
    full = found.get("all")
    lines = [
        f"| {name}, κ | final loss | last epoch | with all neighbors | CPU ms per epoch |",
        "|---" * 5 + "|",
    ]
    for kappa, record in found.items():
        cells = [
            _loss(record, full, column) for column in ("final_loss", "last_epoch_loss", "full_loss")
        ]
        milliseconds = 1000 * record["cpu_seconds_per_epoch"]
        lines.append(f"| {kappa} | {' | '.join(cells)} | {milliseconds:.0f} |")
    epochs = next(iter(found.values()))["epochs"]
    notes = (
        f"Training loss after {epochs} epochs: the mean over the last 10, and the last alone, "
        "which is noisy; then the loss of the final vectors when all neighbors speak, with 20 u "
        "for each v. In parentheses the difference from training with all neighbors."
    )
    return "\n".join(lines) + "\n\n" + notes + _verdict(found)


def _loss(record: dict[str, Any], full: dict[str, Any] | None, column: str) -> str:
    value = record[column]
    if full is None or record is full:
        return f"{value:.4f}"
    return f"{value:.4f} ({100 * (value / full[column] - 1):+.1f} %)"


def _verdict(found: Records) -> str:
    if not {"50", "all"} <= set(found):
        return ""
    names = {"final_loss": "training loss", "full_loss": "loss of the final vectors"}
    parts = []
    for column, name in names.items():
        difference = found["50"][column] / found["all"][column] - 1
        met = "within" if abs(difference) <= CLOSE else "not within"
        parts.append(f"the {name} differs by {100 * difference:+.1f} % ({met} 3 %)")
    return f" For κ = 50, {' and '.join(parts)}."


def _by_setting(records: Iterable[dict[str, Any]]) -> Records:
    return {record["setting"]: record for record in records}

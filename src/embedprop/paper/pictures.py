"""The paper's two figures as PNG files."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = (
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951",
    "#ff8ab7", "#a463f2", "#5fb0f2", "#9c6b4e", "#6b7280",
)  # fmt: skip
KAPPA_COLORS = {"1": "#ff725c", "5": "#efb118", "10": "#3ca951", "50": "#4269d0", "all": "#1f2937"}
DARK, GREY = "#1f2937", "#4b5563"


@dataclass(frozen=True)
class Panel:
    """One map: vectors, what they were learned from, and the two silhouettes."""

    vectors: NDArray[np.float32]
    title: str
    silhouette: float
    published: float


def draw_panels(
    path: Path,
    panels: Sequence[Panel],
    classes: NDArray[np.int64],
    class_names: Sequence[str],
    about: str,
) -> None:
    """Draw the t-SNE of each panel's vectors side by side, colored by class; `about`: of what."""
    figure = _new_figure(12, 5.2)
    for i, panel in enumerate(panels):
        axes = figure.add_axes((0.02 + i * 0.325, 0.09, 0.31, 0.66))
        _draw_map(axes, _positions(panel.vectors), classes)
        text = f"{panel.title}: {panel.silhouette:.3f} (published {panel.published:.3f})"
        axes.set_title(text, fontsize=12, color=DARK)
    _write_title(
        figure,
        f"{about}: {len(classes):,} nodes by their EP-B vectors",
        "t-SNE. Above each map: the silhouette of the vectors (not of the map). "
        "Colors are the classes, which training never saw.",
    )
    figure.legend(
        handles=_dots([COLORS[k % len(COLORS)] for k in range(len(class_names))]),
        labels=[str(name).replace("_", " ") for name in class_names],
        loc="lower center", ncols=max(len(class_names), 1), frameon=False, fontsize=10,
        handletextpad=0.1, columnspacing=1.4, labelcolor=GREY,
    )  # fmt: skip
    _save(path, figure)


def draw_losses(path: Path, curves: Mapping[str, Mapping[str, Any]], dataset: str) -> None:
    """Draw the loss of each epoch, one curve per κ (the keys, and "all")."""
    figure = _new_figure(9, 5.4)
    axes = figure.add_axes((0.08, 0.1, 0.89, 0.71))
    for kappa, record in curves.items():
        who = "all neighbors" if kappa == "all" else f"κ = {kappa}"
        seconds = 1000 * record["cpu_seconds_per_epoch"]
        label = f"{who}: {record['final_loss']:.4f}, {seconds:.0f} ms per epoch"
        style = (0, (4, 2)) if kappa == "all" else "-"
        epochs = range(1, len(record["losses"]) + 1)
        color = KAPPA_COLORS[kappa]
        axes.plot(epochs, record["losses"], color=color, ls=style, lw=1.6, label=label)
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    axes.set_xlabel("epoch", color=GREY)
    axes.set_ylabel("mean loss per node", color=GREY)
    axes.grid(visible=True, which="both", color="#e5e7eb", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, labelcolor=DARK, fontsize=10, title="final loss, CPU time")
    _write_title(
        figure,
        f"EP-B on {dataset}: loss when at most κ neighbors speak",
        "Training loss of each epoch; the final loss is the mean over the last 10.",
    )
    _save(path, figure)


def _positions(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, (len(vectors) - 1) / 4)
    tsne = TSNE(perplexity=perplexity, init="pca", max_iter=500, random_state=0)
    with threadpool_limits(1):
        return np.asarray(tsne.fit_transform(vectors), np.float64)


def _draw_map(axes: Axes, positions: NDArray[np.float64], classes: NDArray[np.int64]) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_color("#e5e7eb")
    colors = np.array(COLORS)[classes % len(COLORS)]
    # In random order, so that no class hides another.
    order = np.random.default_rng(0).permutation(len(classes))
    x, y = positions[order].T
    axes.scatter(x, y, 7, colors[order], alpha=0.7, linewidths=0)


def _dots(colors: Sequence[str]) -> list[Any]:
    from matplotlib.lines import Line2D

    return [Line2D([], [], marker="o", ls="", color=color, ms=6) for color in colors]


def _new_figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=110, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _write_title(figure: Figure, title: str, text: str) -> None:
    figure.text(0.02, 0.925, title, fontsize=15, weight="bold", color=DARK)
    figure.text(0.02, 0.87, text, fontsize=10.5, color=GREY)


def _save(path: Path, figure: Figure) -> None:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    draft.write_bytes(buffer.getvalue())
    draft.replace(path)

"""Figures in one style, written as PNG files. Matplotlib is imported when something is drawn."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from embedprop.files.atomic import replaced
from embedprop.plots.colors import DARK, GREY, LIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curve:
    """One value per epoch, beginning with epoch 1."""

    label: str
    values: Sequence[float]
    color: str
    dashed: bool = False


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure; sizes are inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=110, facecolor="white")
    FigureCanvasAgg(figure)  # no pyplot: it would keep every figure, and may want a display
    return figure


def write_heading(figure: Figure, title: str, text: str) -> None:
    """Write a title, and below it a line of text, above everything else."""
    figure.text(0.02, 0.925, title, fontsize=15, weight="bold", color=DARK)
    figure.text(0.02, 0.87, text, fontsize=10.5, color=GREY)


def draw_curves(
    path: Path, curves: Sequence[Curve], title: str, text: str, y_label: str, legend: str
) -> None:
    """Draw curves over the epochs, on a logarithmic axis."""
    figure = new_figure(9, 5.4)
    axes = figure.add_axes((0.08, 0.1, 0.89, 0.71))
    for curve in curves:
        style = (0, (4, 2)) if curve.dashed else "-"
        epochs = range(1, len(curve.values) + 1)
        axes.plot(epochs, curve.values, color=curve.color, ls=style, lw=1.6, label=curve.label)
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    axes.set_xlabel("epoch", color=GREY)
    axes.set_ylabel(y_label, color=GREY)
    axes.grid(visible=True, which="both", color=LIGHT, lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, labelcolor=DARK, fontsize=10, title=legend)
    write_heading(figure, title, text)
    save_png(path, figure)


def save_png(path: Path, figure: Figure) -> None:
    """Write a figure whole or not at all; its folder is made if need be."""
    buffer = io.BytesIO()
    # Without the name of the software, the same figure gives the same bytes.
    figure.savefig(buffer, format="png", metadata={"Software": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as [file]:
        file.write(buffer.getvalue())

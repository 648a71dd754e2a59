"""Figures in one style, their colors, and PNG files; Matplotlib is imported when one is drawn."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embedprop.files.atomic import replaced

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# One per class: ten that are easy to tell apart on white.
CLASS_COLORS = (
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951",
    "#ff8ab7", "#a463f2", "#5fb0f2", "#9c6b4e", "#6b7280",
)  # fmt: skip
DARK, GREY, LIGHT = "#1f2937", "#4b5563", "#e5e7eb"


def class_colors(classes: NDArray[np.int64]) -> NDArray[np.str_]:
    """Return the color of each class; from the eleventh class on they repeat.

    >>> class_colors(np.array([0, 10])).tolist()
    ['#4269d0', '#4269d0']
    """
    return np.array(CLASS_COLORS)[classes % len(CLASS_COLORS)]


class Curve(NamedTuple):
    """One value per epoch, beginning with epoch 1."""

    label: str
    values: Sequence[float]
    color: str
    dashed: bool = False


def new_figure(width: float, height: float, title: str, text: str) -> Figure:
    """Return a figure with a title, and below it a line of text; sizes are inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=110, facecolor="white")
    FigureCanvasAgg(figure)  # no pyplot: it would keep every figure, and may want a display
    figure.text(0.02, 0.925, title, fontsize=15, weight="bold", color=DARK)
    figure.text(0.02, 0.87, text, fontsize=10.5, color=GREY)
    return figure


def draw_curves(
    path: Path, curves: Sequence[Curve], title: str, text: str, y_label: str, legend: str
) -> None:
    """Draw curves over the epochs, on a logarithmic axis."""
    figure = new_figure(9, 5.4, title, text)
    axes = figure.add_axes((0.08, 0.1, 0.89, 0.71))
    for label, values, color, dashed in curves:
        style = (0, (4, 2)) if dashed else "-"
        axes.plot(range(1, len(values) + 1), values, color=color, ls=style, lw=1.6, label=label)
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    axes.set_xlabel("epoch", color=GREY)
    axes.set_ylabel(y_label, color=GREY)
    axes.grid(visible=True, which="both", color=LIGHT, lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, labelcolor=DARK, fontsize=10, title=legend)
    save_png(path, figure)


def save_png(path: Path, figure: Figure) -> None:
    """Write a figure whole or not at all; its folder is made if need be."""
    buffer = io.BytesIO()
    # Without the name of the software, the same figure gives the same bytes.
    figure.savefig(buffer, format="png", metadata={"Software": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as [file]:
        file.write(buffer.getvalue())

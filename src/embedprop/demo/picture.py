"""The map of the digits: their vectors in two dimensions, as a PNG."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embedprop.demo.digits import INK, SIDE, Digits
from embedprop.export import replaced

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = (
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951",
    "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#6b7280",
)  # fmt: skip
Points = NDArray[np.float64]


def map_positions(vectors: NDArray[np.float32]) -> Points:
    """Return a place in the plane for each vector, by t-SNE."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, (len(vectors) - 1) / 4)
    # Half of the usual iterations, because clusters stand by then; one thread, because several
    # mostly wait for each other here.
    tsne = TSNE(perplexity=perplexity, init="pca", max_iter=500, random_state=0)
    with threadpool_limits(1):
        return np.asarray(tsne.fit_transform(vectors), np.float64)


def draw_map(path: Path, digits: Digits, order: NDArray[np.int64], positions: Points) -> None:
    """Draw the digits `order` at their positions: many as images, all as dots, new ones as rings."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.4), dpi=120, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.86))
    axes.set_axis_off()
    colors = np.array([to_rgb(color) for color in COLORS])[digits.targets[order]]
    is_new = digits.is_new[order]
    shown = spread(positions, share=0.028)
    is_dot = ~is_new
    is_dot[shown] = False
    x, y = positions.T
    axes.scatter(x[is_dot], y[is_dot], 9, colors[is_dot], alpha=0.28, linewidths=0)
    axes.scatter(x[is_new], y[is_new], 100, "none", edgecolors=colors[is_new], linewidths=1.2)
    for index in shown:
        _draw_image(axes, digits.images[order[index]], colors[index], positions[index])
    _write_title(figure, len(order), int(is_new.sum()))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    with replaced(path) as [file]:
        file.write(buffer.getvalue())


def _write_title(figure: Figure, n_digits: int, n_new: int) -> None:
    title = f"{n_digits:,} handwritten digits, arranged by their EP-B vectors"
    figure.text(0.03, 0.94, title, fontsize=16, weight="bold", color="#1f2937")
    text = "Colors are the classes, which training never saw. "
    text += f"Rings are {n_new} digits that arrived after training."
    figure.text(0.03, 0.9, text, fontsize=11, color="#4b5563")


def _draw_image(
    axes: Axes, image: NDArray[np.float64], color: NDArray[np.float64], position: Points
) -> None:
    """Draw an image in one color, transparent where there is no ink."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    ink = image.reshape(SIDE, SIDE, 1) / INK
    picture = OffsetImage(np.concatenate([np.tile(color, (SIDE, SIDE, 1)), ink], axis=2), zoom=1.5)
    x, y = position.tolist()
    axes.add_artist(AnnotationBbox(picture, (x, y), frameon=False))


def spread(positions: Points, share: float) -> list[int]:
    """Return points that are at least `share` of the map's width apart from each other."""
    least = share * np.ptp(positions, axis=0).max()
    chosen: list[int] = []
    for index, position in enumerate(positions):
        if not chosen or np.linalg.norm(positions[chosen] - position, axis=1).min() >= least:
            chosen.append(index)
    return chosen

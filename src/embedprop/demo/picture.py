"""The map of the digits: their vectors in two dimensions, as a PNG."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embedprop.demo.digits import SIDE, Digits
from embedprop.export import replaced

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = (
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951",
    "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#6b7280",
)  # fmt: skip
Points = NDArray[np.float64]


def map_positions(vectors: NDArray[np.float32]) -> Points:
    """Return a place in the plane for each vector, by t-SNE."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(vectors) - 1) / 4)
    tsne = TSNE(perplexity=perplexity, init="pca", metric="cosine", random_state=0)
    return np.asarray(tsne.fit_transform(vectors), np.float64)


def draw_map(path: Path, digits: Digits, order: NDArray[np.int64], positions: Points) -> None:
    """Draw the digits `order` at their positions: dots, rings for new ones, some images."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 6.6), dpi=120, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.86))
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    colors = np.array(COLORS)[digits.targets[order]]
    is_new = digits.is_new[order]
    x, y = positions.T
    axes.scatter(x[~is_new], y[~is_new], 11, colors[~is_new], alpha=0.75, linewidths=0)
    axes.scatter(x[is_new], y[is_new], 24, "white", edgecolors=colors[is_new].tolist())
    _draw_images(axes, digits.images[order], colors, positions)
    n_new = int(is_new.sum())
    figure.text(
        0.03, 0.945, f"{len(order):,} handwritten digits, arranged by their EP-B vectors",
        fontsize=15, weight="bold", color="#1f2937",
    )  # fmt: skip
    figure.text(
        0.03, 0.908,
        f"Colors are the classes, which training never saw. Rings are the {n_new} digits that "
        "arrived after it.",
        fontsize=10.5, color="#4b5563",
    )  # fmt: skip
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    with replaced(path) as [file]:
        file.write(buffer.getvalue())


def _draw_images(
    axes: Axes, images: NDArray[np.float64], colors: NDArray[np.str_], positions: Points
) -> None:
    """Draw some of the images where they are, none over another."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    for index in spread(positions, share=0.085):
        ink = LinearSegmentedColormap.from_list("ink", ["white", str(colors[index])])
        picture = OffsetImage(images[index].reshape(SIDE, SIDE), zoom=2.6, cmap=ink)
        frame = {"edgecolor": colors[index], "linewidth": 0.8, "boxstyle": "round,pad=0.12"}
        x, y = positions[index].tolist()
        axes.add_artist(AnnotationBbox(picture, (x, y), bboxprops=frame))


def spread(positions: Points, share: float) -> list[int]:
    """Return points that are at least `share` of the map's width apart from each other."""
    least = share * np.ptp(positions, axis=0).max()
    chosen: list[int] = []
    for index, position in enumerate(positions):
        if not chosen or np.linalg.norm(positions[chosen] - position, axis=1).min() >= least:
            chosen.append(index)
    return chosen

"""The map of the digits: their vectors in two dimensions, as a PNG."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embedprop.demo.digits import SIDE, Digits
from embedprop.files.atomic import replaced

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = (
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951",
    "#ff8ab7", "#a463f2", "#5fb0f2", "#9c6b4e", "#6b7280",
)  # fmt: skip
Points = NDArray[np.float64]
# The map is 1 high and so many wide; an image on it needs so much room around its middle.
WIDTH = 1.8
ROOM = 0.055
AROUND = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)])


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
    """Draw the digits `order` at their positions: dots, new ones as rings, an image per class."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.2), dpi=120, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.03, 0.03, 0.94, 0.83))
    axes.set_axis_off()
    # Distances on such a map have no unit: stretch it to the shape of the picture.
    low, high = positions.min(axis=0), positions.max(axis=0)
    points = (positions - low) / (high - low) * (WIDTH, 1.0)
    targets, is_new = digits.targets[order], digits.is_new[order]
    x, y = points.T
    for target in np.unique(targets).tolist():
        color, known = COLORS[target], (targets == target) & ~is_new
        new = (targets == target) & is_new
        axes.scatter(x[known], y[known], 16, color, alpha=0.55, linewidths=0)
        axes.scatter(x[new], y[new], 26, "white", edgecolors=color, linewidths=1.3, zorder=2)
    for target, (member, place) in examples(points, targets).items():
        _draw_image(axes, digits.images[order[member]], COLORS[target], place)
    _write_title(figure, len(order), int(is_new.sum()))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    with replaced(path) as [file]:
        file.write(buffer.getvalue())


def examples(points: Points, targets: NDArray[np.int64]) -> dict[int, tuple[int, Points]]:
    """Return for each class its most central member, and a free place nearby to show it."""
    from scipy.spatial import KDTree

    grid = np.stack(np.meshgrid(np.linspace(0, WIDTH, 81), np.linspace(0, 1, 51)), -1).reshape(
        -1, 2
    )
    taken = points
    found: dict[int, tuple[int, Points]] = {}
    for target in np.unique(targets).tolist():
        members = np.flatnonzero(targets == target)
        center = np.median(points[members], axis=0)
        member = members[np.linalg.norm(points[members] - center, axis=1).argmin()]
        room, _ = KDTree(taken).query(grid)
        away = np.linalg.norm(grid - center, axis=1) + np.where(room < ROOM, 10 - room, 0)
        place = grid[away.argmin()]
        found[target] = int(member), place
        taken = np.concatenate([taken, place + ROOM * AROUND])
    return found


def _write_title(figure: Figure, n_digits: int, n_new: int) -> None:
    title = f"{n_digits:,} handwritten digits, arranged by their EP-B vectors"
    figure.text(0.03, 0.94, title, fontsize=16, weight="bold", color="#1f2937")
    text = "Colors are the classes, which training never saw. "
    text += f"Rings are {n_new} digits that arrived after training."
    figure.text(0.03, 0.9, text, fontsize=11, color="#4b5563")


def _draw_image(axes: Axes, image: NDArray[np.float64], color: str, place: Points) -> None:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    shades = LinearSegmentedColormap.from_list("ink", ["white", color])
    picture = OffsetImage(image.reshape(SIDE, SIDE), zoom=3.3, cmap=shades, interpolation="nearest")
    x, y = place.tolist()
    axes.add_artist(AnnotationBbox(picture, (x, y), frameon=False, zorder=1))

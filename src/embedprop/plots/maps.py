"""Maps: vectors as points in the plane by t-SNE, colored by class, several maps side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embedprop.plots.figures import DARK, GREY, LIGHT, class_colors, new_figure, save_png

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Positions = NDArray[np.float64]  # (points, 2)

# The free space that an image needs around its middle, on a map that is 1 high.
ROOM = 0.055
_CROSS = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)])


class Map(NamedTuple):
    """One panel: the vectors that it shows, and the line above it."""

    vectors: NDArray[np.float32]
    title: str


class Points(NamedTuple):
    """What the maps of one figure have in common: a class for each point, and how it is drawn."""

    classes: NDArray[np.int64]
    class_names: Sequence[str]
    is_new: NDArray[np.bool_] | None = None  # these are rings, all others dots
    images: NDArray[np.float64] | None = None  # (points, rows, columns); one per class is shown


def draw_maps(
    path: Path, maps: Sequence[Map], points: Points, title: str, text: str, height: float = 5.2
) -> None:
    """Draw the t-SNE of each map's vectors, side by side in one figure; `height` in inches."""
    width, pitch = 12.0, 0.975 / len(maps)
    figure = new_figure(width, height, title, text)
    shape = (pitch - 0.015) * width / (0.66 * height)
    for i, one in enumerate(maps):
        axes = figure.add_axes((0.02 + i * pitch, 0.09, pitch - 0.015, 0.66))
        axes.set_title(one.title, fontsize=12, color=DARK)
        _draw_map(axes, stretched(tsne(one.vectors), shape), points)
    _draw_legend(figure, points.class_names)
    save_png(path, figure)


def tsne(vectors: NDArray[np.float32]) -> Positions:
    """Return a place in the plane for each vector, by t-SNE."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    # Half of the usual iterations, because the clusters are there by then; one thread, because
    # several mostly wait for each other here.
    perplexity = min(30.0, (len(vectors) - 1) / 4)
    layout = TSNE(perplexity=perplexity, init="pca", max_iter=500, random_state=0)
    with threadpool_limits(1):
        return np.asarray(layout.fit_transform(vectors), np.float64)


def stretched(positions: Positions, width: float) -> Positions:
    """Return the positions in a box that is `width` wide and 1 high.

    Distances on a map by t-SNE have no unit, so a map may have the shape of its picture.

    >>> stretched(np.array([[-5.0, 0.0], [5.0, 2.0], [0.0, 4.0]]), width=2).tolist()
    [[0.0, 0.0], [2.0, 0.5], [1.0, 1.0]]
    """
    low, high = positions.min(axis=0), positions.max(axis=0)
    return np.asarray((positions - low) / (high - low) * (width, 1.0), np.float64)


def examples(positions: Positions, classes: NDArray[np.int64]) -> dict[int, tuple[int, Positions]]:
    """Return for each class its most central member, and a free place nearby to show it."""
    from scipy.spatial import KDTree

    # Candidates on a grid; each image that is placed takes its own room from the next ones.
    columns = np.linspace(0, positions[:, 0].max(), 81)
    grid = np.stack(np.meshgrid(columns, np.linspace(0, 1, 51)), -1).reshape(-1, 2)
    taken = positions
    found: dict[int, tuple[int, Positions]] = {}
    for class_ in np.unique(classes).tolist():
        members = np.flatnonzero(classes == class_)
        center = np.median(positions[members], axis=0)
        member = members[np.linalg.norm(positions[members] - center, axis=1).argmin()]
        room, _ = KDTree(taken).query(grid)
        # A place without room is worse than any with room, and the less it has the worse.
        away = np.linalg.norm(grid - center, axis=1) + np.where(room < ROOM, 10 - room, 0)
        place = grid[away.argmin()]
        found[class_] = int(member), place
        taken = np.concatenate([taken, place + ROOM * _CROSS])
    return found


def _draw_map(axes: Axes, positions: Positions, points: Points) -> None:
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_color(LIGHT)
    colors = class_colors(points.classes)
    # In random order, so that no class hides another.
    order = np.random.default_rng(0).permutation(len(colors))
    is_new = np.zeros(len(colors), bool) if points.is_new is None else points.is_new
    dots, rings = order[~is_new[order]], order[is_new[order]]
    x, y = positions.T
    axes.scatter(x[dots], y[dots], 7, colors[dots], alpha=0.7, linewidths=0)
    if len(rings):
        axes.scatter(x[rings], y[rings], 22, "white", edgecolors=colors[rings], linewidths=1.2)
    if points.images is not None:
        for class_, (member, place) in examples(positions, points.classes).items():
            _draw_image(axes, points.images[member], str(class_colors(np.array(class_))), place)


def _draw_image(axes: Axes, image: NDArray[np.float64], color: str, place: Positions) -> None:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    shades = LinearSegmentedColormap.from_list("ink", ["white", color])
    picture = OffsetImage(image, zoom=3.3, cmap=shades, interpolation="nearest")
    axes.add_artist(AnnotationBbox(picture, tuple(place), frameon=False, zorder=0.5))


def _draw_legend(figure: Figure, class_names: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    colors = class_colors(np.arange(len(class_names))).tolist()
    figure.legend(
        handles=[Line2D([], [], marker="o", ls="", color=color, ms=6) for color in colors],
        labels=[str(name).replace("_", " ") for name in class_names],
        loc="lower center", ncols=max(len(class_names), 1), frameon=False, fontsize=10,
        handletextpad=0.1, columnspacing=1.4, labelcolor=GREY,
    )  # fmt: skip

"""Quality against time: a panel per graph, every method a point with its name beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .claims import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

OURS, PEERS, INK = "#c2410c", "#6b7280", "#1f2937"
TITLES = {"blogcatalog": "BlogCatalog", "ppi": "PPI", "pos": "POS"}
DPI = 110
# A method below this share of the best would squeeze all others together: it stands at the edge.
SHOWN = 0.7
POINT = 5.0  # half the side of the square that a point takes, in points of the page

Boxes = NDArray[np.float64]  # (n, 4): left, bottom, right, top


def draw(path: Path, rows: Sequence[Row]) -> None:
    """Write the picture; only rows of the graphs in `TITLES` are drawn."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    graphs = [graph for graph in TITLES if any(row.graph == graph for row in rows)]
    size = (9.2, 3.5 * len(graphs) + 0.7)
    figure, panels = plt.subplots(
        len(graphs), 1, figsize=size, sharex=True, squeeze=False, layout="constrained", dpi=DPI
    )
    figure.suptitle(
        "Quality against CPU time: better is up and to the left\n"
        "A triangle is far below the others, at the value beside its name",
        fontsize=11.5,
        color=INK,
    )
    for panel, graph in zip(panels[:, 0], graphs, strict=True):
        _points(panel, [row for row in rows if row.graph == graph])
        panel.set_title(TITLES[graph], loc="left", fontsize=12, color=INK, fontweight="bold")
    panels[-1, 0].set_xlabel("CPU seconds of the whole job, one thread (log scale)", color=INK)
    figure.canvas.draw()  # fixes the layout: before it, the place of a label is not known
    for panel, graph in zip(panels[:, 0], graphs, strict=True):
        _names(panel, [row for row in rows if row.graph == graph])
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    plt.close(figure)


def heights(rows: Sequence[Row]) -> list[float]:
    """Return where each row is drawn: its micro-F1, or just below the others if far below."""
    values = [row.figures["micro"] for row in rows]
    shown = [value for value in values if value >= SHOWN * max(values)]
    edge = min(shown) - 0.15 * max(max(shown) - min(shown), 1.0)
    return [value if value in shown else edge for value in values]


def _points(panel: Axes, rows: Sequence[Row]) -> None:
    for row, height in zip(rows, heights(rows), strict=True):
        color = OURS if row.is_ours else PEERS
        marker = "D" if row.is_ours else "o" if height == row.figures["micro"] else "v"
        panel.plot(row.cpu_seconds, height, marker, color=color, markersize=6.5)
    panel.set_xscale("log")
    panel.margins(x=0.1, y=0.17)
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.set_ylabel("micro-F1 at 10 %", color=INK)
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)


def _names(panel: Axes, rows: Sequence[Row]) -> None:
    """Write each name where it covers neither a point nor another name."""
    places = [(row.cpu_seconds, height) for row, height in zip(rows, heights(rows), strict=True)]
    points_per_pixel = 72 / DPI
    where = panel.transData.transform(places) * points_per_pixel
    frame = panel.get_window_extent()
    bounds = np.array([frame.x0, frame.y0, frame.x1, frame.y1]) * points_per_pixel
    texts = [_name(panel, row, place) for row, place in zip(rows, places, strict=True)]
    extents = [text.get_window_extent() for text in texts]
    sizes = np.array([(one.width, one.height) for one in extents]) * points_per_pixel
    corners = placed(where, sizes, bounds)
    for text, point, corner, size in zip(texts, where, corners, sizes, strict=True):
        text.set_position(tuple(corner - point))
        _leader(panel, point, corner, size)


def _name(panel: Axes, row: Row, place: tuple[float, float]) -> Annotation:
    value = row.figures["micro"]
    return panel.annotate(
        row.title if place[1] == value else f"{row.title}: {value:.1f}",
        place,
        xytext=(0, 0),
        textcoords="offset points",
        fontsize=9.5,
        annotation_clip=False,
        color=OURS if row.is_ours else PEERS,
        fontweight="bold" if row.is_ours else "normal",
    )


def _leader(panel: Axes, point: Any, corner: Any, size: Any) -> None:
    """Draw a thin line from a point to its name, if they are apart."""
    near = np.clip(point, corner, corner + np.array(size))
    if np.hypot(*(near - point)) > 2 * POINT:
        scale = DPI / 72
        ends = panel.transData.inverted().transform(np.array([point, near]) * scale)
        panel.plot(ends[:, 0], ends[:, 1], color=PEERS, linewidth=0.6, zorder=1)


def placed(points: NDArray[Any], sizes: NDArray[Any], bounds: NDArray[Any]) -> NDArray[np.float64]:
    """Return the lower left corner of each label: near its point, over no point or other label.

    Greedy: labels in crowds first, each at the nearest free place; if none is free, the place that
    covers least.
    """
    crowd = np.array([np.sum(np.hypot(*(points - one).T) < 60) for one in points])
    blocked = [np.array([*(one - POINT), *(one + POINT)]) for one in points]
    corners = np.zeros((len(points), 2))
    for index in np.argsort(-crowd, kind="stable"):
        spots = _spots(points[index], sizes[index])
        boxes = np.concatenate([spots, spots + sizes[index]], axis=1)
        cost = 1e-3 * np.arange(len(spots)) + overlap(boxes, np.array(blocked)).sum(axis=1)
        outside = np.maximum(bounds[:2] - boxes[:, :2], boxes[:, 2:] - bounds[2:]).max(axis=1)
        best = int(np.argmin(cost + 100 * np.maximum(outside, 0)))
        corners[index] = spots[best]
        blocked.append(boxes[best])
    return corners


def _spots(point: NDArray[Any], size: NDArray[Any]) -> NDArray[np.float64]:
    """Return candidate corners, nearest first: right, left, above, below, then around."""
    width, height = size
    spots = []
    for gap in (POINT + 2, 12, 20, 30, 42, 56, 72):
        spots += [(gap, -height / 2), (-gap - width, -height / 2)]
        spots += [(-width / 2, gap), (-width / 2, -gap - height)]
        for x in (gap / 2, -gap / 2 - width, -width / 4, -3 * width / 4):
            spots += [(x, gap), (x, -gap - height)]
        for y in (gap / 2, -gap / 2 - height):
            spots += [(gap, y), (-gap - width, y)]
    return point + np.array(spots)


def overlap(boxes: Boxes, others: Boxes) -> NDArray[np.float64]:
    """Return the area that each box shares with each of the others.

    >>> overlap(np.array([[0.0, 0, 2, 2]]), np.array([[1.0, 1, 3, 3], [2, 0, 3, 1]])).tolist()
    [[1.0, 0.0]]
    """
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    return np.asarray(np.maximum(high - low, 0).prod(axis=2))

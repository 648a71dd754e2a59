"""The colors of all figures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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

"""Hypothesis strategies that several test files share."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from embedprop.graph.multisets import Multisets

POSITIVE = st.floats(min_value=2**-10, max_value=2**10, width=32)


@st.composite
def multisets(
    draw: Any, max_sets: int = 6, max_size: int = 5, max_id: int = 8, weighted: bool | None = None
) -> Multisets:
    """Draw multisets, empty sets and no sets at all included; weighted or not unless told."""
    ids = st.lists(st.integers(0, max_id), max_size=max_size)
    lists = draw(st.lists(ids, max_size=max_sets))
    if weighted is None:
        weighted = draw(st.booleans())
    if not weighted:
        return Multisets.from_lists(lists)
    weights = [draw(st.lists(POSITIVE, min_size=len(s), max_size=len(s))) for s in lists]
    return Multisets.from_lists(lists, weights=weights)


@st.composite
def edge_rows(draw: Any, max_nodes: int = 6, max_edges: int = 12) -> np.ndarray:
    """Draw an (n, 2) array of edges with duplicates and self-loops, at least one between nodes."""
    node = st.integers(0, max_nodes - 1)
    rows = draw(st.lists(st.tuples(node, node), min_size=1, max_size=max_edges))
    if all(source == target for source, target in rows):
        rows.append((0, 1))
    return np.array(rows, dtype=np.int32)

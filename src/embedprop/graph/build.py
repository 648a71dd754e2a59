"""Ids → Graph: the last step of all readers. Edges and rows of labels are checked here."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph import Graph, Multisets, Vocabulary
from embedprop.graph.adjacency import EdgeRows, adjacency, summed_weights
from embedprop.graph.arrays import Ids, Mask
from embedprop.graph.graph import SelfLoops, ValueLabels
from embedprop.graph.labels import NODE_TYPE
from embedprop.graph.messages import check_choice, counted

logger = logging.getLogger(__name__)

Weights = NDArray[np.floating[Any]]
Labels = tuple[Vocabulary, Multisets] | ValueLabels
FLOAT32_MAX = float(np.finfo(np.float32).max)


def build_graph(
    nodes: Vocabulary,
    edges: EdgeRows,
    labels: Mapping[str, Labels] | None = None,
    *,
    directed: bool = False,
    self_loops: str = "drop",
) -> Graph:
    """Make a graph of edges between node ids, and of labels that already belong to node ids.

    Duplicate edges collapse within one relation; their weights add up. Self-loops are dropped
    unless `self_loops` is ``"keep"``, rows of weight 0 always. Labels of a set are its names and
    l_i(v), those of another kind their values; their order is that of `labels`.
    """
    check_choice("self_loops", self_loops, get_args(SelfLoops))
    kept, n_self_loops, n_zero_weights = _kept_rows(nodes, edges, self_loops)
    n_rows = len(edges)
    # Most tables lose no row, and a copy of a large one would cost its memory again.
    edges = edges if kept is None else edges.keeping(kept)
    _require_edges(len(edges), n_rows, n_self_loops)
    neighbors, neighbor_relations, n_edges = adjacency(len(nodes), edges, directed=directed)
    n_duplicates = len(edges) - n_edges
    _log_dropped(n_self_loops, n_duplicates, n_zero_weights, weighted=edges.weights is not None)
    labels = labels or {}
    sets = {name: each for name, each in labels.items() if isinstance(each, tuple)}
    return Graph(
        nodes=nodes,
        neighbors=neighbors,
        directed=bool(directed),
        labels={NODE_TYPE: Multisets.identity(len(nodes))} | {t: sets[t][1] for t in sets},
        vocabularies={NODE_TYPE: nodes} | {t: sets[t][0] for t in sets},
        values={name: each for name, each in labels.items() if not isinstance(each, tuple)},
        label_types=(NODE_TYPE, *labels),
        relations=edges.relations,
        neighbor_relations=neighbor_relations,
        n_self_loops_dropped=n_self_loops,
        n_duplicates_dropped=n_duplicates,
        n_zero_weights_dropped=n_zero_weights,
    )


def label_multisets(
    n_nodes: int, node_ids: Ids, label_ids: Ids, weights: Weights | None = None
) -> Multisets:
    """Collect rows (node, label[, weight]) into l_i(v) of every node, sorted by label.

    Repeated rows add their weights, each 1 where none are given; rows of weight 0 are left out.
    The result has no weights when every one is 1.

    >>> node_ids, label_ids = np.array([0, 0, 0], np.int32), np.array([4, 1, 4], np.int32)
    >>> words = label_multisets(2, node_ids, label_ids)
    >>> words.of(0), words.weights_of(0)
    (array([1, 4], dtype=int32), array([1., 2.], dtype=float32))
    """
    from scipy.sparse import coo_array

    if weights is None:
        data: NDArray[Any] = np.ones(len(node_ids), dtype=np.int32)
    else:
        check_weights(weights, lambda row: f"label row {row} (counted from 0)")
        positive = weights.astype(np.float32) > 0
        if not positive.all():
            logger.info("left out %s of weight 0", counted(int((~positive).sum()), "label row"))
            node_ids, label_ids = node_ids[positive], label_ids[positive]
            weights = weights[positive]
        # Added up as float64, so that many small weights beside a large one are not lost.
        data = weights.astype(np.float64)
    n_labels = int(label_ids.max()) + 1 if len(label_ids) else 1
    matrix = coo_array((data, (node_ids, label_ids)), shape=(n_nodes, n_labels)).tocsr()
    is_plain = bool((matrix.data == 1).all())
    totals = None if is_plain else summed_weights(matrix.data, "repeated labels")
    return Multisets(matrix.indptr.astype(np.int64), matrix.indices, totals)


def check_weights(weights: Weights, place: Callable[[int], str]) -> None:
    """Refuse NaN, infinite and negative weights; ``place(row)`` says where a row stands."""
    # min and max carry NaN along, and need no array of their own.
    if not len(weights) or (weights.min() >= 0 and weights.max() <= FLOAT32_MAX):
        return
    row = int(np.argmin((weights >= 0) & (weights <= FLOAT32_MAX)))
    raise InvalidGraphError(
        f"{place(row)}: expected a weight that is finite and not negative (at most "
        f"{FLOAT32_MAX:.1e}), got {weights[row]}. Correct it, or leave the row out."
    )


def _kept_rows(nodes: Vocabulary, edges: EdgeRows, self_loops: str) -> tuple[Mask | None, int, int]:
    """Return which rows stay (None: all), how many self-loops go, and how many weigh nothing."""
    is_loop, weighs = edges.sources == edges.targets, np.ones(len(edges), np.bool_)
    is_loop &= self_loops != "keep"
    if edges.weights is not None:
        check_weights(edges.weights, lambda row: _edge_name(nodes, edges, row))
        # In float32, as it is stored: a weight too small for it weighs nothing.
        weighs = edges.weights.astype(np.float32, copy=False) > 0
    # A self-loop of weight 0 counts as a row without weight, not as a self-loop.
    kept = weighs & ~is_loop
    n_self_loops = int(np.count_nonzero(is_loop & weighs))
    n_zero_weights = len(edges) - int(np.count_nonzero(weighs))
    return (None if kept.all() else kept), n_self_loops, n_zero_weights


def _edge_name(nodes: Vocabulary, edges: EdgeRows, row: int) -> str:
    source, target = nodes[edges.sources[row]], nodes[edges.targets[row]]
    return f"Edge {source!r} - {target!r} in row {row} (counted from 0)"


def _require_edges(n_left: int, n_rows: int, n_self_loops: int) -> None:
    if n_left:
        return
    problem = "the edge table is empty. Expected at least one edge."
    if n_rows:
        problem = (
            f"got {counted(n_rows, 'row')} ({counted(n_self_loops, 'self-loop')}, "
            f"{n_rows - n_self_loops} of weight 0). Expected at least one edge between two nodes."
        )
    hint = " Keep the self-loops with self_loops='keep' (--self-loops keep)."
    raise InvalidGraphError(f"The graph has no edges: {problem}{hint if n_self_loops else ''}")


def _log_dropped(n_self_loops: int, n_duplicates: int, n_zero: int, *, weighted: bool) -> None:
    what = "added up their weights" if weighted else "each edge counts once"
    keep = "self_loops='keep' (--self-loops keep) would keep them"
    for number, noun, message in (
        (n_self_loops, "self-loop", f"dropped %s; {keep}"),
        (n_duplicates, "duplicate edge", f"collapsed %s: {what}"),
        (n_zero, "edge", "left out %s of weight 0"),
    ):
        if number:
            logger.info(message, counted(number, noun))

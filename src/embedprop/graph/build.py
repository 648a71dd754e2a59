"""Ids → Graph: what every reader and converter ends with. Edges and label rows are checked here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.adjacency import (
    EdgeTable,
    directed_adjacency,
    summed_weights,
    undirected_adjacency,
)
from embedprop.graph.graph import Graph, ValueLabels
from embedprop.graph.labels import NODE_TYPE
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary

logger = logging.getLogger(__name__)

Ids = NDArray[np.int32]
Weights = NDArray[np.floating[Any]]
FLOAT32_MAX = float(np.finfo(np.float32).max)


def build_graph(
    nodes: Vocabulary,
    sources: Ids,
    targets: Ids,
    *,
    directed: bool = False,
    self_loops: str = "drop",
    edge_weights: Weights | None = None,
    relation_ids: Ids | None = None,
    relations: Vocabulary | None = None,
    labels: Mapping[str, tuple[Vocabulary, Multisets]] | None = None,
    values: Mapping[str, ValueLabels] | None = None,
    label_types: Sequence[str] | None = None,
) -> Graph:
    """Make a graph of edges between node ids, and of labels that already belong to node ids.

    Duplicate edges collapse within one relation; their weights add up. Self-loops are dropped
    unless `self_loops` is ``"keep"``, rows of weight 0 always. `label_types` gives the order of the
    types of `labels` and `values` together (default: `labels`, then `values`).
    """
    check_choice("self_loops", self_loops, ("drop", "keep"))
    if edge_weights is not None:
        check_weights(edge_weights, lambda row: _edge_name(nodes, sources, targets, row))
    n_rows = len(sources)
    keep, n_self_loops, n_zero_weights = _kept_rows(sources, targets, edge_weights, self_loops)
    if keep is not None:
        sources, targets = sources[keep], targets[keep]
        edge_weights = None if edge_weights is None else edge_weights[keep]
        relation_ids = None if relation_ids is None else relation_ids[keep]
    _require_edges(len(sources), n_rows, n_self_loops)
    n_relations = 0 if relations is None else len(relations)
    edges = EdgeTable(len(nodes), sources, targets, edge_weights, relation_ids, n_relations)
    adjacency = directed_adjacency(edges) if directed else undirected_adjacency(edges)
    n_duplicates = len(sources) - adjacency.n_edges
    _log_dropped(n_self_loops, n_duplicates, n_zero_weights, weighted=edge_weights is not None)
    sets = dict(labels or {})
    return Graph(
        nodes=nodes,
        neighbors=adjacency.neighbors,
        directed=bool(directed),
        labels={NODE_TYPE: Multisets.identity(len(nodes))} | {t: sets[t][1] for t in sets},
        vocabularies={NODE_TYPE: nodes} | {t: sets[t][0] for t in sets},
        values=dict(values or {}),
        relations=relations,
        neighbor_relations=adjacency.relation_ids,
        n_edges=adjacency.n_edges,
        n_self_loops_dropped=n_self_loops,
        n_duplicates_dropped=n_duplicates,
        n_zero_weights_dropped=n_zero_weights,
        label_types=(NODE_TYPE, *(label_types or [*sets, *(values or {})])),
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
            logger.info("left out %d label rows of weight 0", int((~positive).sum()))
            node_ids, label_ids, weights = (
                node_ids[positive],
                label_ids[positive],
                weights[positive],
            )
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
        f"{FLOAT32_MAX:.1e}), but came {weights[row]}. Correct it, or leave the row out."
    )


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a value of parameter `name` that is not one of `choices`."""
    if value not in choices:
        raise InvalidParameterError(
            f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}."
        )


def _edge_name(nodes: Vocabulary, sources: Ids, targets: Ids, row: int) -> str:
    return f"Edge {nodes[sources[row]]!r} - {nodes[targets[row]]!r} in row {row} (counted from 0)"


def _kept_rows(
    sources: Ids, targets: Ids, weights: Weights | None, self_loops: str
) -> tuple[NDArray[np.bool_] | None, int, int]:
    """Return which rows stay (None: all), how many self-loops go, and how many weigh nothing."""
    n_zero_weights = n_self_loops = 0
    keep: NDArray[np.bool_] | None = None
    if weights is not None:
        keep = weights.astype(np.float32, copy=False) > 0
        n_zero_weights = len(keep) - int(np.count_nonzero(keep))
    if self_loops == "drop":
        differ = sources != targets
        n_self_loops = len(differ) - int(np.count_nonzero(differ))
        if keep is not None:
            n_self_loops = int(np.count_nonzero(keep & ~differ))
            differ &= keep
        keep = differ
    return (keep if n_zero_weights or n_self_loops else None), n_self_loops, n_zero_weights


def _require_edges(n_left: int, n_rows: int, n_self_loops: int) -> None:
    if n_left:
        return
    if not n_rows:
        raise InvalidGraphError(
            "The graph has no edges: the edge table is empty. Expected at least one edge."
        )
    hint = (
        " Keep the self-loops with self_loops='keep' (--self-loops keep)." if n_self_loops else ""
    )
    raise InvalidGraphError(
        f"The graph has no edges: of {n_rows} rows, {n_self_loops} are self-loops and "
        f"{n_rows - n_self_loops} have weight 0. Expected at least one edge between nodes.{hint}"
    )


def _log_dropped(n_self_loops: int, n_duplicates: int, n_zero: int, *, weighted: bool) -> None:
    if n_self_loops:
        logger.info(
            "dropped %d self-loops; self_loops='keep' (--self-loops keep) would keep them",
            n_self_loops,
        )
    if n_duplicates:
        what = "added up their weights" if weighted else "each edge counts once"
        logger.info("collapsed %d duplicate edges: %s", n_duplicates, what)
    if n_zero:
        logger.info("left out %d edges of weight 0", n_zero)

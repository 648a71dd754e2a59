"""Files → Graph. Names become ids here, once; bad input is refused here, with file and line."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError, did_you_mean
from embedprop.graph import Graph
from embedprop.graph.adjacency import EdgeRows
from embedprop.graph.arrays import Ids, Weights
from embedprop.graph.build import Labels, build_graph, label_multisets
from embedprop.graph.files.byte_chunks import check_is_file
from embedprop.graph.files.name_encoder import NameEncoder
from embedprop.graph.files.table_layout import Roles, TableOptions
from embedprop.graph.files.tables import Batch, read_table
from embedprop.graph.files.text_blocks import shortened
from embedprop.graph.graph import SelfLoops, UnknownNodes
from embedprop.graph.labels import NumericLabels, TextLabels, split_kinds
from embedprop.graph.messages import check_choice, counted

logger = logging.getLogger(__name__)

EDGE_ROLES = Roles(("source", "target"), ("weight", "relation"))
SET_ROLES = Roles(("node", "label"), ("weight",))
# Those of the edge file are its own; the others are for label files and the file of nodes.
COLUMN_ROLES = (*EDGE_ROLES.all, "node", "label", "text")

# What was read of a label type; it becomes labels when the number of all nodes is known.
Placing = Callable[[int], Labels]
# Of each column, those of the batches that were read.
Parts = defaultdict[str, list[NDArray[Any]]]


def read_graph(
    edges: str | Path,
    labels: Mapping[str, str | Path] | None,
    nodes: str | Path | None,
    options: TableOptions,
    directed: bool,
    *,
    self_loops: str,
    unknown_nodes: str,
) -> Graph:
    """Read a graph from files; see `Graph.read`.

    Declared nodes come first, then those of the edges in the order of the file, then, with
    ``unknown_nodes="add"``, those that only label files name.
    """
    check_choice("self_loops", self_loops, get_args(SelfLoops))
    check_choice("unknown_nodes", unknown_nodes, get_args(UnknownNodes))
    # All that can be refused without reading is refused here, before a long file is read.
    hints = _hints(options)
    edges = _as_path("edges", edges)
    files = {key: _as_path(f"labels[{key!r}]", path) for key, path in (labels or {}).items()}
    kinds = split_kinds(files)
    encoder = NameEncoder()
    if nodes is not None:
        _add_nodes(encoder, _as_path("nodes", nodes), hints)
    rows = _read_edges(edges, encoder, options)
    known = KnownNodes(encoder, unknown_nodes)
    placings = {
        label_type: _read_labels(files[key], label_type, kind, known, hints)
        for key, (label_type, kind) in kinds.items()
    }
    # Labels are placed last, when files of labels have added all nodes that they may add.
    vocabulary = encoder.vocabulary()
    del encoder, known  # as large as the names, and not needed any more
    pa.default_memory_pool().release_unused()
    placed = {label_type: placing(len(vocabulary)) for label_type, placing in placings.items()}
    return build_graph(vocabulary, rows, placed, directed=directed, self_loops=self_loops)


def has_relations(edges: str | Path, options: TableOptions) -> bool:
    """Return whether the edges of a file have relations; only its beginning is read."""
    batches = read_table(_as_path("edges", edges), EDGE_ROLES, options)
    return any("relation" in batch.columns for batch in islice(batches, 1))


def read_targets(path: str | Path) -> list[tuple[str, str]]:
    """Read the pairs (node, class) of a file; a node with several classes has several rows."""
    return [
        pair
        for batch in read_table(_as_path("targets", path), Roles(("node", "class")))
        for pair in zip(batch.names("node"), batch.names("class"), strict=True)
    ]


def _read_edges(path: Path, nodes: NameEncoder, options: TableOptions) -> EdgeRows:
    relations, parts = NameEncoder(), Parts(list)
    for batch in read_table(path, EDGE_ROLES, options):
        sources, targets = nodes.add(batch.names("source"), batch.names("target"))
        parts["source"].append(sources)
        parts["target"].append(targets)
        if "weight" in batch.columns:
            parts["weight"].append(batch.weights())
        if "relation" in batch.columns:
            parts["relation"] += relations.add(batch.names("relation"))
    columns, names = _joined(parts), relations.vocabulary() if len(relations) else None
    weights, relation_ids = columns.get("weight"), columns.get("relation")
    return EdgeRows(columns["source"], columns["target"], weights, relation_ids, names)


def _joined(parts: Parts) -> dict[str, NDArray[Any]]:
    """Return each column as one array, and let go of its parts: they are as large again."""
    return {name: np.concatenate(parts.pop(name)) for name in list(parts)}


def _add_nodes(encoder: NameEncoder, path: Path, options: TableOptions) -> None:
    n_rows = 0
    for batch in read_table(path, Roles(("node",)), options):
        n_rows += len(batch)
        encoder.add(batch.names("node"))
    if n_rows > len(encoder):
        n_again = counted(n_rows - len(encoder), "name")
        logger.info("%s: %s declared more than once", path, n_again)


def _read_labels(
    path: Path, label_type: str, kind: str, nodes: KnownNodes, options: TableOptions
) -> Placing:
    """Read the label file of one label type."""
    if kind == "image":
        raise InvalidParameterError(
            f"Label type {label_type!r}: images are not read from files. Load them into arrays and "
            f"give {{node: array}} to Graph.from_edges."
        )
    read = {"set": _read_sets, "numeric": _read_numbers, "text": _read_texts}[kind]
    return read(path, nodes, options)


def _read_sets(path: Path, nodes: KnownNodes, options: TableOptions) -> Placing:
    """Read a file with the columns node, label[, weight]."""
    labels, parts = NameEncoder(), Parts(list)
    for batch, ids in nodes.batches(path, SET_ROLES, options):
        parts["node"].append(ids)
        parts["label"] += labels.add(batch.names("label"))
        if "weight" in batch.columns:
            parts["weight"].append(batch.weights())
    names, columns = labels.vocabulary(), _joined(parts)
    ids, label_ids, weights = columns["node"], columns["label"], columns.get("weight")
    return lambda n_nodes: (names, label_multisets(n_nodes, ids, label_ids, weights))


def _read_numbers(path: Path, nodes: KnownNodes, options: TableOptions) -> Placing:
    """Read a file with the column node; all its other columns are values, empty if unknown."""
    node_ids: list[Ids] = []
    values: list[Weights] = []
    names: tuple[str, ...] = ()
    for batch, ids in nodes.unique(path, Roles(("node",), takes_rest=True), options):
        names = tuple(name for name in batch.columns if name != "node")
        node_ids.append(ids)
        values.append(np.stack([_finite(batch, name) for name in names], axis=1))
    rows = np.concatenate(node_ids), np.concatenate(values), names
    return lambda n_nodes: NumericLabels.from_rows(n_nodes, *rows)


def _read_texts(path: Path, nodes: KnownNodes, options: TableOptions) -> Placing:
    """Read a file with the columns node, text; an empty text is none."""
    node_ids: list[Ids] = []
    texts: list[str | None] = []
    for batch, ids in nodes.unique(path, Roles(("node", "text")), options):
        node_ids.append(ids)
        texts.extend(text or None for text in batch.columns["text"].to_list())
    rows = np.concatenate(node_ids), texts
    return lambda n_nodes: TextLabels.from_rows(n_nodes, *rows)


def _finite(batch: Batch, name: str) -> Weights:
    """Return a column of values; NaN means "not known", infinite numbers are errors."""
    with np.errstate(over="ignore"):
        values = batch.numbers(name).astype(np.float32)
    if np.isinf(values).any():
        raise batch.bad_value(name, int(np.argmax(np.isinf(values))), "a finite number or nothing")
    return values


@dataclass(frozen=True)
class KnownNodes:
    """The nodes that labels may belong to, and what happens to labels of others."""

    encoder: NameEncoder
    unknown_nodes: str  # "error", "ignore" or "add"

    def batches(
        self, path: Path, roles: Roles, options: TableOptions
    ) -> Iterator[tuple[Batch, Ids]]:
        """Yield the rows of known nodes of a label file, and the ids of these nodes."""
        n_before, n_ignored = len(self.encoder), 0
        for batch in read_table(path, roles, options):
            names = batch.names("node")
            adds = self.unknown_nodes == "add"
            ids = self.encoder.add(names)[0] if adds else self.encoder.find(names)
            known = np.flatnonzero(ids >= 0)
            if len(known) < len(ids) and self.unknown_nodes == "error":
                raise self._unknown(batch, int(np.argmin(ids >= 0)))
            n_ignored += len(ids) - len(known)
            yield (batch, ids) if len(known) == len(ids) else (batch.taking(known), ids[known])
        if n_ignored:
            logger.info("%s: ignored %s of unknown nodes", path, counted(n_ignored, "label"))
        n_added = len(self.encoder) - n_before
        if n_added:
            logger.info("%s: added %s without edges", path, counted(n_added, "node"))

    def unique(
        self, path: Path, roles: Roles, options: TableOptions
    ) -> Iterator[tuple[Batch, Ids]]:
        """Yield as `batches` does; a second row of a node is refused, as it can have one value."""
        has_row = np.zeros(0, dtype=np.bool_)
        for batch, ids in self.batches(path, roles, options):
            has_row = np.pad(has_row, (0, max(ids.max(initial=-1) + 1 - len(has_row), 0)))
            # A batch can repeat a node itself: only the first of its rows is new.
            again = np.ones(len(ids), dtype=np.bool_)
            again[np.unique(ids, return_index=True)[1]] = False
            again |= has_row[ids]
            if again.any():
                advice = "Expected at most one row per node: keep one, or combine them."
                raise _bad_node(batch, int(np.argmax(again)), f"already has a row. {advice}")
            has_row[ids] = True
            yield batch, ids

    def _unknown(self, batch: Batch, row: int) -> InvalidGraphError:
        known = self.encoder.vocabulary()
        advice = (
            "Correct it, declare it with nodes= (--nodes), or read with unknown_nodes='ignore' or "
            f"'add' (--unknown-nodes).{known.suggestion(batch.columns['node'][row])}"
        )
        problem = f"is not among the {counted(len(known), 'node')} of the graph"
        return _bad_node(batch, row, f"{problem}. {advice}")


def _bad_node(batch: Batch, row: int, problem: str) -> InvalidGraphError:
    name = shortened(batch.columns["node"][row])
    return InvalidGraphError(f"{batch.place(row)}: node {name!r} {problem}")


def _hints(options: TableOptions) -> TableOptions:
    """Return those options for the edge file that may hold for the other files too."""
    for role in options.columns:
        if role not in COLUMN_ROLES:
            raise InvalidParameterError(
                f"columns: expected keys among {', '.join(COLUMN_ROLES)}, got {role!r}. "
                f"Write it as {{'source': 'from', 'target': 'to'}}."
                f"{did_you_mean(str(role), COLUMN_ROLES)}"
            )
    others = {r: name for r, name in options.columns.items() if r not in EDGE_ROLES.all}
    return replace(options, columns=others, are_hints=True)


def _as_path(what: str, path: object) -> Path:
    """Return the path of a file that exists: a mistake is reported before long files are read."""
    if isinstance(path, str | Path) and str(path):
        found = Path(path).expanduser()
        check_is_file(found)
        return found
    raise InvalidParameterError(f"{what}: expected the path of a file, got {path!r:.80}.")

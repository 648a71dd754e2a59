"""Files → Graph. Names become ids here, once; bad input is refused here, with file and line."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TypeVar, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError, did_you_mean
from embedprop.graph.adjacency import EdgeRows
from embedprop.graph.build import build_graph
from embedprop.graph.files.byte_chunks import check_is_file
from embedprop.graph.files.label_files import KnownNodes, read_labels
from embedprop.graph.files.name_encoder import Ids, NameEncoder
from embedprop.graph.files.table_layout import Roles, TableOptions
from embedprop.graph.files.tables import read_table
from embedprop.graph.graph import Graph, SelfLoops, UnknownNodes
from embedprop.graph.labels import split_kinds
from embedprop.graph.messages import check_choice, counted

logger = logging.getLogger(__name__)

EDGE_ROLES = Roles(("source", "target"), ("weight", "relation"))
NODE_ROLES = Roles(("node",))
TARGET_ROLES = Roles(("node", "class"))
# Those of the edge file are its own; the others are for label files and the file of nodes.
COLUMN_ROLES = (*EDGE_ROLES.all, "node", "label", "text")

Weights = NDArray[np.float32]
Array = TypeVar("Array", Ids, Weights)


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
        label_type: read_labels(files[key], label_type, kind, known, hints)
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
    pairs: list[tuple[str, str]] = []
    for batch in read_table(_as_path("targets", path), TARGET_ROLES):
        pairs.extend(zip(batch.names("node"), batch.names("class"), strict=True))
    return pairs


def _read_edges(path: Path, nodes: NameEncoder, options: TableOptions) -> EdgeRows:
    relations = NameEncoder()
    sources: list[Ids] = []
    targets: list[Ids] = []
    weights: list[Weights] = []
    relation_ids: list[Ids] = []
    for batch in read_table(path, EDGE_ROLES, options):
        source_ids, target_ids = nodes.add(batch.names("source"), batch.names("target"))
        sources.append(source_ids)
        targets.append(target_ids)
        if "weight" in batch.columns:
            weights.append(batch.weights())
        if "relation" in batch.columns:
            relation_ids.extend(relations.add(batch.names("relation")))
    return EdgeRows(
        _joined(sources),
        _joined(targets),
        _joined(weights) if weights else None,
        _joined(relation_ids) if relation_ids else None,
        relations.vocabulary() if len(relations) else None,
    )


def _joined(parts: list[Array]) -> Array:
    """Return the parts as one array, and let go of them: together they are as large again."""
    joined = np.concatenate(parts)
    parts.clear()
    return joined


def _add_nodes(encoder: NameEncoder, path: Path, options: TableOptions) -> None:
    n_rows = 0
    for batch in read_table(path, NODE_ROLES, options):
        n_rows += len(batch)
        encoder.add(batch.names("node"))
    if n_rows > len(encoder):
        n_again = counted(n_rows - len(encoder), "name")
        logger.info("%s: %s declared more than once", path, n_again)


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

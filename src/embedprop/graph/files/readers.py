"""Files → Graph. Names become ids here, once; bad input is refused here, with file and line."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph.build import build_graph, check_choice
from embedprop.graph.files.byte_chunks import check_is_file
from embedprop.graph.files.label_files import KnownNodes, LabelRows, SetRows, read_labels
from embedprop.graph.files.name_encoder import Ids, NameEncoder
from embedprop.graph.files.table_layout import Roles, TableOptions
from embedprop.graph.files.tables import read_table
from embedprop.graph.graph import Graph
from embedprop.graph.labels import split_kinds
from embedprop.graph.vocabulary import Vocabulary

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
    labels: Mapping[str, str | Path] | None = None,
    *,
    directed: bool = False,
    nodes: str | Path | None = None,
    self_loops: str = "drop",
    unknown_nodes: str = "error",
    columns: Mapping[str, str] | None = None,
    has_header: bool | None = None,
    separator: str | None = None,
) -> Graph:
    """Read a graph from files; see `Graph.read`.

    Declared nodes come first, then those of the edges in the order of the file, then, with
    ``unknown_nodes="add"``, those that only label files name.
    """
    check_choice("self_loops", self_loops, ("drop", "keep"))
    check_choice("unknown_nodes", unknown_nodes, ("error", "ignore", "add"))
    options, hints = _options(columns, has_header, separator)
    edges = _as_path("edges", edges)
    files = {key: _as_path(f"labels[{key!r}]", path) for key, path in (labels or {}).items()}
    kinds = split_kinds(files)
    encoder = NameEncoder()
    if nodes is not None:
        _add_nodes(encoder, _as_path("nodes", nodes), hints)
    table = _Edges.read(edges, encoder, options)
    known = KnownNodes(encoder, unknown_nodes)
    rows: dict[str, LabelRows] = {}
    for key, (label_type, kind) in kinds.items():
        rows[label_type] = read_labels(files[key], label_type, kind, known, hints)
    vocabulary, n_nodes = encoder.vocabulary(), len(encoder)
    del encoder, known  # as large as the names, and not needed any more
    pa.default_memory_pool().release_unused()
    return build_graph(
        vocabulary,
        table.sources,
        table.targets,
        directed=directed,
        self_loops=self_loops,
        edge_weights=table.weights,
        relation_ids=table.relation_ids,
        relations=table.relations,
        labels={t: r.placed(n_nodes) for t, r in rows.items() if isinstance(r, SetRows)},
        values={t: r.placed(n_nodes) for t, r in rows.items() if not isinstance(r, SetRows)},
        label_types=tuple(rows),
    )


def read_nodes(path: str | Path) -> list[str]:
    """Read the names in the column ``node`` of a file, each once, in the order of the file."""
    encoder = NameEncoder()
    _add_nodes(encoder, _as_path("nodes", path), TableOptions())
    return [str(name) for name in encoder.vocabulary()]


def read_targets(path: str | Path) -> list[tuple[str, str]]:
    """Read the pairs (node, class) of a file; a node with several classes has several rows."""
    pairs: list[tuple[str, str]] = []
    for batch in read_table(_as_path("targets", path), TARGET_ROLES):
        pairs.extend(zip(batch.names("node"), batch.names("class"), strict=True))
    return pairs


@dataclass(frozen=True, eq=False)
class _Edges:
    """The rows of an edge file, names as ids."""

    sources: Ids
    targets: Ids
    weights: Weights | None
    relation_ids: Ids | None
    relations: Vocabulary | None

    @classmethod
    def read(cls, path: Path, nodes: NameEncoder, options: TableOptions) -> _Edges:
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
        return cls(
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
        logger.info("%s: %d nodes are declared more than once", path, n_rows - len(encoder))


def _options(
    columns: Mapping[str, str] | None, has_header: bool | None, separator: str | None
) -> tuple[TableOptions, TableOptions]:
    """Return the options for the edge file, and what may be true of the other files too."""
    for role in columns or {}:
        if role not in COLUMN_ROLES:
            raise InvalidParameterError(
                f"columns: expected keys among {', '.join(COLUMN_ROLES)}, got {role!r}. "
                f"Write it as {{'source': 'from', 'target': 'to'}}."
            )
    options = TableOptions(dict(columns or {}), has_header, separator)
    others = {r: name for r, name in options.columns.items() if r not in EDGE_ROLES.all}
    return options, replace(options, columns=others, are_hints=True)


def _as_path(what: str, path: object) -> Path:
    """Return the path of a file that exists: a mistake is reported before long files are read."""
    if isinstance(path, str | Path) and str(path):
        found = Path(path).expanduser()
        check_is_file(found)
        return found
    raise InvalidParameterError(f"{what}: expected the path of a file, got {path!r:.80}.")

"""The files of a data set folder, one function for each kind of file."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, load_npz

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.build import label_multisets
from embedprop.graph.labels import NumericLabels, TextLabels
from embedprop.graph.multisets import Multisets
from embedprop.graph.name_encoder import NameEncoder
from embedprop.graph.table_layout import Roles
from embedprop.graph.tables import Batch, read_table
from embedprop.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl

Ids = NDArray[np.int32]
SetLabels = tuple[Vocabulary, Multisets]
Loaded = SetLabels | NumericLabels | TextLabels

MATRIX_FILES = {"words.npz": "word", "features.npz": "feature"}
SPLITS = ("train", "valid", "test", "all")


@dataclass(frozen=True, eq=False)
class EdgeRows:
    """The rows of edges.csv.gz that were asked for."""

    sources: Ids
    targets: Ids
    weights: NDArray[np.float32] | None
    relation_ids: Ids | None
    relations: Vocabulary | None


def read_edges(folder: Path, n_nodes: int, *, weighted: bool, split: str) -> EdgeRows:
    """Read the edges between nodes 0 to n_nodes - 1; `split` matters if the file has splits."""
    if split not in SPLITS:
        raise InvalidParameterError(f"split must be one of {', '.join(SPLITS)}, not {split!r}.")
    path = folder / "edges.csv.gz"
    rows: dict[str, list[NDArray[Any]]] = {r: [] for r in ("source", "target", "weight", "relation")}
    relations = _relation_names(folder)
    roles = Roles(("source", "target"), ("weight", "relation", "split"))
    for batch in read_table(path, roles):
        chosen = np.ones(len(batch), dtype=np.bool_)
        if "split" in batch.columns and split != "all":
            chosen = (batch.columns["split"] == split).to_numpy()
        for role in ("source", "target"):
            rows[role].append(_numbered(batch, role, n_nodes)[chosen])
        if weighted and "weight" in batch.columns:
            rows["weight"].append(batch.weights()[chosen])
        if relations is not None and "relation" in batch.columns:
            rows["relation"].append(_numbered(batch, "relation", len(relations))[chosen])
    arrays = {role: np.concatenate(parts) for role, parts in rows.items() if parts}
    return EdgeRows(
        arrays["source"], arrays["target"], arrays.get("weight"), arrays.get("relation"), relations
    )


def _relation_names(folder: Path) -> Vocabulary | None:
    path = folder / "relations.csv.gz"
    if not path.exists():
        return None
    encoder = NameEncoder()
    for batch in read_table(path, Roles(("relation", "name"))):
        encoder.add(batch.names("name"))
    return encoder.vocabulary()


def read_classes(
    folder: Path, n_nodes: int, meta: Mapping[str, Any]
) -> tuple[csr_array[np.bool_], tuple[str, ...]]:
    """Return which node has which class, and the names of the classes."""
    path = folder / "classes.csv.gz"
    encoder = NameEncoder()
    nodes: list[Ids] = [np.empty(0, dtype=np.int32)]
    classes: list[Ids] = [np.empty(0, dtype=np.int32)]
    if path.exists():
        for batch in read_table(path, Roles(("node", "class"))):
            nodes.append(_numbered(batch, "node", n_nodes))
            classes.extend(encoder.add(batch.names("class")))
    found = [str(name) for name in encoder.vocabulary()]
    published: Mapping[str, int] = meta.get("class_index_in_planetoid_files", {})
    names = sorted(found, key=lambda name: (published.get(name, len(found)), _natural(name)))
    column = np.argsort([found.index(name) for name in names]).astype(np.int32)
    rows, columns = np.concatenate(nodes), column[np.concatenate(classes)]
    has_class = np.ones(len(rows), dtype=np.bool_)
    targets = coo_array((has_class, (rows, columns)), shape=(n_nodes, len(names)))
    return csr_array(targets), tuple(names)


def _natural(name: str) -> tuple[int, str]:
    """Sort numbers by value, and before words."""
    return (int(name), "") if name.isdecimal() else (1 << 62, name)


def label_sources(
    folder: Path, meta: Mapping[str, Any]
) -> dict[str, Callable[[int], Loaded]]:
    """Return for each label type a function that loads it, given the number of nodes."""
    sources: dict[str, Callable[[int], Loaded]] = {}
    for file, label_type in MATRIX_FILES.items():
        if (folder / file).exists():
            sources[label_type] = partial(_read_matrix, folder / file)
    described = meta.get("label_types", {})
    for path in sorted(folder.glob("labels_*.csv.gz")):
        label_type = path.name.removeprefix("labels_").removesuffix(".csv.gz")
        kind = str(described.get(label_type, {}).get("kind", "categorical")).partition(" ")[0]
        kind = kind.rstrip(",")
        if kind == "numeric" and _has_attributes(path):
            attributes = _attributes(path)
            for attribute in attributes:
                sources[attribute] = partial(_read_attribute, path, attribute)
            continue
        read = {"numeric": _read_numeric, "text": partial(_read_text, "value")}
        sources[label_type] = partial(read.get(kind, _read_categories), path)
    if "name" in described:
        sources["name"] = partial(_read_text, "name", folder / "nodes.csv.gz")
    return sources

"""The files of a data set folder, one function for each kind of file."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, load_npz

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.adjacency import EdgeRows
from embedprop.graph.build import label_multisets
from embedprop.graph.files.name_encoder import NameEncoder
from embedprop.graph.files.table_layout import Roles
from embedprop.graph.files.tables import Batch, read_table
from embedprop.graph.labels import NumericLabels, TextLabels
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary

Ids = NDArray[np.int32]
SetLabels = tuple[Vocabulary, Multisets]
Loaded = SetLabels | NumericLabels | TextLabels

MATRIX_FILES = {"words.npz": "word", "features.npz": "feature"}
SPLITS = ("train", "valid", "test", "all")


def read_edges(folder: Path, n_nodes: int, *, weighted: bool, split: str) -> EdgeRows:
    """Read the edges between nodes 0 to n_nodes - 1; `split` matters if the file has splits."""
    if split not in SPLITS:
        raise InvalidParameterError(f"split must be one of {', '.join(SPLITS)}, not {split!r}.")
    relations = _relation_names(folder)
    rows: dict[str, list[NDArray[Any]]] = {}
    roles = Roles(("source", "target"), ("weight", "relation", "split"))
    for batch in read_table(folder / "edges.csv.gz", roles):
        found: dict[str, NDArray[Any]] = {
            role: _numbered(batch, role, n_nodes) for role in ("source", "target")
        }
        if weighted and "weight" in batch.columns:
            found["weight"] = batch.weights()
        if relations is not None and "relation" in batch.columns:
            found["relation"] = _numbered(batch, "relation", len(relations))
        chosen = np.ones(len(batch), dtype=np.bool_)
        if "split" in batch.columns and split != "all":
            chosen = (batch.columns["split"] == split).to_numpy()
        for role, column in found.items():
            rows.setdefault(role, []).append(column[chosen])
    arrays = {role: np.concatenate(parts) for role, parts in rows.items()}
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
    if not path.exists():
        return csr_array((n_nodes, 0), dtype=np.bool_), ()
    nodes, class_ids, vocabulary = _read_names(path, "class", n_nodes)
    found = [str(name) for name in vocabulary]
    # Planetoid numbers the classes; elsewhere they are sorted by name.
    published: Mapping[str, int] = meta.get("class_index_in_planetoid_files", {})
    names = sorted(found, key=lambda name: (published.get(name, len(found)), _natural(name)))
    column = np.argsort([found.index(name) for name in names]).astype(np.int32)
    has_class = np.ones(len(nodes), dtype=np.bool_)
    targets = coo_array((has_class, (nodes, column[class_ids])), shape=(n_nodes, len(names)))
    return csr_array(targets), tuple(names)


def _natural(name: str) -> tuple[int, str]:
    """Sort numbers by value, and before words."""
    return (int(name), "") if name.isdecimal() else (1 << 62, name)


def read_labels(
    folder: Path, n_nodes: int, meta: Mapping[str, Any], *, weighted: bool
) -> dict[str, Loaded]:
    """Return all labels of a data set; `meta` has the kind of each label type."""
    loaded: dict[str, Loaded] = {}
    for file, label_type in MATRIX_FILES.items():
        if (folder / file).exists():
            loaded[label_type] = _read_matrix(folder / file, n_nodes, weighted)
    described: Mapping[str, Any] = meta.get("label_types", {})
    for path in sorted(folder.glob("labels_*.csv.gz")):
        label_type = path.name.removeprefix("labels_").removesuffix(".csv.gz")
        kind = str(described.get(label_type, {}).get("kind", "categorical"))
        if kind.startswith("numeric"):
            loaded |= _read_numbers(path, label_type, n_nodes)
        elif kind.startswith("text"):
            loaded[label_type] = _read_texts(path, "value", n_nodes)
        else:
            loaded[label_type] = _read_categories(path, n_nodes)
    if "name" in described:
        loaded["name"] = _read_texts(folder / "nodes.csv.gz", "name", n_nodes)
    return loaded


def _read_matrix(path: Path, n_nodes: int, weighted: bool) -> SetLabels:
    """Read a sparse matrix, row = node, column = label."""
    try:
        matrix = coo_array(load_npz(path))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InvalidGraphError(
            f"{path} is not a sparse matrix ({error}). Get it again."
        ) from error
    if matrix.shape[0] != n_nodes:
        raise InvalidGraphError(
            f"{path}: expected {n_nodes} rows, one for each node, got {matrix.shape[0]}."
        )
    # Ones mean the same as no weights, which take no memory.
    plain = not weighted or bool((matrix.data == 1).all())
    weights = None if plain else matrix.data.astype(np.float32)
    node_ids, label_ids = (index.astype(np.int32) for index in matrix.coords)
    sets = label_multisets(n_nodes, node_ids, label_ids, weights)
    return Vocabulary.trusted(range(matrix.shape[1])), sets


def _read_numbers(path: Path, label_type: str, n_nodes: int) -> dict[str, NumericLabels]:
    """Read a number per node; a file with a column ``attribute`` holds many label types."""
    encoder = NameEncoder()
    rows: list[tuple[Ids, Ids, NDArray[np.float64]]] = []
    for batch in read_table(path, Roles(("node", "value"), ("attribute",))):
        nodes = _numbered(batch, "node", n_nodes)
        attribute_ids = np.zeros(len(nodes), dtype=np.int32)
        if "attribute" in batch.columns:
            attribute_ids = encoder.add(batch.names("attribute"))[0]
        rows.append((nodes, attribute_ids, batch.numbers("value")))
    node_ids, attribute_ids, values = map(np.concatenate, zip(*rows, strict=True))
    labels = {}
    for id_, name in enumerate(encoder.vocabulary() or [label_type]):
        chosen = attribute_ids == id_
        # Of several values of one attribute the first is taken.
        nodes, first = np.unique(node_ids[chosen], return_index=True)
        labels[str(name)] = NumericLabels.from_rows(n_nodes, nodes, values[chosen][first])
    return labels


def _read_texts(path: Path, column: str, n_nodes: int) -> TextLabels:
    """Read a text per node; an empty one is none."""
    texts: list[str | None] = []
    node_ids: list[Ids] = []
    for batch in read_table(path, Roles(("node", column))):
        node_ids.append(_numbered(batch, "node", n_nodes))
        texts.extend(text or None for text in batch.columns[column].to_list())
    return TextLabels.from_rows(n_nodes, np.concatenate(node_ids), texts)


def _read_categories(path: Path, n_nodes: int) -> SetLabels:
    node_ids, label_ids, names = _read_names(path, "value", n_nodes)
    return names, label_multisets(n_nodes, node_ids, label_ids)


def _read_names(path: Path, column: str, n_nodes: int) -> tuple[Ids, Ids, Vocabulary]:
    """Return the node of each row, the id of its name in `column`, and all names."""
    encoder = NameEncoder()
    node_ids: list[Ids] = []
    name_ids: list[Ids] = []
    for batch in read_table(path, Roles(("node", column))):
        node_ids.append(_numbered(batch, "node", n_nodes))
        name_ids.extend(encoder.add(batch.names(column)))
    return np.concatenate(node_ids), np.concatenate(name_ids), encoder.vocabulary()


def _numbered(batch: Batch, role: str, size: int) -> Ids:
    """Return a column of whole numbers from 0 to size - 1."""
    numbers = batch.numbers(role)
    # NaN, which stands for an empty field, fails every comparison and is refused as well.
    good = (numbers >= 0) & (numbers < size) & (numbers == np.floor(numbers))
    if not good.all():
        expected = f"a whole number from 0 to {size - 1}"
        raise batch.bad_value(role, int(np.argmin(good)), expected)
    return numbers.astype(np.int32)

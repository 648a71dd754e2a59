"""The files of a data set folder, one function for each kind of file."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, load_npz

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph import Multisets, Vocabulary
from embedprop.graph.adjacency import EdgeRows
from embedprop.graph.build import label_multisets
from embedprop.graph.files.name_encoder import NameEncoder
from embedprop.graph.files.table_layout import Roles
from embedprop.graph.files.tables import Batch, read_table
from embedprop.graph.labels import NumericLabels, TextLabels

Ids = NDArray[np.int32]
SetLabels = tuple[Vocabulary, Multisets]
Loaded = SetLabels | NumericLabels | TextLabels
Reader = Callable[[Batch], NDArray[Any]]

MATRIX_FILES = {"words.npz": "word", "features.npz": "feature"}
SPLITS = ("train", "valid", "test", "all")


def read_edges(folder: Path, n_nodes: int, *, weighted: bool, split: str) -> EdgeRows:
    """Read the edges between nodes 0 to n_nodes - 1; `split` matters if the file has splits."""
    if split not in SPLITS:
        raise InvalidParameterError(f"split must be one of {', '.join(SPLITS)}, not {split!r}.")
    sizes = {"source": n_nodes, "target": n_nodes}
    readers: dict[str, Reader] = {"weight": Batch.weights} if weighted else {}
    relations = None
    if (folder / "relations.csv.gz").exists():
        encoder = NameEncoder()
        for batch in read_table(folder / "relations.csv.gz", Roles(("relation", "name"))):
            encoder.add(batch.names("name"))
        relations = encoder.vocabulary()
        sizes["relation"] = len(relations)
    if split != "all":
        readers["split"] = lambda batch: (batch.columns["split"] == split).to_numpy()
    roles = Roles(("source", "target"), ("weight", "relation", "split"))
    rows = _columns(folder / "edges.csv.gz", roles, sizes, readers)
    if "split" in rows:
        chosen = rows.pop("split")
        rows = {role: column[chosen] for role, column in rows.items()}
    weights, relation_ids = rows.get("weight"), rows.get("relation")
    return EdgeRows(rows["source"], rows["target"], weights, relation_ids, relations)


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
            node_ids, label_ids, names = _read_names(path, "value", n_nodes)
            loaded[label_type] = names, label_multisets(n_nodes, node_ids, label_ids)
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
    readers: dict[str, Reader] = {
        "attribute": lambda batch: encoder.add(batch.names("attribute"))[0],
        "value": lambda batch: batch.numbers("value"),
    }
    rows = _columns(path, Roles(("node", "value"), ("attribute",)), {"node": n_nodes}, readers)
    attribute_ids = rows.get("attribute", np.zeros(len(rows["node"]), np.int32))
    labels = {}
    for id_, name in enumerate(encoder.vocabulary() or [label_type]):
        chosen = attribute_ids == id_
        # Of several values of one attribute the first is taken.
        nodes, first = np.unique(rows["node"][chosen], return_index=True)
        labels[str(name)] = NumericLabels.from_rows(n_nodes, nodes, rows["value"][chosen][first])
    return labels


def _read_texts(path: Path, column: str, n_nodes: int) -> TextLabels:
    """Read a text per node; an empty one is none."""
    readers: dict[str, Reader] = {column: lambda batch: batch.columns[column].to_numpy()}
    rows = _columns(path, Roles(("node", column)), {"node": n_nodes}, readers)
    return TextLabels.from_rows(n_nodes, rows["node"], [text or None for text in rows[column]])


def _read_names(path: Path, column: str, n_nodes: int) -> tuple[Ids, Ids, Vocabulary]:
    """Return the node of each row, the id of its name in `column`, and all names."""
    encoder = NameEncoder()
    readers: dict[str, Reader] = {column: lambda batch: encoder.add(batch.names(column))[0]}
    rows = _columns(path, Roles(("node", column)), {"node": n_nodes}, readers)
    return rows["node"], rows[column], encoder.vocabulary()


def _columns(
    path: Path, roles: Roles, sizes: Mapping[str, int], readers: Mapping[str, Reader]
) -> dict[str, NDArray[Any]]:
    """Return the columns of a table that are wanted and there.

    Those in `sizes` are whole numbers below the size, the others as their reader gives them.
    """
    pieces: dict[str, list[NDArray[Any]]] = {}
    for batch in read_table(path, roles):
        for role in batch.columns:
            if role in sizes:
                pieces.setdefault(role, []).append(_numbered(batch, role, sizes[role]))
            elif role in readers:
                pieces.setdefault(role, []).append(readers[role](batch))
    return {role: np.concatenate(arrays) for role, arrays in pieces.items()}


def _numbered(batch: Batch, role: str, size: int) -> Ids:
    """Return a column of whole numbers from 0 to size - 1."""
    numbers = batch.numbers(role)
    # NaN, which stands for an empty field, fails every comparison and is refused as well.
    good = (numbers >= 0) & (numbers < size) & (numbers == np.floor(numbers))
    if not good.all():
        expected = f"a whole number from 0 to {size - 1}"
        raise batch.bad_value(role, int(np.argmin(good)), expected)
    return numbers.astype(np.int32)

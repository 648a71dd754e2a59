"""Planetoid's files (ind.NAME.x, .y, .tx, .ty, .allx, .ally, .graph, .test.index) → a data set.

All but the last are pickles that Python 2 wrote. A pickle can name any function to be called, so
the reader here knows six names (`ADMITTED`) and nothing else, and puts a stand-in for each: no code
of NumPy or SciPy runs before all is read and checked. No other pickle is read anywhere.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from embedprop.datasets.converters import Converted, undirected_rows, unexpected
from embedprop.errors import InvalidGraphError

KINDS = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
N_VALIDATION = 500
_NUMBERS = frozenset(("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"))
_BYTE_ORDERS = frozenset("<>=|")


class _Dtype:
    """Stands for numpy.dtype: the type of one number."""

    def __init__(self, code: str, *_flags: object) -> None:
        if code not in _NUMBERS:
            raise ValueError(f"an array of {code!r} instead of numbers")
        self.code, self.byte_order = code, "="

    def __setstate__(self, state: Sequence[Any]) -> None:
        if state[1] not in _BYTE_ORDERS:
            raise ValueError(f"the byte order {state[1]!r}")
        self.byte_order = state[1]


class _Array:
    """Stands for numpy.ndarray, and for the function that makes an empty one to be filled."""

    values: NDArray[Any]

    def __init__(self, *_empty: object) -> None:
        self.values = np.empty(0)

    def __setstate__(self, state: Sequence[Any]) -> None:
        _version, shape, dtype, is_fortran, content = state
        if not isinstance(dtype, _Dtype):
            raise ValueError("an array without the type of its numbers")
        # Python 2's bytes were read as text, a character per byte: this turns them back.
        flat = np.frombuffer(content.encode("latin-1"), np.dtype(dtype.byte_order + dtype.code))
        self.values = flat.reshape(shape, order="F" if is_fortran else "C")


class _Matrix:
    """Stands for scipy.sparse.csr_matrix."""

    state: Mapping[str, Any] = {}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.state = state

    def checked(self) -> csr_array[np.float32]:
        """Return the matrix, after a check that every index is in range."""
        parts = [self.state[part] for part in ("data", "indices", "indptr")]
        if not all(isinstance(part, _Array) for part in parts):
            raise ValueError("a matrix that is not made of arrays")
        n_rows, n_columns = (int(size) for size in self.state["_shape"])
        types = np.float32, np.int32, np.int32
        arrays = (part.values.astype(kind) for part, kind in zip(parts, types, strict=True))
        matrix = csr_array(tuple(arrays), shape=(n_rows, n_columns))
        # Before any use: an index out of range would read memory that is not the matrix.
        matrix.check_format(full_check=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix


class _Lists(dict[int, list[int]]):
    """Stands for collections.defaultdict of lists."""

    def __init__(self, *_factory: object) -> None:
        super().__init__()

    def __setstate__(self, state: object) -> None:
        raise ValueError(f"a dictionary with the state {state!r}")


ADMITTED: Mapping[tuple[str, str], type] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("scipy.sparse.csr", "csr_matrix"): _Matrix,
    ("collections", "defaultdict"): _Lists,
    ("__builtin__", "list"): list,
}


class _RestrictedUnpickler(pickle.Unpickler):
    """Reads a pickle that names nothing but what is ADMITTED."""

    def find_class(self, module: str, name: str) -> type:
        """Return the stand-in of an admitted name; refuse every other."""
        if (module, name) not in ADMITTED:
            wanted = f"{module}.{name}"
            raise pickle.UnpicklingError(f"it asks for {wanted}, which no Planetoid file needs")
        return ADMITTED[module, name]


def read_planetoid_pickle(path: Path) -> NDArray[Any] | csr_array[np.float32] | dict[int, Any]:
    """Return the array, sparse matrix or dictionary of lists in a file; run nothing from it.

    Raises
    ------
    InvalidGraphError
        The file is not such a pickle, or asks for anything that is not in ADMITTED.
    """
    try:
        with path.open("rb") as file:
            found = _RestrictedUnpickler(file, encoding="latin-1").load()
        if isinstance(found, _Array):
            return found.values
        if isinstance(found, _Matrix):
            return found.checked()
        if type(found) is _Lists:
            return dict(found)
    except OSError:
        raise
    except Exception as error:  # a damaged pickle can raise whatever there is
        raise InvalidGraphError(f"{path} is refused: {error}. Get the file again.") from error
    raise InvalidGraphError(
        f"{path} is refused: expected an array, a sparse matrix or lists of neighbors, but it "
        f"holds a {type(found).__name__.strip('_')}. Get the file again."
    )


def convert_planetoid(files: Mapping[str, Path], class_names: Sequence[str]) -> Converted:
    """Return the data set in Planetoid's files, with Planetoid's numbers of nodes.

    The graph is undirected: the files hold each citation in both directions, so who cites whom
    is lost. Self-loops stay. Nodes that only the graph names (15 in Citeseer) have no words and no
    class.

    Parameters
    ----------
    files
        Kind (one of KINDS) → its file.
    class_names
        The name of each class, by Planetoid's numbers; the files do not contain it.
    """
    words = {kind: _words(files[kind]) for kind in ("x", "tx", "allx")}
    classes = {kind: _classes(files[kind], len(class_names)) for kind in ("y", "ty", "ally")}
    n_train, n_test, n_before = (len(found) for found in classes.values())
    for one, other, fits in (
        ("x", "y", words["x"].shape[0] == n_train),
        ("tx", "ty", words["tx"].shape[0] == n_test),
        ("allx", "ally", words["allx"].shape[0] == n_before),
        ("tx", "allx", words["tx"].shape[1] == words["allx"].shape[1]),
        ("y", "ally", n_train + N_VALIDATION <= n_before),
    ):
        if not fits:
            raise InvalidGraphError(
                f"{files[one]} and {files[other].name} do not fit together: their sizes differ. "
                f"Get both again."
            )
    edges, n_nodes = _edges(files["graph"])
    test = _test_nodes(files["test.index"], n_nodes, n_before, n_test)
    # Nodes of allx keep their row as number; those of tx are where test.index says.
    nodes = np.concatenate([np.arange(n_before), test])
    rows, columns = np.nonzero(np.concatenate([classes["ally"], classes["ty"]]))
    class_rows = np.stack([nodes[rows], columns], axis=1)
    entries = vstack([words["allx"], words["tx"]], format="coo")
    places = nodes[entries.coords[0]], entries.coords[1]
    placed = csr_array((entries.data, places), shape=(n_nodes, entries.shape[1]))
    placed.sort_indices()
    validation = np.arange(n_train, n_train + N_VALIDATION)
    return Converted(
        n_nodes,
        edges,
        class_rows[np.lexsort(class_rows.T[::-1])],
        class_names,
        words=placed,
        split={"train": np.arange(n_train), "val": validation, "test": np.sort(test)},
    )


def _words(path: Path) -> csr_array[np.float32]:
    if not isinstance(found := read_planetoid_pickle(path), csr_array):
        raise unexpected(path, "a sparse matrix of words")
    return found


def _classes(path: Path, n_classes: int) -> NDArray[Any]:
    found = read_planetoid_pickle(path)
    if isinstance(found, np.ndarray) and found.ndim == 2 and found.shape[1] == n_classes:
        return found
    raise unexpected(path, f"an array with {n_classes} columns, the classes")


def _edges(path: Path) -> tuple[NDArray[np.int64], int]:
    """Return the edges, and the number of nodes."""
    found = read_planetoid_pickle(path)
    if not isinstance(found, dict) or not found:
        raise unexpected(path, "the neighbors of each node")
    n_nodes = len(found)
    arcs = [(node, other) for node, others in found.items() for other in others]
    # Not isinstance: True is an int too, and a pickle may hold it.
    flat = chain(found, *arcs)
    if not all(type(node) is int and 0 <= node < n_nodes for node in flat):
        raise unexpected(path, f"nodes from 0 to {n_nodes - 1}")
    pairs = np.array(arcs, dtype=np.int64).reshape(-1, 2)
    return undirected_rows(pairs[:, 0], pairs[:, 1]), n_nodes


def _test_nodes(path: Path, n_nodes: int, n_before: int, n_test: int) -> NDArray[np.int64]:
    """Return the node of each row of tx and ty."""
    lines = path.read_bytes().split()
    numbers = [int(line) for line in lines if line.isdigit()]
    good = len(numbers) == len(lines) == len(set(numbers)) == n_test
    if not good or not all(n_before <= number < n_nodes for number in numbers):
        nodes = f"{n_test} different nodes from {n_before} to {n_nodes - 1}"
        raise unexpected(path, f"{nodes}, one in each line")
    return np.array(numbers, dtype=np.int64)

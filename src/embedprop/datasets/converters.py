"""LINQS's and MATLAB's files → a data set, in the form in which the folder format writes it.

LINQS's files NAME.content and NAME.cites have the direction of each citation; MATLAB's files have
the matrices `network` and `group`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, vstack

from embedprop.errors import InvalidGraphError

_N_PARTS = 3  # an id, at least one word, a class


@dataclass(frozen=True, eq=False)
class Converted:
    """A data set in the form in which the folder format writes it.

    Parameters
    ----------
    n_nodes
        Nodes are 0 to n_nodes - 1.
    edges
        (n_edges, 2), sorted, no row twice. Undirected: source ≤ target.
    class_rows
        (n_rows, 2): node and index in `class_names`, sorted.
    weights
        One per edge, or None.
    words
        (n_nodes, n_words) float32, or None.
    split
        ``train``, ``val``, ``test`` → nodes, or None.
    original_ids
        The name of each node in the original files, or None if they number the nodes.
    """

    n_nodes: int
    edges: NDArray[np.int64]
    class_rows: NDArray[np.int64]
    class_names: Sequence[str]
    directed: bool = False
    weights: NDArray[np.float64] | None = None
    words: csr_array[np.float32] | None = None
    split: Mapping[str, NDArray[np.int64]] | None = None
    original_ids: Sequence[str] | None = None

    @property
    def nodes_without_words(self) -> list[int]:
        """The nodes whose row of words is empty."""
        if self.words is None:
            return []
        return np.flatnonzero(np.diff(self.words.indptr) == 0).tolist()


def unexpected(place: object, expected: str) -> InvalidGraphError:
    """Return the error about an original file that does not hold what it should."""
    return InvalidGraphError(f"{place}: expected {expected}. Get the file again.")


def undirected_rows(sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:
    """Return each pair once, smaller node first, sorted; self-loops stay."""
    pairs = np.stack([np.minimum(sources, targets), np.maximum(sources, targets)], axis=1)
    return np.unique(pairs.astype(np.int64).reshape(-1, 2), axis=0)


def convert_linqs(content: Path, cites: Path) -> Converted:
    """Return the data set in LINQS's files: a directed graph, source cites target.

    Nodes are numbered in the order of `content`; papers that only `cites` names (15 in Citeseer)
    follow in the order of their appearance, without words and without class. Self-citations stay,
    a line that is there twice counts once.

    Parameters
    ----------
    content
        In each line the id of a paper, a number for each word, and its class.
    cites
        In each line the id of the cited paper, then the id of the citing paper.
    """
    ids: dict[str, int] = {}
    class_of: list[str] = []
    rows: list[csr_array[np.float32]] = []
    for place, parts in _lines(content):
        if len(parts) < _N_PARTS or (rows and len(parts) - 2 != rows[0].shape[1]):
            expected = f"{rows[0].shape[1]} words" if rows else "words"
            raise unexpected(place, f"an id, {expected} and a class")
        if parts[0] in ids:
            raise unexpected(place, f"a new id, got {parts[0]!r} again")
        ids[parts[0]] = len(ids)
        class_of.append(parts[-1])
        rows.append(_words(place, parts[1:-1]))
    if not rows:
        raise unexpected(content, "papers, got an empty file")
    arcs = []
    for place, parts in _lines(cites):
        if len(parts) != 2:
            raise unexpected(place, "two ids, the cited paper and the citing one")
        # A paper that only this file names gets the next number.
        cited, citing = (ids.setdefault(name, len(ids)) for name in parts)
        arcs.append((citing, cited))
    class_names, columns = np.unique(class_of, return_inverse=True)
    # Papers without a line of content have no words: empty rows at the end.
    nothing = csr_array((1, rows[0].shape[1]), dtype=np.float32)
    words = vstack([*rows, *[nothing] * (len(ids) - len(rows))], format="csr")
    return Converted(
        len(ids),
        np.unique(np.array(arcs, dtype=np.int64).reshape(-1, 2), axis=0),
        np.stack([np.arange(len(columns)), columns], axis=1),
        class_names.tolist(),
        directed=True,
        words=csr_array(words),
        original_ids=list(ids),
    )


def _words(place: str, texts: list[str]) -> csr_array[np.float32]:
    try:
        weights = np.array(texts, dtype=np.float32)
    except ValueError:
        weights = np.array([np.nan], dtype=np.float32)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise unexpected(place, "a number for each word, not negative")
    return csr_array(weights[None, :])


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Give the place and the parts of each line that is not blank."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if parts := line.split():
                    yield f"{path}, line {number}", parts
    except UnicodeDecodeError as error:
        raise unexpected(path, f"text ({error})") from error


def convert_mat(path: Path) -> Converted:
    """Return the data set in a MATLAB file: an undirected graph, several classes per node.

    Row and column i of `network` belong to node i, self-loops stay, and numbers other than one are
    weights. Column j of `group` is the class named j.
    """
    network, group = _matrices(path)
    n_nodes = network.shape[0]
    if network.shape[1] != n_nodes or group.shape[0] != n_nodes:
        sizes = " and ".join(" x ".join(map(str, matrix.shape)) for matrix in (network, group))
        raise unexpected(path, f"a square network and a group with as many rows, got {sizes}")
    if not np.isfinite(network.data).all() or (network.data < 0).any():
        raise unexpected(path, "weights that are finite and not negative")
    # Only one half of the matrix is kept below, so both must say the same.
    if csr_array(network - csr_array(network.T)).count_nonzero():
        raise unexpected(path, "a symmetric network, an undirected graph")
    entries = coo_array(network)
    rows, columns = (index.astype(np.int64) for index in entries.coords)
    once = rows <= columns
    nodes, classes = (index.astype(np.int64) for index in coo_array(group).coords)
    weights = entries.data[once].astype(np.float64)
    return Converted(
        n_nodes,
        np.stack([rows[once], columns[once]], axis=1),
        np.stack([nodes, classes], axis=1),
        [str(column) for column in range(group.shape[1])],
        weights=None if bool((weights == 1).all()) else weights,
    )


def _matrices(path: Path) -> tuple[csr_array[Any], csr_array[Any]]:
    """Return `network` and `group`, rows and columns in order, without stored zeros."""
    from scipy.io import loadmat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of a variable that is there twice, for example
            found = loadmat(path, variable_names=["network", "group"])
        network, group = (csr_array(found[name]) for name in ("network", "group"))
    except OSError:
        raise
    except Exception as error:  # a damaged file can raise whatever there is
        expected = f"a MATLAB file with the matrices network and group ({error})"
        raise unexpected(path, expected) from error
    for matrix in (network, group):
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return network, group

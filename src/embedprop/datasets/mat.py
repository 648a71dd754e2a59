"""MATLAB files with the matrices `network` and `group` → a data set."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from embedprop.datasets.converted import Converted, unexpected


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

"""Words taken away, and three ways to fill them in, among them feature propagation."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from embedprop.graph import Graph
from embedprop.graph.matrix import as_matrix, symmetric_adjacency
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary

PROPAGATION_STEPS = 40

Vectors = NDArray[np.float32]


def without_labels(graph: Graph, label_type: str, nodes: NDArray[np.int64]) -> Graph:
    """Return the graph without the labels of some nodes; labels that are then unused go as well."""
    sets = graph.labels[label_type]
    owners = sets.owners
    kept = ~np.isin(owners, nodes)
    used, ids = np.unique(sets.ids[kept], return_inverse=True)
    sizes = np.bincount(owners[kept], minlength=graph.n_nodes)
    weights = None if sets.weights is None else sets.weights[kept]
    left = Multisets(np.concatenate([[0], np.cumsum(sizes)]), ids.astype(np.int32), weights)
    names = graph.vocabulary(label_type)
    vocabulary = Vocabulary.trusted(names[id_] for id_ in used.tolist())
    return dataclasses.replace(
        graph,
        labels={**graph.labels, label_type: left},
        vocabularies={**graph.vocabularies, label_type: vocabulary},
    )


def features(graph: Graph, words: str) -> tuple[Vectors, NDArray[np.bool_]]:
    """Return the words as a dense matrix, and which nodes have some; the others are zeros."""
    sets = graph.labels[words]
    return as_matrix(sets, len(graph.vocabulary(words))).toarray(), sets.sizes > 0


def propagated(graph: Graph, x: Vectors, known: NDArray[np.bool_]) -> Vectors:
    """Return what PyG's FeaturePropagation returns, without its masks of all entries."""
    adjacency = symmetric_adjacency(graph)
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = diags_array(np.where(degrees > 0, degrees, 1).astype(np.float32) ** -0.5)
    unknown = np.flatnonzero(~known)
    steps = csr_array(scale @ adjacency @ scale)[unknown]
    heard = (steps @ csr_array(x)).toarray()  # rows of x without words are zeros
    among = csr_array(steps[:, unknown])
    filled = np.zeros_like(heard)
    for _ in range(PROPAGATION_STEPS):
        filled = among @ filled
        filled += heard
    out = x.copy()
    out[unknown] = filled
    return out


def check_propagation(graph: Graph, x: Vectors, known: NDArray[np.bool_]) -> None:
    """Stop if `propagated` is not PyG's transform; seen on some of the columns."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.transforms import FeaturePropagation

    some = np.linspace(0, x.shape[1] - 1, 50).astype(int)
    near = graph.neighbors
    ends = np.stack([near.ids.astype(np.int64), np.repeat(np.arange(len(x)), near.sizes)])
    mask = torch.tensor(~known)[:, None].expand(-1, len(some))
    data = Data(x=torch.tensor(x[:, some]), edge_index=torch.tensor(ends))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's sparse matrices are in beta state
        expected = FeaturePropagation(mask, PROPAGATION_STEPS)(data).x.numpy()
    np.testing.assert_allclose(propagated(graph, x[:, some], known), expected, atol=1e-5)

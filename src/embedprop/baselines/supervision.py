"""What a classifier may see of the targets: checked once, for all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embedprop.baselines.registry import Classifier, Nodes
from embedprop.errors import InvalidParameterError
from embedprop.graph.graph import Graph


def known_targets(
    graph: Graph, targets: csr_array[np.bool_], nodes: Nodes, what: str = "train"
) -> tuple[Nodes, NDArray[np.float64]]:
    """Return the nodes that have a class, and 1 where they have it: (nodes, classes)."""
    if targets.shape[0] != graph.n_nodes:
        raise InvalidParameterError(
            f"targets has {targets.shape[0]} rows, but the graph has {graph.n_nodes} nodes. "
            f"Expected one row per node, in the order of graph.nodes."
        )
    nodes = checked_nodes(nodes, graph.n_nodes, what)
    classes = np.asarray(targets[nodes].toarray(), np.float64) if len(nodes) else np.empty((0, 0))
    has_class = classes.any(axis=1)
    if what == "train" and not has_class.any():
        raise InvalidParameterError(
            f"None of the {len(nodes)} training nodes has a class: there is nothing to learn from."
        )
    return nodes[has_class], classes[has_class]


def checked_nodes(nodes: Nodes, n_nodes: int, what: str) -> Nodes:
    """Return rows of nodes as int64; an error if one is out of range."""
    nodes = np.asarray(nodes).astype(np.int64, casting="same_kind")
    if len(nodes) and not (nodes.min() >= 0 and nodes.max() < n_nodes):
        wrong = nodes[(nodes < 0) | (nodes >= n_nodes)][0]
        raise InvalidParameterError(
            f"{what} holds {wrong}, but rows of nodes run from 0 to {n_nodes - 1}."
        )
    return nodes


def shares(classes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a distribution over the classes of each node: 1 / k for each of its k classes."""
    return np.asarray(classes / classes.sum(axis=1, keepdims=True))


def checked_hidden(method: Classifier, hidden: Nodes, n_nodes: int) -> Nodes:
    """Return the rows of hidden nodes; an error for a method that needs all nodes in training."""
    if len(hidden) and method.for_hidden is not None:
        raise InvalidParameterError(
            f"baseline {method.name!r} learns a vector of each node in training, but {len(hidden)} "
            f"nodes are hidden. Use {method.for_hidden!r}."
        )
    return checked_nodes(hidden, n_nodes, "hidden")

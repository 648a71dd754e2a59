"""The methods to compare with, by name, and the two faces that they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from embedprop.instance.registry import Registry

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from embedprop.graph.graph import Graph

Vectors = NDArray[np.float32]
Scores = NDArray[np.float64]
Nodes = NDArray[np.int64]

NO_NODES: Nodes = np.empty(0, np.int64)
NO_NODES.flags.writeable = False

BASELINES = Registry[type[Any]]("baseline")


class Embedder(Protocol):
    """Learns a vector per node without targets."""

    name: ClassVar[str]

    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, dim), rows in the order of ``graph.nodes``."""
        ...


class Classifier(Protocol):
    """Learns from the targets of some nodes and scores every class for every node."""

    name: ClassVar[str]

    def fit_predict(
        self,
        graph: Graph,
        targets: csr_array[np.bool_],
        train: Nodes,
        validation: Nodes = ...,
        hidden: Nodes = ...,
    ) -> Scores:
        """Return (n_nodes, n_classes): the higher, the likelier.

        Parameters
        ----------
        graph
            The whole graph, hidden nodes included.
        targets
            (n_nodes, n_classes): the classes of each node; only rows in `train` and `validation`
            are read.
        train, validation
            Rows of nodes to learn from, and to decide when to stop.
        hidden
            Rows of nodes that were absent in training and are classified afterwards.
        """
        ...


def is_classifier(name: str) -> bool:
    """Whether the baseline of this name is a `Classifier`; else it is an `Embedder`.

    >>> is_classifier("wvrn"), is_classifier("deepwalk")
    (True, False)
    """
    return hasattr(BASELINES[name], "fit_predict")

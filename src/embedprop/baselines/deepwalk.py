"""DeepWalk: skip-gram over uniform random walks."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from embedprop.baselines.extras import require
from embedprop.baselines.node2vec import Node2Vec
from embedprop.baselines.registry import BASELINES, Vectors

if TYPE_CHECKING:
    from embedprop.graph.graph import Graph


@BASELINES.register("deepwalk")
class DeepWalk:
    """DeepWalk (Perozzi et al., KDD 2014) as the paper ran it: node2vec's code with p = q = 1.

    Parameters
    ----------
    dim, n_walks, walk_length, window, epochs, n_negatives, learning_rate
        node2vec's (its authors' settings for DeepWalk too): see `Node2Vec`.
    random_state, n_threads
        As in `Node2Vec`.
    """

    name: ClassVar[str] = "deepwalk"

    def __init__(
        self,
        *,
        dim: int = 128,
        n_walks: int = 10,
        walk_length: int = 80,
        window: int = 10,
        epochs: int = 1,
        n_negatives: int = 5,
        learning_rate: float = 0.025,
        random_state: int | None = 0,
        n_threads: int | None = None,
    ) -> None:
        self.dim = dim
        self.n_walks = n_walks
        self.walk_length = walk_length
        self.window = window
        self.epochs = epochs
        self.n_negatives = n_negatives
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.n_threads = n_threads

    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, dim)."""
        require(self.name, "gensim")
        return Node2Vec(p=1.0, q=1.0, **vars(self)).fit_transform(graph)

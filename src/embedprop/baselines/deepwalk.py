"""DeepWalk: skip-gram over uniform random walks."""

from __future__ import annotations

from embedprop.baselines.node2vec import SkipGram
from embedprop.baselines.registry import Vectors, baseline
from embedprop.graph.graph import Graph


@baseline("deepwalk")
class DeepWalk(SkipGram):
    """DeepWalk (Perozzi et al., KDD 2014) as the paper ran it: node2vec's code with p = q = 1.

    Parameters
    ----------
    dim, n_walks, walk_length, window, epochs, n_negatives, learning_rate
        node2vec's (its authors' settings for DeepWalk too): see `Node2Vec`.
    random_state, n_threads
        As in `Node2Vec`.
    """

    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, dim)."""
        return self.learn(graph, p=1.0, q=1.0)

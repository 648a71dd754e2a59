"""GCN and GCN-I: the graph convolutional network, transductive and inductive."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.registry import Classifier, Examples, Nodes, Scores, baseline
from embedprop.baselines.words import WordReader, row_normalized
from embedprop.graph import Graph
from embedprop.methods.random_streams import RandomStreams

Edges = tuple[NDArray[np.int64], NDArray[np.float32] | None]


@dataclass(frozen=True, kw_only=True)
class TwoLayers(WordReader, Classifier):
    """The network that both share; parameters as in `GCN`."""

    hidden_dim: int = 16
    dropout: float = 0.5
    l2: float = 5e-4
    learning_rate: float = 0.01
    epochs: int = 200
    patience: int = 10

    def learn(self, graph: Graph, examples: Examples) -> Scores:
        """Return log-probabilities; training stops by validation nodes if there are any."""
        self.require("torch", "torch-geometric")
        from embedprop.baselines.gcn_network import Network

        features = row_normalized(self.word_matrix(graph))
        edges = message_edges(graph, examples.hidden)
        streams = RandomStreams.from_random_state(self.random_state)
        # torch takes 63 bits as a seed.
        with self.torch_run(int(streams.key("gcn") >> np.uint64(1))):
            network = Network(self, features, edges, examples.classes.shape[1])
            network.train(examples)
            return network.scores()


@baseline("gcn")
class GCN(TwoLayers):
    """The two-layer network of Kipf & Welling (ICLR 2017), with their settings for citations.

    Layers by PyTorch Geometric. The words of a node, scaled to sum 1, are its input. A node with
    several classes is a target of equal shares.

    Parameters
    ----------
    hidden_dim, dropout, l2, learning_rate, epochs
        16 hidden units, dropout 0.5 before both layers, L2 of 5e-4 on the first, Adam with 0.01,
        at most 200 epochs: the paper's.
    patience
        With validation nodes, stop when their loss exceeds its mean over the last 10 epochs.
    label_types, words
        What the network sees, as in `BagOfWords`; ``label_types=["node"]`` for a graph without
        words.
    random_state, n_threads
        Seed, and threads for torch (default: as many as torch wants).
    """

    for_hidden = "gcn-i"


@baseline("gcn-i")
class InductiveGCN(TwoLayers):
    """GCN-I: hidden nodes hear from known ones, but known ones do not hear from them.

    The paper removes "edges from training to test nodes" and keeps "those from test nodes to
    training nodes". Read as rows of the adjacency matrix, a known node's row has no hidden node:
    training is that of the graph without hidden nodes. Without any hidden node it is `GCN`.

    Parameters
    ----------
    hidden_dim, dropout, l2, learning_rate, epochs, patience
        The paper used those of the transductive setting: see `GCN`.
    label_types, words, random_state, n_threads
        As in `GCN`.
    """


def message_edges(graph: Graph, hidden: Nodes) -> Edges:
    """Return (2, edges), the sender and the receiver of each message, and the edges' weights."""
    near = graph.neighbors
    is_hidden = np.zeros(graph.n_nodes, np.bool_)
    is_hidden[hidden] = True
    kept = ~is_hidden[near.ids] | is_hidden[near.owners]
    edges = np.stack([near.ids[kept], near.owners[kept]]).astype(np.int64)
    return edges, None if near.weights is None else near.weights[kept]

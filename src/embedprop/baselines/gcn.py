"""GCN and GCN-I: the graph convolutional network, transductive and inductive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.extras import graph_convolution, require, torch_run
from embedprop.baselines.registry import BASELINES, NO_NODES, Nodes, Scores
from embedprop.baselines.supervision import (
    checked_nodes,
    known_targets,
    refuse_hidden,
    shares,
)
from embedprop.baselines.words import Words, row_normalized, word_matrix
from embedprop.methods.random_streams import RandomStreams

if TYPE_CHECKING:
    import torch
    from scipy.sparse import csr_array

    from embedprop.graph.graph import Graph


Edges = tuple[NDArray[np.int64], NDArray[np.float32] | None]


@BASELINES.register("gcn")
class GCN:
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

    name: ClassVar[str] = "gcn"

    def __init__(
        self,
        *,
        hidden_dim: int = 16,
        dropout: float = 0.5,
        l2: float = 5e-4,
        learning_rate: float = 0.01,
        epochs: int = 200,
        patience: int = 10,
        label_types: Sequence[str] | None = None,
        words: Words = "binary",
        random_state: int | None = 0,
        n_threads: int | None = None,
    ) -> None:
        self.hidden_dim = hidden_dim
        self.dropout = dropout
        self.l2 = l2
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.patience = patience
        self.label_types = label_types
        self.words = words
        self.random_state = random_state
        self.n_threads = n_threads

    def fit_predict(
        self,
        graph: Graph,
        targets: csr_array[np.bool_],
        train: Nodes,
        validation: Nodes = NO_NODES,
        hidden: Nodes = NO_NODES,
    ) -> Scores:
        """Return log-probabilities."""
        refuse_hidden(self.name, hidden, "gcn-i")
        edges = message_edges(graph, NO_NODES)
        return fit_predict_gcn(self, graph, edges, targets, train, validation)


@BASELINES.register("gcn-i")
class InductiveGCN:
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

    name: ClassVar[str] = "gcn-i"

    def __init__(
        self,
        *,
        hidden_dim: int = 16,
        dropout: float = 0.5,
        l2: float = 5e-4,
        learning_rate: float = 0.01,
        epochs: int = 200,
        patience: int = 10,
        label_types: Sequence[str] | None = None,
        words: Words = "binary",
        random_state: int | None = 0,
        n_threads: int | None = None,
    ) -> None:
        self.hidden_dim = hidden_dim
        self.dropout = dropout
        self.l2 = l2
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.patience = patience
        self.label_types = label_types
        self.words = words
        self.random_state = random_state
        self.n_threads = n_threads

    def fit_predict(
        self,
        graph: Graph,
        targets: csr_array[np.bool_],
        train: Nodes,
        validation: Nodes = NO_NODES,
        hidden: Nodes = NO_NODES,
    ) -> Scores:
        """Return log-probabilities."""
        hidden = checked_nodes(hidden, graph.n_nodes, "hidden")
        edges = message_edges(graph, hidden)
        return fit_predict_gcn(self, graph, edges, targets, train, validation)


def message_edges(graph: Graph, hidden: Nodes) -> Edges:
    """Return (2, edges): from whom to whom a message goes, and the weights of the edges."""
    near = graph.neighbors
    to = np.repeat(np.arange(graph.n_nodes), near.sizes)
    is_hidden = np.zeros(graph.n_nodes, np.bool_)
    is_hidden[hidden] = True
    kept = ~is_hidden[near.ids] | is_hidden[to]
    edges = np.stack([near.ids[kept].astype(np.int64), to[kept]])
    return edges, None if near.weights is None else near.weights[kept]


def fit_predict_gcn(
    method: GCN | InductiveGCN,
    graph: Graph,
    edges: Edges,
    targets: csr_array[np.bool_],
    train: Nodes,
    validation: Nodes,
) -> Scores:
    """Train on `train`, stop by `validation`, and return log-probabilities for all nodes."""
    require(method.name, "torch", "torch-geometric")
    import torch

    features = row_normalized(word_matrix(method.name, graph, method.label_types, method.words))
    train, classes = known_targets(graph, targets, train)
    validation, choosing = known_targets(graph, targets, validation, "validation")
    seed = int(RandomStreams.from_random_state(method.random_state).key("gcn") >> np.uint64(1))
    with torch_run(seed, method.n_threads):
        network = _Network(method, features, edges, classes.shape[1])
        network.train(train, classes, validation, choosing)
        with torch.no_grad():
            return network.log_probabilities(training=False).numpy().astype(np.float64)


class _Network:
    def __init__(
        self,
        method: GCN | InductiveGCN,
        features: csr_array[np.float32],
        edges: Edges,
        n_classes: int,
    ) -> None:
        import torch

        self.method = method
        self.rows = torch.from_numpy(np.stack(features.nonzero()).astype(np.int64))
        self.values = torch.from_numpy(features.data)
        self.shape = features.shape
        self.edges = torch.from_numpy(edges[0])
        self.weights = None if edges[1] is None else torch.from_numpy(edges[1])
        self.first = graph_convolution(features.shape[1], method.hidden_dim)
        self.second = graph_convolution(method.hidden_dim, n_classes)

    def log_probabilities(self, training: bool) -> torch.Tensor:
        import torch
        from torch.nn.functional import dropout, log_softmax, relu

        share = self.method.dropout
        values = dropout(self.values, share, training)
        words = torch.sparse_coo_tensor(
            self.rows, values, self.shape, is_coalesced=True, check_invariants=False
        )
        h = relu(self.first(words, self.edges, self.weights))
        return log_softmax(
            self.second(dropout(h, share, training), self.edges, self.weights), dim=1
        )

    def train(
        self,
        train: Nodes,
        classes: NDArray[np.float64],
        validation: Nodes,
        choosing: NDArray[np.float64],
    ) -> None:
        import torch

        method = self.method
        groups = [
            {"params": self.first.parameters(), "weight_decay": method.l2},
            {"params": self.second.parameters(), "weight_decay": 0.0},
        ]
        optimizer = torch.optim.Adam(groups, lr=method.learning_rate)
        losses: list[float] = []
        for _ in range(method.epochs):
            optimizer.zero_grad()
            _cross_entropy(self.log_probabilities(training=True), train, classes).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if not len(validation):
                continue
            with torch.no_grad():
                loss = _cross_entropy(self.log_probabilities(training=False), validation, choosing)
                squares = sum(float(w.square().sum()) for w in self.first.parameters())
            # The reference's loss contains the L2 term, so it counts here too.
            losses.append(float(loss) + method.l2 * squares / 2)
            recent = losses[-method.patience - 1 : -1]
            if len(losses) > method.patience + 1 and losses[-1] > np.mean(recent):
                break


def _cross_entropy(
    log_probabilities: torch.Tensor, nodes: Nodes, classes: NDArray[np.float64]
) -> torch.Tensor:
    import torch

    wanted = torch.from_numpy(shares(classes).astype(np.float32))
    return -(wanted * log_probabilities[torch.from_numpy(nodes)]).sum(dim=1).mean()

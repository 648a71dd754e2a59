"""Planetoid-I: classes and contexts of the graph together, a vector made from words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from embedprop.baselines.extras import require, torch_run
from embedprop.baselines.planetoid_contexts import class_contexts, graph_contexts
from embedprop.baselines.planetoid_model import (
    ClassLoss,
    ContextLoss,
    glorot,
    word_rows,
    zeros,
)
from embedprop.baselines.planetoid_training import Schedule, train_planetoid
from embedprop.baselines.registry import BASELINES, NO_NODES, Nodes, Scores
from embedprop.baselines.supervision import checked_nodes, known_targets
from embedprop.baselines.walking import WalkGraph
from embedprop.baselines.words import Words, word_matrix
from embedprop.methods.random_streams import RandomStreams

if TYPE_CHECKING:
    import torch
    from scipy.sparse import csr_array

    from embedprop.graph.graph import Graph


@BASELINES.register("planetoid-i")
class PlanetoidI:
    """The inductive model of Yang, Cohen & Salakhutdinov (ICML 2016), with their code's values.

    As `PlanetoidT`, but a node's vector is a layer of rectified units over its words, so that
    hidden nodes have one too: they take no part in training, neither by words nor by edges.

    One thing differs from their code: a step of the context loss moves no vector by more than 1,
    because without a limit some seeds diverge.

    Parameters
    ----------
    dim
        Rectified units: 50.
    n_steps
        Steps of the classification loss: 5000, after which the paper saw Cora and Citeseer
        converged; it took 20000 for Pubmed.
    n_class_contexts, n_graph_contexts
        Batches of each kind of context before that: 10000 and 400.
    graph_share
        How often a step is preceded by a batch of graph contexts: 0.1.
    walk_steps, window
        Walks of 10 steps, contexts at most 3 steps away.
    batch_size, graph_batch_size, class_batch_size
        Training nodes, walks, and pairs of the same class in a batch: 200, 20, 20.
    n_negatives
        Negatives for each pair; 0, the code's default, takes the softmax over all nodes.
    learning_rate, context_rate
        Of the classification loss, 0.1, and of the (summed) context loss, 0.001.
    label_types, words
        As in `BagOfWords`.
    random_state, n_threads
        Seed, and threads for torch (default: as many as torch wants).
    """

    name: ClassVar[str] = "planetoid-i"

    def __init__(
        self,
        *,
        dim: int = 50,
        n_steps: int = 5000,
        n_class_contexts: int = 10_000,
        n_graph_contexts: int = 400,
        graph_share: float = 0.1,
        walk_steps: int = 10,
        window: int = 3,
        batch_size: int = 200,
        graph_batch_size: int = 20,
        class_batch_size: int = 20,
        n_negatives: int = 0,
        learning_rate: float = 0.1,
        context_rate: float = 0.001,
        label_types: Sequence[str] | None = None,
        words: Words = "binary",
        random_state: int | None = 0,
        n_threads: int | None = None,
    ) -> None:
        self.dim = dim
        self.n_steps = n_steps
        self.n_class_contexts = n_class_contexts
        self.n_graph_contexts = n_graph_contexts
        self.graph_share = graph_share
        self.walk_steps = walk_steps
        self.window = window
        self.batch_size = batch_size
        self.graph_batch_size = graph_batch_size
        self.class_batch_size = class_batch_size
        self.n_negatives = n_negatives
        self.learning_rate = learning_rate
        self.context_rate = context_rate
        self.label_types = label_types
        self.words = words
        self.random_state = random_state
        self.n_threads = n_threads

    def fit_predict(
        self,
        graph: Graph,
        targets: csr_array[np.bool_],
        train: Nodes,
        validation: Nodes = NO_NODES,  # noqa: ARG002
        hidden: Nodes = NO_NODES,
    ) -> Scores:
        """Return log-probabilities; validation nodes are not used, training runs to its end."""
        require(self.name, "torch")
        hidden = checked_nodes(hidden, graph.n_nodes, "hidden")
        features = word_matrix(self.name, graph, self.label_types, self.words)
        train, classes = known_targets(graph, targets, train)
        streams = RandomStreams.from_random_state(self.random_state)
        rng = streams.generator("planetoid start")
        with torch_run(0, self.n_threads):
            encoder = _WordLayer(features, self.dim, rng)
            class_loss = ClassLoss(encoder, features, classes.shape[1], rng)
            train_planetoid(
                Schedule(
                    self.n_steps,
                    self.n_class_contexts,
                    self.n_graph_contexts,
                    self.graph_share,
                    self.batch_size,
                    self.learning_rate,
                    self.context_rate,
                ),
                class_loss,
                ContextLoss(encoder, graph.n_nodes, self.n_negatives, rng),
                graph_contexts(
                    WalkGraph.of(graph).without(hidden),
                    np.setdiff1d(np.arange(graph.n_nodes), hidden),
                    self.walk_steps,
                    self.window,
                    self.graph_batch_size,
                    self.n_negatives,
                    streams,
                ),
                class_contexts(train, classes, self.class_batch_size, self.n_negatives, streams),
                train,
                classes,
                streams,
            )
            return class_loss.scores(graph.n_nodes)


class _WordLayer:
    """Rectified units over words; both losses share the weights, each has its own bias."""

    def __init__(self, words: csr_array[np.float32], dim: int, rng: np.random.Generator) -> None:
        self.words = words
        self.dim = dim
        self.weights = glorot(rng, words.shape[1], dim)
        self.context_bias, self.class_bias = zeros(dim), zeros(dim)
        self.context_parameters = [self.weights, self.context_bias]
        self.class_parameters = [self.weights, self.class_bias]

    def for_contexts(self, nodes: torch.Tensor) -> torch.Tensor:
        return (word_rows(self.words, nodes.numpy()) @ self.weights + self.context_bias).relu()

    def for_classes(self, nodes: torch.Tensor) -> torch.Tensor:
        return (word_rows(self.words, nodes.numpy()) @ self.weights + self.class_bias).relu()

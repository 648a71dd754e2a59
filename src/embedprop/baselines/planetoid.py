"""Planetoid-T and Planetoid-I: classes and contexts of the graph, learned together."""

from dataclasses import dataclass

import numpy as np

from embedprop.baselines.planetoid_contexts import class_contexts, graph_contexts
from embedprop.baselines.registry import Classifier, Examples, Scores, baseline
from embedprop.baselines.walking import WalkGraph
from embedprop.baselines.words import WordReader
from embedprop.graph import Graph
from embedprop.methods.random_streams import RandomStreams


@dataclass(frozen=True, kw_only=True)
class Planetoid(WordReader, Classifier):
    """What both models share; parameters as in `PlanetoidT`."""

    n_class_contexts: int = 2000
    n_graph_contexts: int = 70
    graph_share: float = 0.0
    graph_batch_size: int = 200
    class_batch_size: int = 100
    context_rate: float = 0.01
    dim: int = 50
    n_steps: int = 5000
    walk_steps: int = 10
    window: int = 3
    batch_size: int = 200
    n_negatives: int = 0
    learning_rate: float = 0.1

    def learn(self, graph: Graph, examples: Examples) -> Scores:
        """Return log-probabilities; validation nodes are not used, training runs to its end."""
        self.require("torch")
        from embedprop.baselines import planetoid_model as model

        features = self.word_matrix(graph)
        streams = RandomStreams.from_random_state(self.random_state)
        rng = streams.generator("planetoid start")
        graph_pairs = graph_contexts(
            WalkGraph.of(graph).without(examples.hidden),
            np.setdiff1d(np.arange(graph.n_nodes), examples.hidden),
            self.walk_steps,
            self.window,
            self.graph_batch_size,
            self.n_negatives,
            streams,
        )
        class_pairs = class_contexts(
            examples.train, examples.classes, self.class_batch_size, self.n_negatives, streams
        )
        # All start values come from `rng`, so torch's own seed does not matter.
        with self.torch_run(0):
            # A vector of its own is for a node that takes part in training.
            make = model.WordLayer if self.for_hidden is None else model.Lookup
            encoder = make(features, self.dim, rng)
            class_loss = model.ClassLoss(encoder, features, examples.classes.shape[1], rng)
            context_loss = model.ContextLoss(encoder, graph.n_nodes, self.n_negatives, rng)
            model.train_planetoid(
                self, class_loss, context_loss, graph_pairs, class_pairs, examples, streams
            )
            return class_loss.scores(graph.n_nodes)


@baseline("planetoid-t")
class PlanetoidT(Planetoid):
    """The transductive model of Yang, Cohen & Salakhutdinov (ICML 2016), with their code's values.

    A vector per node predicts the node's contexts: nodes near it on random walks, and training
    nodes of its class. The vector and the words, each through a softmax, predict the classes.

    One thing differs from their code: a step of the context loss moves no vector by more than 1,
    because without a limit some seeds diverge.

    Parameters
    ----------
    dim
        Numbers per node: 50.
    n_steps
        Steps of the classification loss: 5000, after which the paper saw Cora and Citeseer
        converged; it took 20000 for Pubmed.
    n_class_contexts, n_graph_contexts
        Batches of each kind of context before that: 2000 and 70.
    graph_share
        How often a step is preceded by a batch of graph contexts: 0.
    walk_steps, window
        Walks of 10 steps, contexts at most 3 steps away.
    batch_size, graph_batch_size, class_batch_size
        Training nodes, walks, and pairs of the same class in a batch: 200, 200, 100.
    n_negatives
        Negatives for each pair; 0, the code's default, takes the softmax over all nodes.
    learning_rate, context_rate
        Of the classification loss, 0.1, and of the (summed) context loss, 0.01.
    label_types, words
        As in `BagOfWords`.
    random_state, n_threads
        Seed, and threads for torch (default: as many as torch wants).
    """

    for_hidden = "planetoid-i"


@baseline("planetoid-i")
class PlanetoidI(Planetoid):
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

    n_class_contexts: int = 10_000
    n_graph_contexts: int = 400
    graph_share: float = 0.1
    graph_batch_size: int = 20
    class_batch_size: int = 20
    context_rate: float = 0.001

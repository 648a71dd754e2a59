"""node2vec, DeepWalk, and DW+BoW: skip-gram over random walks, alone or beside words."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from embedprop.baselines.registry import Embedder, Vectors, baseline
from embedprop.baselines.walking import WalkGraph
from embedprop.baselines.words import WordReader
from embedprop.graph import Graph
from embedprop.methods.random_streams import RandomStreams

# (p, q) of Grover & Leskovec, section 4.3; POS is their Wikipedia.
PUBLISHED_PQ = {"blogcatalog": (0.25, 0.25), "ppi": (4.0, 1.0), "pos": (4.0, 0.5)}


@dataclass(frozen=True, kw_only=True)
class SkipGram(Embedder):
    """Skip-gram over walks; parameters as in `Node2Vec`."""

    dim: int = 128
    n_walks: int = 10
    walk_length: int = 80
    window: int = 10
    epochs: int = 1
    n_negatives: int = 5
    learning_rate: float = 0.025

    def learn(self, graph: Graph, p: float, q: float) -> Vectors:
        """Return (n_nodes, dim), learned from walks with these p and q."""
        self.require("gensim")
        from gensim.models import Word2Vec

        streams = RandomStreams.from_random_state(self.random_state)
        nodes = np.arange(graph.n_nodes, dtype=np.int32)
        # In each round a walk from every node, in an order drawn for the round.
        rounds = (streams.generator("walk order", i) for i in range(self.n_walks))
        walks = WalkGraph.of(graph).walks(
            np.concatenate([rng.permutation(nodes) for rng in rounds]),
            self.walk_length,
            streams.key("walks"),
            p=p,
            q=q,
            n_threads=self.n_threads,
        )
        # gensim takes words: a node is its number as text, and a walk ends before the first -1.
        names = nodes.astype(str).astype(object)
        lengths = (walks >= 0).sum(axis=1)
        model = Word2Vec(
            [names[row[:length]].tolist() for row, length in zip(walks, lengths, strict=True)],
            vector_size=self.dim,
            window=self.window,
            min_count=0,
            sg=1,
            negative=self.n_negatives,
            alpha=self.learning_rate,
            epochs=self.epochs,
            workers=1,  # with more, the result would be by chance
            seed=int(streams.key("skip-gram") % 2**31),
        )
        return np.asarray(model.wv[names.tolist()], np.float32)


@baseline("node2vec")
class Node2Vec(SkipGram):
    """node2vec of Grover & Leskovec (KDD 2016), with the defaults of their reference code.

    Walks follow the edges, in proportion to their weights; skip-gram with negative sampling by
    gensim, with gensim's own defaults where the reference code has them (5 negatives, rate 0.025
    falling to 0.0001, frequent nodes subsampled at 0.001). A node without edges keeps the vector
    that it starts with.

    Parameters
    ----------
    dim, n_walks, walk_length, window, epochs
        128 numbers, 10 walks of 80 nodes from each node, contexts of 10, one pass: the paper's.
    p, q
        A small p goes back often, a small q goes far; 1 and 1 are the code's defaults. The paper
        tuned them: `PUBLISHED_PQ`.
    n_negatives, learning_rate
        As gensim has them by default.
    random_state
        The same seed gives the same vectors.
    n_threads
        Threads for the walks. Skip-gram always takes one: with more its result would be by chance.
    """

    p: float = 1.0
    q: float = 1.0

    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, dim)."""
        return self.learn(graph, self.p, self.q)


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


@baseline("dw-bow")
class DeepWalkBagOfWords(WordReader, Embedder):
    """The concatenation of a node's `DeepWalk` vector and its `BagOfWords`, as in the paper.

    Parameters
    ----------
    deepwalk
        Parameters of `DeepWalk` that differ from its defaults.
    label_types, words
        As in `BagOfWords`.
    random_state, n_threads
        As in `DeepWalk`.
    """

    deepwalk: dict[str, Any] | None = None

    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, dim + n_words)."""
        return self.fit_transform_inductive(graph, graph)

    def fit_transform_inductive(self, known: Graph, full: Graph) -> Vectors:
        """DW-I+BoW: a new node has the mean of its neighbors' walk vectors, and its own words."""
        self.require("gensim")
        words = self.word_matrix(full)  # a mistake shows before walking
        settings = self.deepwalk or {}
        walking = DeepWalk(random_state=self.random_state, n_threads=self.n_threads, **settings)
        walked = walking.fit_transform_inductive(known, full)
        return np.concatenate([walked, words.toarray()], axis=1)

"""node2vec: skip-gram over second-order random walks."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.extras import require
from embedprop.baselines.registry import BASELINES, Vectors
from embedprop.baselines.walking import WalkGraph
from embedprop.methods.random_streams import RandomStreams

if TYPE_CHECKING:
    from embedprop.graph.graph import Graph

# (p, q) of Grover & Leskovec, section 4.3; POS is their Wikipedia.
PUBLISHED_PQ = {"blogcatalog": (0.25, 0.25), "ppi": (4.0, 1.0), "pos": (4.0, 0.5)}


@BASELINES.register("node2vec")
class Node2Vec:
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

    name: ClassVar[str] = "node2vec"

    def __init__(
        self,
        *,
        dim: int = 128,
        n_walks: int = 10,
        walk_length: int = 80,
        window: int = 10,
        p: float = 1.0,
        q: float = 1.0,
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
        self.p = p
        self.q = q
        self.epochs = epochs
        self.n_negatives = n_negatives
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.n_threads = n_threads

    def fit_transform(self, graph: Graph) -> Vectors:
        """Return (n_nodes, dim)."""
        require(self.name, "gensim")
        streams = RandomStreams.from_random_state(self.random_state)
        return self._skip_gram(self._walks(graph, streams), graph.n_nodes, streams)

    def _walks(self, graph: Graph, streams: RandomStreams) -> NDArray[np.int32]:
        """Return n_walks rounds of a walk from every node, in an order drawn for each round."""
        nodes = np.arange(graph.n_nodes, dtype=np.int32)
        rounds = (streams.generator("walk order", i) for i in range(self.n_walks))
        starts = np.concatenate([rng.permutation(nodes) for rng in rounds])
        return WalkGraph.of(graph).walks(
            starts,
            self.walk_length,
            streams.key("walks"),
            p=self.p,
            q=self.q,
            n_threads=self.n_threads,
        )

    def _skip_gram(self, walks: NDArray[np.int32], n_nodes: int, streams: RandomStreams) -> Vectors:
        from gensim.models import Word2Vec

        names = np.array([str(node) for node in range(n_nodes)], dtype=object)
        lengths = (walks >= 0).sum(axis=1)
        sentences = [
            names[row[:length]].tolist() for row, length in zip(walks, lengths, strict=True)
        ]
        model = Word2Vec(
            sentences,
            vector_size=self.dim,
            window=self.window,
            min_count=0,
            sg=1,
            negative=self.n_negatives,
            alpha=self.learning_rate,
            epochs=self.epochs,
            workers=1,
            seed=int(streams.key("skip-gram") % 2**31),
        )
        return np.asarray(model.wv[names.tolist()], np.float32)

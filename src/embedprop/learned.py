"""What a fitted model knows, and what follows from it without learning: new nodes, neighbors."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embedprop.graph import Graph
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary
from embedprop.representations import Vectors, concatenate, embeddings, write_means
from embedprop.training.labels import learned_labels

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Learned:
    """Vectors of labels and nodes.

    embedding: h_i(v) of all label types side by side, (n_nodes, sum of dims). totals: total label
    weight per type and node, (label types, n_nodes). label_vectors: without dummy labels; the
    type `node` shares the rows of `embedding`. dummies: per type, the nodes with a dummy label.
    directed: whether neighbors were in-neighbors.
    """

    nodes: Vocabulary
    label_types: tuple[str, ...]
    vocabularies: Mapping[str, Vocabulary]
    label_vectors: Mapping[str, Vectors]
    embedding: Vectors
    totals: NDArray[np.float32]
    dummies: Mapping[str, NDArray[np.int64]]
    directed: bool

    @classmethod
    def from_training(
        cls, graph: Graph, label_vectors: Mapping[str, Vectors], previous: Learned | None = None
    ) -> Learned:
        """Compute h_i(v) from trained vectors; labels that only `previous` knows are kept."""
        blocks, totals, vocabularies, vectors, dummies = [], [], {}, {}, {}
        for label_type, learned in label_vectors.items():
            labels = learned_labels(graph, label_type)
            if label_type == "node":
                h, total = learned, np.ones(graph.n_nodes, np.float32)
            else:
                h, total = embeddings(labels.sets, learned)
            blocks.append(h)
            totals.append(total)
            vocabulary = graph.vocabulary(label_type)
            vectors[label_type] = learned[: labels.n_labels]
            if previous and label_type != "node" and label_type in previous.vocabularies:
                vocabulary, vectors[label_type] = _kept(
                    previous, label_type, vocabulary, vectors[label_type]
                )
            vocabularies[label_type] = vocabulary
            dummies[label_type] = labels.dummy_nodes
        embedding = concatenate(blocks)
        if "node" in vectors:
            # It comes first; sharing the rows saves a copy of the largest table.
            vectors["node"] = embedding[:, : vectors["node"].shape[1]]
        return cls(
            graph.nodes,
            tuple(label_vectors),
            vocabularies,
            vectors,
            embedding,
            np.stack(totals),
            dummies,
            graph.directed,
        )

    @cached_property
    def columns(self) -> dict[str, tuple[int, int]]:
        """Where the block of each label type stands in `embedding`."""
        ends = np.cumsum([self.label_vectors[name].shape[1] for name in self.label_types]).tolist()
        return dict(zip(self.label_types, zip([0, *ends[:-1]], ends, strict=True), strict=True))

    @cached_property
    def _masses(self) -> list[NDArray[np.float32]]:
        return [np.ascontiguousarray(total) for total in self.totals]

    @cached_property
    def norms(self) -> NDArray[np.float32]:
        """Lengths of the node vectors."""
        return lengths(self.embedding)

    def start_vectors(self, graph: Graph, label_type: str, fresh: Vectors) -> Vectors:
        """Return `fresh` with the vectors of what is known put in: labels and dummy labels."""
        known = self.vocabularies[label_type].find_all(graph.vocabulary(label_type))
        at = np.flatnonzero(known >= 0)
        fresh[at] = self.label_vectors[label_type][known[at]]
        dummy_nodes = learned_labels(graph, label_type).dummy_nodes
        if len(dummy_nodes):
            low, high = self.columns[label_type]
            old = self.nodes.find_all(graph.nodes[node] for node in dummy_nodes)
            kept = np.flatnonzero((old >= 0) & np.isin(old, self.dummies[label_type]))
            fresh[len(known) + kept] = self.embedding[old[kept], low:high]
        return fresh

    def transform_one(
        self, speakers: Multisets, own: Mapping[str, Multisets], source: str
    ) -> Vectors:
        """Return the vector of one new node: `speakers` holds its known neighbors."""
        blocks = self._own(own) if own else None
        vectors, known = self._combine(self.embedding, self._masses, speakers, blocks, source)
        if not known[0]:
            logger.warning(
                "Nothing is known of the new node: its vector is zeros. Known nodes are spelled "
                "like %r ('1' is not 1).",
                self.nodes[0],
            )
        row: Vectors = vectors[0]
        return row

    def transform(self, graph: Graph, source: str) -> Vectors:
        """Return the vectors of all nodes of `graph`: known ones as learned, new ones computed."""
        self._tell_direction(graph)
        old, new, table = self._placed(graph)
        if len(new) == 0:
            return table
        own = self._own({t: self._known_labels(graph, t, new) for t in self.label_types})
        if source == "reconstruction" and any(weight.any() for _, weight in own.values()):
            logger.info(
                "New nodes have labels of their own: source='reconstruction' uses them for their "
                "neighbors only, source='both' for their own vectors too."
            )
        masses = []
        for t, label_type in enumerate(self.label_types):
            mass = np.zeros(graph.n_nodes, np.float32)
            mass[old >= 0] = self.totals[t, old[old >= 0]]
            if label_type in own:
                low, high = self.columns[label_type]
                table[new, low:high], mass[new] = own[label_type]
            masses.append(mass)
        speakers = graph.neighbors.subset(new)
        vectors, known = self._combine(table, masses, speakers, own, source)
        self._tell_unknown(graph, new, known)
        table[new] = vectors
        return table

    def _placed(self, graph: Graph) -> tuple[NDArray[np.int32], NDArray[np.int64], Vectors]:
        """Return the learned row of each node (-1: new), the new nodes, and what is known."""
        old = self.nodes.find_all(graph.nodes)
        new = np.flatnonzero(old < 0)
        table = np.zeros((graph.n_nodes, self.embedding.shape[1]), np.float32)
        table[old >= 0] = self.embedding[old[old >= 0]]
        return old, new, table

    def _tell_direction(self, graph: Graph) -> None:
        if graph.directed != self.directed:
            words = ("undirected", "directed")
            logger.warning(
                "The model was trained on a graph that is %s, but this one is %s: neighbors do not "
                "mean the same in both.",
                words[self.directed],
                words[graph.directed],
            )

    @staticmethod
    def _tell_unknown(graph: Graph, new: NDArray[np.int64], known: NDArray[np.bool_]) -> None:
        if not known.all():
            names = [graph.nodes[node] for node in new[~known][:3]]
            logger.warning(
                "Nothing is known of %d of the %d new nodes (for example %s): zeros.",
                int((~known).sum()),
                len(new),
                ", ".join(map(repr, names)),
            )

    def _combine(
        self,
        table: Vectors,
        masses: Sequence[NDArray[np.float32]],
        speakers: Multisets,
        own: Mapping[str, tuple[Vectors, NDArray[np.float32]]] | None,
        source: str,
    ) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return h~, h or their mean for new nodes, and of which of them anything is known."""
        out = np.zeros((speakers.n_sets, table.shape[1]), np.float32)
        known = np.zeros(speakers.n_sets, bool)
        for mass, label_type in zip(masses, self.label_types, strict=True):
            low, high = self.columns[label_type]
            heard = np.zeros(speakers.n_sets, bool)
            if source != "own":
                heard = write_means(speakers, table, mass, out, (low, high), low) > 0
            if own and label_type in own and source != "reconstruction":
                h, weight = own[label_type]
                has = weight > 0
                both = has & heard
                out[both, low:high] = (out[both, low:high] + h[both]) / 2
                out[has & ~heard, low:high] = h[has & ~heard]
                heard |= has
            known |= heard
        return out, known

    def _own(self, sets: Mapping[str, Multisets]) -> dict[str, tuple[Vectors, NDArray[np.float32]]]:
        """Return h_i and the label weight of new nodes from their known labels, but for ids."""
        return {
            label_type: embeddings(labels, self.label_vectors[label_type])
            for label_type, labels in sets.items()
            if label_type != "node"
        }

    def _known_labels(self, graph: Graph, label_type: str, nodes: NDArray[np.int64]) -> Multisets:
        """Return the labels of `nodes` that were seen in training, by their learned ids."""
        if label_type == "node" or label_type not in graph.labels:
            return Multisets(np.zeros(len(nodes) + 1, np.int64), np.empty(0, np.int32))
        sets = graph.labels[label_type].subset(nodes)
        ids = self.vocabularies[label_type].find_all(graph.vocabulary(label_type))[sets.ids]
        n_unknown = int((ids < 0).sum())
        if n_unknown:
            logger.info(
                "%d of the %d labels of type %r of new nodes were not seen in training and do not "
                "count.",
                n_unknown,
                len(ids),
                label_type,
            )
        owners = np.repeat(np.arange(len(nodes)), sets.sizes)[ids >= 0]
        ptr = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(nodes)))])
        weights = None if sets.weights is None else sets.weights[ids >= 0]
        return Multisets(ptr, ids[ids >= 0], weights)


def _kept(
    previous: Learned, label_type: str, vocabulary: Vocabulary, vectors: Vectors
) -> tuple[Vocabulary, Vectors]:
    """Return vocabulary and vectors with the labels at their end that only `previous` knows."""
    old = previous.vocabularies[label_type]
    missing = np.flatnonzero(vocabulary.find_all(old) < 0)
    if len(missing) == 0:
        return vocabulary, vectors
    extended, _ = vocabulary.extended(old[id_] for id_ in missing.tolist())
    return extended, np.concatenate([vectors, previous.label_vectors[label_type][missing]])


def lengths(vectors: Vectors) -> NDArray[np.float32]:
    """Return the Euclidean length of each row."""
    squares: NDArray[np.float32] = np.einsum("ij,ij->i", vectors, vectors)
    return np.sqrt(squares)


def most_similar(
    vectors: Vectors, norms: NDArray[np.float32], query: int, k: int
) -> list[tuple[int, float]]:
    """Return the k rows nearest to row `query` by cosine, itself left out: (row, score)."""
    scale = norms * norms[query]
    scores = vectors @ vectors[query]
    scores = np.divide(scores, scale, out=np.zeros_like(scores), where=scale > 0)
    scores[query] = -np.inf
    k = min(k, len(vectors) - 1)
    best = np.argpartition(-scores, k - 1)[:k] if k < len(vectors) - 1 else np.arange(len(vectors))
    best = best[np.lexsort((best, -scores[best]))][:k]
    return [(int(row), float(scores[row])) for row in best]

"""What a fitted model knows, and what follows from it without learning: new nodes, neighbors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph import Graph
from embedprop.graph.changes.learnable import learned_labels
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary
from embedprop.methods.epb.engines.engine import TrainingResult
from embedprop.methods.epb.tables.storage import CHUNK, MEMORY, Tables
from embedprop.model.heads import LearnedHead
from embedprop.model.notices import (
    tell_direction,
    tell_own_labels,
    tell_unknown_labels,
    tell_unknown_node,
    tell_unknown_nodes,
    tell_unknown_relations,
)
from embedprop.model.representations import (
    Known,
    Vectors,
    concatenate,
    embeddings,
    make_representation,
    write_means,
)
from embedprop.model.search import lengths

Relations = NDArray[np.int32] | None
Own = Mapping[str, tuple[Vectors, NDArray[np.float32]]]
# Per label type, the labels of each node that may speak and the vectors of all labels.
Members = Mapping[str, tuple[Multisets, Vectors]] | None


@dataclass(frozen=True, eq=False)
class Learned:
    """Vectors of labels and nodes.

    embedding: h_i(v) of all label types side by side, (n_nodes, sum of dims). totals: total label
    weight per type and node, (label types, n_nodes). label_vectors: without dummy labels; the
    type `node` shares the rows of `embedding`; of numbers, texts and images the labels go by the
    names of their nodes. dummies: per type, the nodes with a dummy label. directed: whether
    neighbors were in-neighbors. node_vectors: r, None where it is `embedding` itself.
    """

    nodes: Vocabulary
    label_types: tuple[str, ...]
    vocabularies: Mapping[str, Vocabulary]
    label_vectors: Mapping[str, Vectors]
    embedding: Vectors
    totals: NDArray[np.float32]
    dummies: Mapping[str, NDArray[np.int64]]
    directed: bool
    relations: Vocabulary | None = field(default=None, kw_only=True)
    relation_vectors: Mapping[str, Vectors] = field(default_factory=dict, kw_only=True)
    representation: str = field(default="concatenation", kw_only=True)
    node_vectors: Vectors | None = field(default=None, kw_only=True)
    head: LearnedHead | None = field(default=None, kw_only=True)

    @classmethod
    def from_training(
        cls,
        graph: Graph,
        result: TrainingResult,
        representation: str = "concatenation",
        previous: Learned | None = None,
        tables: Tables = MEMORY,
    ) -> Self:
        """Compute h_i(v) from trained vectors; labels that only `previous` knows are kept."""
        blocks, totals, vocabularies, vectors, dummies = [], [], {}, {}, {}
        for label_type, learned in result.label_vectors.items():
            labels = learned_labels(graph, label_type)
            if label_type == "node":
                h, total = learned, np.ones(graph.n_nodes, np.float32)
            else:
                h = tables.zeros((graph.n_nodes, learned.shape[1]), np.float32)
                total = write_means(labels.sets, learned, np.empty(0, np.float32), h)
            blocks.append(h if result.embeddings is None else result.embeddings[label_type])
            totals.append(total)
            vocabulary = _vocabulary(graph, label_type)
            vectors[label_type] = learned[: labels.n_labels]
            if previous and label_type in graph.labels and label_type in previous.vocabularies:
                vocabulary, vectors[label_type] = _kept(
                    previous, label_type, vocabulary, vectors[label_type]
                )
            vocabularies[label_type] = vocabulary
            dummies[label_type] = labels.dummy_nodes
        embedding = concatenate(blocks, tables.zeros)
        if "node" in vectors and result.embeddings is None:
            # It comes first; sharing the rows saves a copy of the largest table.
            vectors["node"] = embedding[:, : vectors["node"].shape[1]]
        plain = cls(
            graph.nodes,
            tuple(result.label_vectors),
            vocabularies,
            vectors,
            embedding,
            np.stack(totals),
            dummies,
            graph.directed,
            relations=graph.relations,
            relation_vectors=result.relation_vectors,
            representation=representation,
            **cls._more(result),
        )
        return plain if representation == "concatenation" else plain._represented(graph)

    @classmethod
    def _more(cls, result: TrainingResult) -> dict[str, Any]:
        """Return what a subclass keeps of a result beside the vectors."""
        del result
        return {}

    def _represented(self, graph: Graph) -> Self:
        """Return the same with r of every node."""
        r = make_representation(self.representation)
        r.width([high - low for low, high in self.columns.values()])
        h_tilde, known = self.reconstructed(graph)
        h_tilde = np.where(known[:, None], h_tilde, self.embedding)
        parts = Known(self.embedding, h_tilde, list(self.columns.values()), graph.neighbors)
        return replace(self, node_vectors=r.of_graph(parts))

    def reconstructed(self, graph: Graph) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return h~ of every node of the graph that was learned from, and who has neighbors."""
        speakers, over = self._speakers(graph, np.arange(graph.n_nodes))
        masses = self._masses
        return self._combine(self.embedding, masses, speakers, None, "reconstruction", over)

    @property
    def n_parameters(self) -> int:
        """How many numbers were learned: vectors of labels, dummy labels and relations."""
        dims = {name: high - low for name, (low, high) in self.columns.items()}
        dummies = sum(dims[name] * len(nodes) for name, nodes in self.dummies.items())
        tables = [*self.label_vectors.values(), *self.relation_vectors.values()]
        return dummies + sum(int(table.size) for table in tables)

    @property
    def vectors(self) -> Vectors:
        """The vector of each node: r."""
        return self.embedding if self.node_vectors is None else self.node_vectors

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
        return lengths(self.vectors)

    def start_vectors(self, graph: Graph, label_type: str, fresh: Vectors) -> Vectors:
        """Return `fresh` with the vectors of what is known put in: labels and dummy labels."""
        known = self.vocabularies[label_type].find_all(graph.vocabulary(label_type))
        for low in range(0, len(known), CHUNK):
            at = low + np.flatnonzero(known[low : low + CHUNK] >= 0)
            fresh[at] = self.label_vectors[label_type][known[at]]
        self.start_dummies(graph, label_type, fresh[len(known) :])
        return fresh

    def start_dummies(self, graph: Graph, label_type: str, fresh: Vectors) -> None:
        """Put the vectors of known dummy labels into `fresh`, a row for each dummy label."""
        dummy_nodes = learned_labels(graph, label_type).dummy_nodes
        old = self.nodes.find_all([graph.nodes[node] for node in dummy_nodes])
        kept = np.flatnonzero((old >= 0) & np.isin(old, self.dummies[label_type]))
        rows = np.searchsorted(self.dummies[label_type], old[kept])
        fresh[kept] = self._dummy_vectors(label_type)[rows]

    def _dummy_vectors(self, label_type: str) -> Vectors:
        """Return the vectors of the dummy labels: a node that has one is nothing else."""
        low, high = self.columns[label_type]
        return self.embedding[self.dummies[label_type], low:high]

    def transform_one(
        self,
        speakers: Multisets,
        own: Mapping[str, Multisets],
        source: str,
        over: Relations = None,
    ) -> Vectors:
        """Return the vector of one new node: `speakers` holds its known neighbors."""
        blocks = self._own(own) if own else None
        h, known = self._combine(self.embedding, self._masses, speakers, blocks, source, over)
        if not known[0]:
            tell_unknown_node(self.nodes[0], source)
        row: Vectors = self._of_new(h, self.embedding, self._masses, speakers, over, self.vectors)[
            0
        ]
        return row

    def transform(self, graph: Graph, source: str) -> Vectors:
        """Return the vectors of all nodes of `graph`: known ones as learned, new ones computed."""
        tell_direction(self.directed, graph.directed)
        old, new, table = self._placed(graph)
        if len(new) == 0:
            return self._with_known(old)
        own = self._own_of(graph, new)
        if source == "reconstruction" and any(weight.any() for _, weight in own.values()):
            tell_own_labels()
        masses = []
        for t, label_type in enumerate(self.label_types):
            mass = np.zeros(graph.n_nodes, np.float32)
            mass[old >= 0] = self.totals[t, old[old >= 0]]
            if label_type in own:
                low, high = self.columns[label_type]
                table[new, low:high], mass[new] = own[label_type]
            masses.append(mass)
        speakers, over = self._speakers(graph, new)
        members = self._members(graph, old, new)
        h, known = self._combine(table, masses, speakers, own, source, over, members)
        tell_unknown_nodes([graph.nodes[node] for node in new[~known]], len(new))
        vectors = self._with_known(old)
        vectors[new] = self._of_new(h, table, masses, speakers, over, vectors, members)
        return vectors

    def _members(self, graph: Graph, old: NDArray[np.int32], new: NDArray[np.int64]) -> Members:
        """Return the labels of all nodes of a graph, where h~ is no mean of h; here it is."""
        del graph, old, new
        return None

    def _with_known(self, old: NDArray[np.int32]) -> Vectors:
        """Return a table of node vectors with those of the known nodes put in."""
        vectors = np.zeros((len(old), self.vectors.shape[1]), np.float32)
        vectors[old >= 0] = self.vectors[old[old >= 0]]
        return vectors

    def _of_new(
        self,
        h: Vectors,
        table: Vectors,
        masses: Sequence[NDArray[np.float32]],
        speakers: Multisets,
        over: Relations,
        vectors: Vectors,
        members: Members = None,
    ) -> Vectors:
        """Return r of new nodes from their h; `vectors` are those of all nodes, new ones 0."""
        if self.representation == "concatenation":
            return h
        heard, known = self._combine(table, masses, speakers, None, "reconstruction", over, members)
        h_tilde = np.where(known[:, None], heard, h)
        told = speakers.keeping(np.asarray(vectors.any(axis=1))[speakers.ids])
        parts = Known(h, h_tilde, list(self.columns.values()), told)
        return make_representation(self.representation).of_new(parts, vectors)

    def _placed(self, graph: Graph) -> tuple[NDArray[np.int32], NDArray[np.int64], Vectors]:
        """Return the learned row of each node (-1: new), the new nodes, and what is known."""
        old = self.nodes.find_all(graph.nodes)
        new = np.flatnonzero(old < 0)
        table = np.zeros((graph.n_nodes, self.embedding.shape[1]), np.float32)
        table[old >= 0] = self.embedding[old[old >= 0]]
        return old, new, table

    def _speakers(self, graph: Graph, rows: NDArray[np.int64]) -> tuple[Multisets, Relations]:
        """Return the neighbors of nodes, and the learned relation of each edge if there are any."""
        if self.relations is None:
            return graph.neighbors.subset(rows), None
        if graph.relations is None or graph.neighbor_relations is None:
            raise InvalidGraphError(
                "The model was learned from edges with relations, but the edges of this graph have "
                "none. Give each edge its relation."
            )
        places = Multisets(graph.neighbors.ptr, np.arange(graph.neighbors.n_values)).subset(rows)  # type: ignore[arg-type]
        over = self.relations.find_all(graph.relations)[graph.neighbor_relations[places.ids]]
        speakers = graph.neighbors.subset(rows)
        if (over < 0).any():
            tell_unknown_relations(int((over < 0).sum()))
            speakers, over = speakers.keeping(over >= 0), over[over >= 0]
        return speakers, over

    def _combine(
        self,
        table: Vectors,
        masses: Sequence[NDArray[np.float32]],
        speakers: Multisets,
        own: Own | None,
        source: str,
        over: Relations = None,
        members: Members = None,
    ) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return the vectors of new nodes by `source`, and of which of them anything is known."""
        out = np.zeros((speakers.n_sets, table.shape[1]), np.float32)
        known = np.zeros(speakers.n_sets, bool)
        for mass, label_type in zip(masses, self.label_types, strict=True):
            low, high = self.columns[label_type]
            heard = np.zeros(speakers.n_sets, bool)
            if source != "own":
                block = out[:, low:high]
                heard = self._hear(label_type, table, mass, speakers, over, members, block)
            if own and label_type in own and source != "reconstruction":
                h, weight = own[label_type]
                has = weight > 0
                both = has & heard
                out[both, low:high] = (out[both, low:high] + h[both]) / 2
                out[has & ~both, low:high] = h[has & ~both]
                heard |= has
            known |= heard
        return out, known

    def _hear(
        self,
        label_type: str,
        table: Vectors,
        mass: NDArray[np.float32],
        speakers: Multisets,
        over: Relations,
        members: Members,
        out: Vectors,
    ) -> NDArray[np.bool_]:
        """Write h~ of one label type into `out`; return who has heard anything."""
        del members
        heard = write_means(speakers, table, mass, out, self.columns[label_type]) > 0
        if over is not None:
            out += self._translations(label_type, mass, speakers, over)
        return heard

    def _translations(
        self, label_type: str, mass: NDArray[np.float32], speakers: Multisets, over: Relations
    ) -> Vectors:
        """Return the mean relation vector of each set, by edge weight times label weight."""
        vectors = self.relation_vectors[label_type]
        weights = mass[speakers.ids]
        if speakers.weights is not None:
            weights = weights * speakers.weights
        counted = Multisets(speakers.ptr, np.arange(speakers.n_values))  # type: ignore[arg-type]
        out = np.zeros((speakers.n_sets, vectors.shape[1]), np.float32)
        write_means(counted, vectors[over], weights, out)
        return out

    def _own_of(self, graph: Graph, new: NDArray[np.int64]) -> Own:
        """Return h_i and the label weight of new nodes from what is known of their labels."""
        return self._own({t: self._known_labels(graph, t, new) for t in self.label_types})

    def _own(self, sets: Mapping[str, Multisets]) -> dict[str, tuple[Vectors, NDArray[np.float32]]]:
        """Return h_i and the label weight of new nodes from their known labels, but for ids."""
        return {
            label_type: embeddings(labels, self.label_vectors[label_type])
            for label_type, labels in sets.items()
            if label_type != "node"
        }

    def _known_labels(self, graph: Graph, label_type: str, nodes: NDArray[np.int64]) -> Multisets:
        """Return the labels of `nodes` that were seen in training, by their learned ids."""
        if label_type == "node" or label_type not in graph.labels:  # values: of modules
            return Multisets(np.zeros(len(nodes) + 1, np.int64), np.empty(0, np.int32))
        sets = graph.labels[label_type].subset(nodes)
        ids = self.vocabularies[label_type].find_all(graph.vocabulary(label_type))[sets.ids]
        tell_unknown_labels(int((ids < 0).sum()), len(ids), label_type)
        kept = sets.keeping(ids >= 0)
        return Multisets(kept.ptr, ids[ids >= 0], kept.weights)


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


def _vocabulary(graph: Graph, label_type: str) -> Vocabulary:
    """Return the names of the labels; numbers, texts and images go by the names of their nodes."""
    if label_type in graph.labels:
        return graph.vocabulary(label_type)
    present = np.flatnonzero(graph.has_labels(label_type)).tolist()
    return Vocabulary.trusted(graph.nodes[node] for node in present)

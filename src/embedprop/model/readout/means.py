"""EP-B's readout: means of label vectors, over a node's own labels and over its neighbors'."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self, final

import numpy as np

from embedprop.files.folder.load import StoredModel
from embedprop.graph import Graph, Multisets, Vocabulary
from embedprop.graph.arrays import Mask, Rows, Vectors, Weights
from embedprop.model.newcomers import Arrivals, Heard, Placed, edges_of
from embedprop.model.readout.readout import Labels, Saved, columns_of, require_shape
from embedprop.model.representations import Known, embeddings, make_representation, write_means

# Per label type, h of new nodes from their own labels, and the weight of these.
Own = Mapping[str, tuple[Vectors, Weights]]
# Writes h~ of one label type into the last argument, given what each node says; returns which nodes
# have heard anything.
Hear = Callable[[str, Weights, Arrivals, Vectors], Mask]


@final
@dataclass(frozen=True, eq=False)
class MeansReadout:
    """h and h~ of newcomers as weighted means; with relations, plus the mean relation vector.

    columns: where each label type stands in `embedding`, which holds h of the nodes learned from
    and `vectors` their r. totals (label types, nodes): total label weight. dummies: per type, the
    nodes with a dummy label. representation: r, as it is written.
    """

    name: ClassVar[str] = "means"
    is_symmetric: ClassVar[bool] = False

    columns: Mapping[str, tuple[int, int]]
    embedding: Vectors
    vectors: Vectors
    totals: Vectors
    dummies: Mapping[str, Rows]
    label_vectors: Mapping[str, Vectors]
    relation_vectors: Mapping[str, Vectors] = field(default_factory=dict)
    representation: str = "concatenation"

    @property
    def averages(self) -> bool:
        """Whether r is an average of h over the graph."""
        return make_representation(self.representation).averages

    @property
    def n_parameters(self) -> int:
        """How many numbers were learned: vectors of labels, dummy labels and relations."""
        widths = {name: high - low for name, (low, high) in self.columns.items()}
        dummies = sum(widths[name] * len(nodes) for name, nodes in self.dummies.items())
        tables = [*self.label_vectors.values(), *self.relation_vectors.values()]
        return dummies + sum(int(table.size) for table in tables)

    @cached_property
    def masses(self) -> list[Weights]:
        """How much each node says to its neighbors, per label type."""
        return [np.ascontiguousarray(total) for total in self.totals]

    @property
    def means(self) -> Self:
        """Itself: every readout of EP-B has means, beside whatever else."""
        return self

    def with_vectors(self, vectors: Vectors) -> Self:
        """Return the same with these r of the nodes."""
        return replace(self, vectors=vectors)

    def dummy_vectors(self, name: str) -> Vectors:
        """Return the vectors of the dummy labels: a node that has one is nothing else."""
        low, high = self.columns[name]
        return self.embedding[self.dummies[name], low:high]

    def own(self, labels: Labels) -> dict[str, tuple[Vectors, Weights]]:
        """Return h_i and the label weight of new nodes from their known labels."""
        return {name: embeddings(sets, self.label_vectors[name]) for name, sets in labels.items()}

    def arrival(self, heard: Heard, labels: Labels) -> Arrivals:
        """Return one new node with its known labels, and all learned nodes around it."""
        return Arrivals(self.embedding, self.vectors, self.masses, *heard, self.own(labels))

    def arrivals(
        self, placed: Placed, heard: Heard, labels: Labels, given: Own | None = None
    ) -> Arrivals:
        """Return the new nodes of a graph with their known labels, and all nodes around them.

        Own labels speak to other new nodes too. given: h and weights of these, if not means.
        """
        own, table = given or self.own(labels), placed.table(self.embedding)
        masses = []
        for (name, (low, high)), total in zip(self.columns.items(), self.totals, strict=True):
            mass = placed.table(total)
            if name in own:
                table[placed.new, low:high], mass[placed.new] = own[name]
            masses.append(mass)
        return Arrivals(table, placed.table(self.vectors), masses, *heard, own, placed.new)

    def embed(
        self, arrivals: Arrivals, source: str, hear: Hear | None = None
    ) -> tuple[Vectors, Mask]:
        """Return h of the new nodes by `source`, and about which of them anything is known.

        What they hear, their own labels, or the mean of both. hear: what g~ is, if not a mean.
        """
        n_new = arrivals.speakers.n_sets
        out = np.zeros((n_new, arrivals.table.shape[1]), np.float32)
        known = np.zeros(n_new, bool)
        for (name, (low, high)), mass in zip(self.columns.items(), arrivals.masses, strict=True):
            if source == "own":
                heard = np.zeros(n_new, bool)
            else:
                heard = (hear or self.hear)(name, mass, arrivals, out[:, low:high])
            if name in arrivals.own and source != "reconstruction":
                h, weight = arrivals.own[name]
                has = weight > 0
                both, alone = has & heard, has & ~heard
                out[both, low:high] = (out[both, low:high] + h[both]) / 2
                out[alone, low:high] = h[alone]
                heard |= has
            known |= heard
        return out, known

    def represent(self, h: Vectors, arrivals: Arrivals, hear: Hear | None = None) -> Vectors:
        """Return r of the new nodes from their h and h~."""
        if self.representation == "concatenation":
            return h
        heard, known = self.embed(arrivals, "reconstruction", hear)
        h_tilde = np.where(known[:, None], heard, h)
        # New nodes around have no r yet: they are left out of the average.
        has_vector = np.asarray(arrivals.vectors.any(axis=1))
        speakers = arrivals.speakers.keeping(has_vector[arrivals.speakers.ids])
        parts = Known(h, h_tilde, list(self.columns.values()), speakers)
        return make_representation(self.representation).of_new(parts, arrivals.vectors)

    def hear(self, name: str, mass: Weights, arrivals: Arrivals, out: Vectors) -> Mask:
        """Write h~ of one label type into `out`; return which nodes have heard anything."""
        speakers = arrivals.speakers
        heard = write_means(speakers, arrivals.table, mass, out, self.columns[name]) > 0
        if arrivals.over is not None:
            # The mean relation vector of each set, by edge weight times label weight.
            vectors, weights = self.relation_vectors[name], mass[speakers.ids]
            if speakers.weights is not None:
                weights = weights * speakers.weights
            counted = Multisets(speakers.ptr, np.arange(speakers.n_values))  # type: ignore[arg-type]
            translations = np.zeros((speakers.n_sets, vectors.shape[1]), np.float32)
            write_means(counted, vectors[arrivals.over], weights, translations)
            out += translations
        return heard

    def reconstructed(self, graph: Graph, relations: Vocabulary | None) -> tuple[Vectors, Mask]:
        """Return h~ of every node of the graph that was learned from, and which have neighbors."""
        heard = edges_of(graph, np.arange(graph.n_nodes), relations)
        arrivals = Arrivals(self.embedding, self.vectors, self.masses, *heard, {})
        return self.embed(arrivals, "reconstruction")

    def stored(self) -> StoredModel:
        """Return what must be saved to read out again."""
        dummies = {f"dummies {name}": self.dummies[name] for name in self.columns if name != "node"}
        return StoredModel({}, {"totals": self.totals, **dummies}, {})

    @classmethod
    def from_stored(cls, saved: Saved) -> Self:
        """Return the readout of a saved model."""
        arrays, dims = saved.stored.arrays, saved.instance.dims
        h, totals = arrays["embedding"], arrays["totals"]
        require_shape("totals", totals, (len(dims), len(saved.vectors)))
        none = np.empty(0, np.int64)
        dummies = {name: none if name == "node" else arrays[f"dummies {name}"] for name in dims}
        labels, relations, r = saved.label_vectors, saved.relation_vectors, saved.vectors
        of_r = saved.instance.representation
        return cls(columns_of(dims), h, r, totals, dummies, labels, relations, of_r)

"""The closed form's readout: its eigenvector equation and PageRank average, for one more row."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self, final

import numpy as np

from embedprop.files.folder.load import StoredModel
from embedprop.graph.arrays import Mask, Vectors, Weights
from embedprop.instance.closed_form import block_sizes
from embedprop.model.newcomers import Arrivals, Heard, Placed
from embedprop.model.readout.readout import Labels, Saved, columns_of, require_shape
from embedprop.model.representations import embeddings, write_means

# Steps of the PageRank average.
N_STEPS = 10
# The length of a node's vector of a label type: linear classifiers with the usual choices of C do
# best between 1 and 4.
_LENGTH = 2.0


@final
@dataclass(frozen=True, eq=False)
class EigenReadout:
    """Vectors of newcomers from those of their neighbors, on either end of an edge.

    columns: where each label type stands in `vectors`. totals: how much each node says to a new
    one, a row per block. factors: what each column of ids is multiplied with. restart: of the
    PageRank average.
    """

    name: ClassVar[str] = "eigen"
    is_symmetric: ClassVar[bool] = True
    averages: ClassVar[bool] = True  # but for ids

    columns: Mapping[str, tuple[int, int]]
    vectors: Vectors
    totals: Vectors
    factors: Weights
    label_vectors: Mapping[str, Vectors]
    restart: float

    @property
    def n_parameters(self) -> int:
        """How many numbers were learned: the vectors of the labels."""
        return sum(int(table.size) for table in self.label_vectors.values())

    @cached_property
    def masses(self) -> list[Weights]:
        """How much each node says to a new one, per block."""
        return [np.ascontiguousarray(total) for total in self.totals]

    @cached_property
    def blocks(self) -> list[tuple[str, int, int]]:
        """The label type, first and last column of each block; ids have one per whitening."""
        found = []
        for name, (low, high) in self.columns.items():
            for size in block_sizes(high - low) if name == "node" else [high - low]:
                found.append((name, low, low + size))
                low += size
        return found

    def own(self, labels: Labels, n_new: int) -> dict[str, tuple[Vectors, Weights]]:
        """Return h of new nodes from their known labels; a type without any has zeros."""
        found = {}
        for name, (low, high) in self.columns.items():
            if name in labels:
                h, weight = embeddings(labels[name], self.label_vectors[name])
                found[name] = scaled(unit_rows(h), h.shape[1]), weight
            elif name != "node":
                empty = np.zeros((n_new, high - low), np.float32)
                found[name] = empty, np.zeros(n_new, np.float32)
        return found

    def arrival(self, heard: Heard, labels: Labels) -> Arrivals:
        """Return one new node with its known labels, and all learned nodes around it."""
        own = self.own(labels, heard.speakers.n_sets)
        return Arrivals(self.vectors, self.vectors, self.masses, heard.speakers, None, own)

    def arrivals(self, placed: Placed, heard: Heard, labels: Labels) -> Arrivals:
        """Return the new nodes of a graph with their known labels, and all nodes around them."""
        own, table = self.own(labels, len(placed.new)), placed.table(self.vectors)
        for name, (h, _) in own.items():
            low, high = self.columns[name]
            table[placed.new, low:high] = h
        masses = []
        for (name, _, _), known_mass in zip(self.blocks, self.masses, strict=True):
            mass = placed.table(known_mass)
            if name != "node":
                mass[placed.new] = shares(heard.speakers.totals)
            masses.append(mass)
        return Arrivals(table, table, masses, heard.speakers, None, own, placed.new)

    def embed(self, arrivals: Arrivals, source: str) -> tuple[Vectors, Mask]:
        """Return the vectors of new nodes, and about which of them anything is known."""
        n_new = arrivals.speakers.n_sets
        out = np.zeros((n_new, arrivals.table.shape[1]), np.float32)
        for (name, low, high), mass in zip(self.blocks, arrivals.masses, strict=True):
            block = np.zeros((n_new, high - low), np.float32)
            if source != "own":
                write_means(arrivals.speakers, arrivals.table, mass, block, (low, high))
            if name == "node":
                # The eigenvector equation, solved for one more row.
                block *= self.factors[low:high]
            elif source == "own":
                block = arrivals.own[name][0]
            elif source == "both":
                block = self._averaged(arrivals, mass, arrivals.own[name][0], (low, high))
            first, last = self.columns[name]
            out[:, low:high] = scaled(unit_rows(block), last - first)
        # Not who is heard but what: new neighbors may have nothing to say.
        return out, np.asarray(out.any(axis=1))

    def represent(self, h: Vectors, arrivals: Arrivals) -> Vectors:
        """Return the vectors as they are: the average is in them already."""
        del arrivals
        return h

    def stored(self) -> StoredModel:
        """Return what must be saved to read out again."""
        return StoredModel({}, {"totals": self.totals, "factors": self.factors}, {})

    @classmethod
    def from_stored(cls, saved: Saved) -> Self:
        """Return the readout of a saved model."""
        instance, r, arrays = saved.instance, saved.vectors, saved.stored.arrays
        columns, totals, factors = columns_of(instance.dims), arrays["totals"], arrays["factors"]
        require_shape("factors", factors, (instance.dims.get("node", 0),))
        readout = cls(columns, r, totals, factors, saved.label_vectors, instance.restart)
        require_shape("totals", totals, (len(readout.blocks), len(r)))
        return readout

    def _averaged(
        self, arrivals: Arrivals, mass: Weights, h: Vectors, columns: tuple[int, int]
    ) -> Vectors:
        """Return the PageRank average of new nodes; the known ones stay as they are."""
        # Its neighbors have not heard of a new node: its own labels count twice as much.
        restart = np.float32(min(1.0, 2 * self.restart))
        share = shares(arrivals.speakers.totals)[:, None]
        hears = share * (1 - restart)
        low, high = columns
        heard = np.zeros_like(h)
        z = h
        for step in range(N_STEPS):
            if step == 0 or arrivals.rows is not None:  # what known nodes say does not change
                heard[:] = 0
                totals = write_means(arrivals.speakers, arrivals.table, mass, heard, columns)
                heard *= totals[:, None]
            z = restart * h + hears * (heard + share * z)
            if arrivals.rows is not None:
                arrivals.table[arrivals.rows, low:high] = z
        return z


def unit_rows(vectors: Vectors) -> Vectors:
    """Return the vectors with length 1; zeros stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)).round(3).tolist()
    [[0.6..., 0.8...], [0.0, 0.0]]
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def shares(degrees: Weights) -> Weights:
    """Return (degree + 1)^-1/2: S has the product of the two ends' shares; 1 is the node itself."""
    return np.asarray((degrees + 1) ** -0.5, np.float32)


def scaled(unit: Vectors, dim: int) -> Vectors:
    """Return unit vectors as a part of `dim` dimensions whose blocks share the length."""
    return np.asarray(unit * np.float32(_LENGTH * np.sqrt(unit.shape[1] / dim)), np.float32)

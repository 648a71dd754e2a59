"""What a model in closed form knows, and how the vector of a new node follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embedprop.graph import Graph
from embedprop.graph.matrix import speakers_of
from embedprop.graph.multisets import Multisets
from embedprop.methods.closed_form.ids import block_sizes
from embedprop.methods.closed_form.pagerank import N_STEPS, shares, unit_rows
from embedprop.methods.closed_form.solve import Solution
from embedprop.model.learned import Learned, Members, Relations
from embedprop.model.notices import tell_unknown_nodes
from embedprop.model.representations import Vectors, write_means

# Linear classifiers with the usual choices of C do best between 1 and 4.
_LENGTH = 2.0

Masses = Sequence[NDArray[np.float32]]
Own = Mapping[str, tuple[Vectors, NDArray[np.float32]]]


@dataclass(frozen=True, eq=False)
class ClosedFormLearned(Learned):
    """Vectors of labels and nodes; a node's vector of a label type has length 2.

    totals: masses, a row per block (see `IdBlock`). factors: per column of the type `node`.
    restart: of the PageRank average.
    """

    factors: NDArray[np.float32]
    restart: float

    @classmethod
    def from_solution(cls, graph: Graph, solution: Solution, restart: float) -> ClosedFormLearned:
        """Put the blocks side by side."""
        blocks = solution.blocks
        types = tuple(dict.fromkeys(block.label_type for block in blocks))
        dims = dict.fromkeys(types, 0)
        for block in blocks:
            dims[block.label_type] += block.vectors.shape[1]
        embedding = np.concatenate(
            [_scaled(block.vectors, dims[block.label_type]) for block in blocks], axis=1
        )
        factors = [block.factors for block in blocks if block.factors is not None]
        vectors: dict[str, Vectors] = {}
        for name in types:
            if name == "node":
                vectors[name] = embedding[:, : sum(map(len, factors))]
            else:
                vectors[name] = solution.label_vectors[name]
        return cls(
            graph.nodes,
            types,
            {name: graph.vocabulary(name) for name in types},
            vectors,
            embedding,
            np.stack([block.masses for block in blocks]),
            # A dummy label is what the neighbors say: nothing to be kept.
            {name: np.empty(0, np.int64) for name in types},
            graph.directed,
            np.concatenate([np.empty(0, np.float32), *factors]),
            restart,
        )

    @cached_property
    def _blocks(self) -> list[tuple[str, int, int]]:
        """The label type, first and last column of each block."""
        found = []
        for name, (low, high) in self.columns.items():
            for size in block_sizes(high - low) if name == "node" else [high - low]:
                found.append((name, low, low + size))
                low += size
        return found

    def transform(self, graph: Graph, source: str) -> Vectors:
        """Return the vectors of all nodes of `graph`: known ones as learned, new ones computed."""
        old, new, table = self._placed(graph)
        if len(new) == 0:
            return table
        own = self._own({t: self._known_labels(graph, t, new) for t in self.label_types})
        for name, (h, _) in own.items():
            low, high = self.columns[name]
            table[new, low:high] = h
        speakers = speakers_of(graph, new)
        masses = []
        for (name, _, _), known_masses in zip(self._blocks, self._masses, strict=True):
            mass = np.zeros(graph.n_nodes, np.float32)
            mass[old >= 0] = known_masses[old[old >= 0]]
            if name != "node":
                mass[new] = shares(speakers.totals)
            masses.append(mass)
        vectors, known = self._compute(table, masses, speakers, own, source, new)
        tell_unknown_nodes([graph.nodes[node] for node in new[~known]], len(new))
        table[new] = vectors
        return table

    def _combine(
        self,
        table: Vectors,
        masses: Masses,
        speakers: Multisets,
        own: Own | None,
        source: str,
        over: Relations = None,
        members: Members = None,
    ) -> tuple[Vectors, NDArray[np.bool_]]:
        del over, members  # edges of all relations count alike
        # A type that is not given is one without labels, as in `transform`.
        n = speakers.n_sets
        nothing = {
            name: (np.zeros((n, high - low), np.float32), np.zeros(n, np.float32))
            for name, (low, high) in self.columns.items()
            if name != "node"
        }
        return self._compute(table, masses, speakers, {**nothing, **(own or {})}, source, None)

    def _own(self, sets: Mapping[str, Multisets]) -> dict[str, tuple[Vectors, NDArray[np.float32]]]:
        scaled = {}
        for name, (h, weight) in super()._own(sets).items():
            scaled[name] = _scaled(unit_rows(h), h.shape[1]), weight
        return scaled

    def _compute(
        self,
        table: Vectors,
        masses: Masses,
        speakers: Multisets,
        own: Own,
        source: str,
        new: NDArray[np.int64] | None,
    ) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return the vectors of new nodes, and of which of them anything is known."""
        out = np.zeros((speakers.n_sets, table.shape[1]), np.float32)
        for (name, low, high), mass in zip(self._blocks, masses, strict=True):
            block = np.zeros((speakers.n_sets, high - low), np.float32)
            if source != "own":
                write_means(speakers, table, mass, block, (low, high))
            if name == "node":
                # The eigenvector equation, solved for one more row.
                block *= self.factors[low:high]
            elif name in own and source == "own":
                block = own[name][0]
            elif name in own and source == "both":
                block = self._averaged(table, mass, speakers, own[name][0], new, (low, high))
            first, last = self.columns[name]
            out[:, low:high] = _scaled(unit_rows(block), last - first)
        # Not who is heard but what: new neighbors may have nothing to say.
        return out, np.asarray(out.any(axis=1))

    def _averaged(
        self,
        table: Vectors,
        mass: NDArray[np.float32],
        speakers: Multisets,
        h: Vectors,
        new: NDArray[np.int64] | None,
        columns: tuple[int, int],
    ) -> Vectors:
        """Return the PageRank average of new nodes; the known ones stay as they are."""
        # Its neighbors have not heard of a new node: its own labels count twice as much.
        restart = np.float32(min(1.0, 2 * self.restart))
        share = shares(speakers.totals)[:, None]
        hears = share * (1 - restart)
        low, high = columns
        heard = np.zeros_like(h)
        z = h
        for step in range(N_STEPS):
            if step == 0 or new is not None:  # what known nodes say does not change
                heard[:] = 0
                totals = write_means(speakers, table, mass, heard, columns)
                heard *= totals[:, None]
            z = restart * h + hears * (heard + share * z)
            if new is not None:
                table[new, low:high] = z
        return z


def _scaled(unit: Vectors, dim: int) -> Vectors:
    """Return unit vectors as a part of `dim` dimensions whose blocks share the length."""
    return np.asarray(unit * np.float32(_LENGTH * np.sqrt(unit.shape[1] / dim)), np.float32)

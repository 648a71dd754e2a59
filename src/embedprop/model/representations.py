"""From label vectors to node vectors: the means h_i(v) and h~_i(v), and r, the vector of v."""

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from embedprop.errors import InvalidParameterError
from embedprop.graph import Multisets
from embedprop.graph.arrays import Vectors, Weights
from embedprop.instance.catalog import REPRESENTATIONS, parse_part
from embedprop.kernels.epb.segments import weighted_means

_ONES = np.empty(0, np.float32)
_N_STEPS = 10


def embeddings(sets: Multisets, label_vectors: Vectors) -> tuple[Vectors, Weights]:
    """Return h_i(v), the weighted mean over the labels of each node, and its total label weight.

    A node without labels has zeros and the weight 0.
    """
    h = np.zeros((sets.n_sets, label_vectors.shape[1]), np.float32)
    return h, write_means(sets, label_vectors, _ONES, h)


def write_means(
    sets: Multisets,
    vectors: Vectors,
    masses: Weights,
    out: Vectors,
    columns: tuple[int, int] | None = None,
) -> Weights:
    """Write the mean of each set over `columns` of `vectors` into `out`; return the total weights.

    A member counts its weight times its mass (no masses: 1 each). With the label weights of the
    neighbors as masses this is h~: a mean over all their labels, not over their means.
    """
    low, high = columns or (0, vectors.shape[1])
    weights = _ONES if sets.weights is None else sets.weights
    totals: Weights = weighted_means(
        vectors, low, high, masses, sets.ptr, sets.ids, weights, out, 0
    )
    return totals


def concatenate(parts: Sequence[Vectors], make: Callable[..., Vectors] = np.zeros) -> Vectors:
    """Return r of EP-B: the h_i(v) of all label types side by side; a single one is not copied.

    make: where the table is, given its shape and type.
    """
    if len(parts) == 1:
        return parts[0]
    out = make((len(parts[0]), sum(part.shape[1] for part in parts)), np.float32)
    return np.concatenate(parts, axis=1, out=out)


class Known(NamedTuple):
    """What r is made of, for some nodes, the label types side by side.

    h and h_tilde (nodes, sum of dims); columns: where each label type stands; neighbors: who
    speaks to each node, as rows of the table of all vectors.
    """

    h: Vectors
    h_tilde: Vectors
    columns: Sequence[tuple[int, int]]
    neighbors: Multisets


class Representation:
    """Base of r: the vector of a node from its h_i and h~_i."""

    # Whether r is an average of h over the graph: then what is linear in h may be read from r.
    averages: ClassVar[bool] = False

    def width(self, dims: Sequence[int]) -> int:
        """Return the number of columns, given those of the label types. Default: as many as h."""
        return sum(dims)

    def of_graph(self, known: Known) -> Vectors:
        """Return the vectors of all nodes of the graph that was learned from."""
        raise NotImplementedError

    def of_new(self, known: Known, table: Vectors) -> Vectors:
        """Return the vectors of new nodes; `table` holds those that their neighbors have.

        Default: as those of known nodes, whatever their neighbors have.
        """
        del table
        return self.of_graph(known)


def make_representation(text: str) -> Representation:
    """Return the representation that is written as ``"pagerank(restart=0.2)"``."""
    part = parse_part("representation", text)
    made: Representation = REPRESENTATIONS[part.name](**part.parameters)
    return made


class Concatenation(Representation):
    """The h of all label types side by side: EP-B's."""

    def of_graph(self, known: Known) -> Vectors:
        """Return h."""
        return known.h


class Mean(Representation):
    """The mean of the h of all label types, which must have the same dim."""

    def width(self, dims: Sequence[int]) -> int:
        """Return the dim that all label types have."""
        if len(set(dims)) > 1:
            raise InvalidParameterError(
                f"representation='mean' needs the same dim for all label types, got "
                f"{', '.join(map(str, dims))}. Give one dim, or representation='concatenation'."
            )
        return dims[0]

    def of_graph(self, known: Known) -> Vectors:
        """Return the mean of the blocks of h."""
        blocks = [known.h[:, low:high] for low, high in known.columns]
        return np.asarray(np.mean(blocks, axis=0, dtype=np.float32))


class Both(Representation):
    """[h, h~]: what a node's own labels say, then what its neighbors' labels say."""

    def width(self, dims: Sequence[int]) -> int:
        """Return twice the sum of the dimensions."""
        return 2 * sum(dims)

    def of_graph(self, known: Known) -> Vectors:
        """Return h and h~ side by side."""
        return np.concatenate([known.h, known.h_tilde], axis=1)


class PageRank(Representation):
    """A personalized-PageRank average of h: r(v) = restart h(v) + (1 - restart) mean of r(N(v))."""

    averages: ClassVar[bool] = True

    def __init__(self, restart: float = 0.15) -> None:
        if not 0 < restart <= 1:
            raise InvalidParameterError(
                f"representation='pagerank(restart={restart!r})': expected a restart above 0 and "
                f"at most 1, got {restart!r}."
            )
        self.restart = np.float32(restart)

    def of_graph(self, known: Known) -> Vectors:
        """Return the average after ten steps from h."""
        r = known.h
        for _ in range(_N_STEPS):
            r = self.of_new(known, r)
        return r

    def of_new(self, known: Known, table: Vectors) -> Vectors:
        """Return one step: a node without neighbors keeps its h."""
        means, totals = embeddings(known.neighbors, table)  # by edge weight
        averaged = self.restart * known.h + (1 - self.restart) * means
        return np.where(totals[:, None] > 0, averaged, known.h)

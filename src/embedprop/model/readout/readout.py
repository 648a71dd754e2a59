"""What every readout does: compute the vectors of nodes that arrive after training."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from embedprop.files.folder.load import StoredModel
from embedprop.graph import Multisets
from embedprop.graph.arrays import Mask, Vectors
from embedprop.instance.registry import Registry
from embedprop.model.newcomers import Arrivals, Heard, Placed

Labels = Mapping[str, Multisets]


class Saved(NamedTuple):
    """A saved model, as far as it is read when its readout is made: what every model has."""

    stored: StoredModel
    instance: Any
    label_vectors: Mapping[str, Vectors]
    relation_vectors: Mapping[str, Vectors]
    vectors: Vectors


class Readout(Protocol):
    """Computes h of newcomers from their known neighbors and labels, and r from that."""

    name: ClassVar[str]
    # Whether a node hears its neighbors on either end of an edge.
    is_symmetric: ClassVar[bool]

    @property
    def averages(self) -> bool:
        """Whether r is an average of h over the graph."""

    @property
    def n_parameters(self) -> int:
        """How many numbers were learned."""

    def arrival(self, heard: Heard, labels: Labels) -> Arrivals:
        """Return one new node with its known labels, and all learned nodes around it."""

    def arrivals(self, placed: Placed, heard: Heard, labels: Labels) -> Arrivals:
        """Return the new nodes of a graph with their known labels, and all nodes around them."""

    def embed(self, arrivals: Arrivals, source: str) -> tuple[Vectors, Mask]:
        """Return h of the new nodes by `source`, and about which of them anything is known."""

    def represent(self, h: Vectors, arrivals: Arrivals) -> Vectors:
        """Return r of the new nodes from their h."""

    def stored(self) -> StoredModel:
        """Return what must be saved to read out again, beside what every model has."""

    @classmethod
    def from_stored(cls, saved: Saved) -> Self:
        """Return the readout of a saved model."""


READOUTS: Registry[Any] = Registry(
    "readout",
    {
        "means": "embedprop.model.readout.means:MeansReadout",
        "modules": "embedprop.model.readout.modules:ModulesReadout",
        "eigen": "embedprop.model.readout.eigen:EigenReadout",
    },
)


def columns_of(dims: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return where the block of each label type stands, side by side.

    >>> columns_of({"node": 2, "word": 3})
    {'node': (0, 2), 'word': (2, 5)}
    """
    ends = np.cumsum(list(dims.values())).tolist()
    return dict(zip(dims, zip([0, *ends[:-1]], ends, strict=True), strict=True))


def require_shape(name: str, array: Any, shape: tuple[int, ...]) -> None:
    """Refuse an array of a saved model that does not fit to the others."""
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape} instead of {shape}")

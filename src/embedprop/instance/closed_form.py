"""The description of an instance in closed form: names and numbers; saved in models."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self, final

from embedprop.errors import InvalidParameterError
from embedprop.instance.instance import Instance
from embedprop.instance.parameters import ClosedFormParameters
from embedprop.instance.require import per_some_types, per_type, require_count, require_positive

# In units of the mean degree (ids) or of the mean weight of a label.
REGULARIZATION_OF_IDS = 0.3
REGULARIZATION_OF_LABELS = 5.0


@dataclass(frozen=True)
class ClosedFormType:
    """What is solved for one label type, a set of labels; the edges' sum is of squares."""

    kind: ClassVar[str] = "set"
    is_set: ClassVar[bool] = True
    distance: ClassVar[str] = "squared_euclidean"

    dim: int
    regularization: float


@final
@dataclass(frozen=True)
class ClosedFormInstance(Instance):
    """EP in closed form: squared distances, a constraint in place of negatives.

    r is a PageRank average with the chance `restart` to go back.
    """

    name: ClassVar[str] = "closed-form"
    of_type: ClassVar[type] = ClosedFormType
    label_types: Mapping[str, ClosedFormType]
    restart: float

    @classmethod
    def of(cls, parameters: ClosedFormParameters, label_types: Collection[str]) -> Self:
        """Return the instance that the parameters describe, checked."""
        dims = per_type("dim", parameters.dim, label_types)
        given = per_some_types("regularization", parameters.regularization, label_types)
        types = {}
        for name, (called, value) in given.items():
            default = REGULARIZATION_OF_IDS if name == "node" else REGULARIZATION_OF_LABELS
            strength = default if value is None else require_positive(called, value)
            types[name] = ClosedFormType(require_count(*dims[name]), strength)
        restart = require_positive("restart", parameters.restart)
        if restart > 1:
            raise InvalidParameterError(
                f"restart={restart}: expected a number above 0 and at most 1, got {restart}."
            )
        return cls(types, restart)


def block_sizes(dim: int) -> list[int]:
    """Return how many dimensions of ids each whitening gets.

    >>> block_sizes(128), block_sizes(3)
    ([96, 32], [3])
    """
    quarter = dim // 4
    return [dim - quarter, quarter] if quarter else [dim]

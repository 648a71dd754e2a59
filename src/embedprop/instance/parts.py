"""The parts of EP that users can exchange, by name or for a module of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from embedprop.errors import InvalidParameterError, UnknownParameterError, did_you_mean

# Each label type may have its own.
PARTS_OF_TYPE = ("label_embedding", "aggregator", "reconstruction", "distance", "loss")


@dataclass(frozen=True, repr=False)
class Parts:
    """The parts of the framework: f, g, g~, d, the loss and r. None, or left out: EP-B's.

    Give the name of a part (`embedprop parts` lists them), with parameters if you like, as in
    ``"softmax(temperature=0.2)"``; a torch module of your own; or a dict with a part for each label
    type. All but ``distance="squared_euclidean"`` and `representation` need torch.

    Parameters
    ----------
    label_embedding : str, module or dict, optional
        How labels become vectors (f): a table for ids and words, other parts for numbers, texts
        and images.
    aggregator : str, module or dict, optional
        How the vectors of a node's own labels become its embedding h (g).
    reconstruction : str, module or dict, optional
        How the vectors of its neighbors' labels become its reconstruction h~ (g~).
    distance : str, module or dict, optional
        Distance between embedding and reconstruction (d). ``"squared_euclidean"`` is worth a try
        where ids are the only labels.
    loss : str, module or dict, optional
        Loss of a node, given its distances.
    representation : str
        How a node's vector (r) is made of its embeddings (h) and reconstructions (h~) of all label
        types.
    refine : bool or dict
        Whether pretrained vectors, or a module of your own as f, are trained further.
    label_dropout : float or dict
        Chance of leaving out each label of a node at a visit, against overfitting; at least one
        label stays. 0 as in the paper.

    Examples
    --------
    >>> Parts.of({"distance": "cosine"}).distance
    'cosine'
    """

    label_embedding: Any = None
    aggregator: Any = None
    reconstruction: Any = None
    distance: Any = None
    loss: Any = None
    representation: str = "concatenation"
    refine: bool | Mapping[str, bool] = True
    label_dropout: float | Mapping[str, float] = 0.0

    def __repr__(self) -> str:
        return f"Parts({', '.join(f'{key}={value!r}' for key, value in self.to_dict().items())})"

    @classmethod
    def of(cls, given: Parts | Mapping[str, Any] | None) -> Self:
        """Return `Parts` from what was given: `Parts`, a dict, or None."""
        if isinstance(given, cls):
            return given
        if given is None:
            return cls()
        if not isinstance(given, Mapping):
            raise InvalidParameterError(
                f"parts={given!r:.80}: expected Parts(...) or a dict such as "
                f"{{'distance': 'squared_euclidean'}}, got {type(given).__name__}."
            )
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownParameterError(
                    f"parts has no field {name!r}. It has: {', '.join(known)}."
                    f"{did_you_mean(name, known)}"
                )
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Return what differs from EP-B, by name."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if not _same(getattr(self, field.name), field.default)
        }


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)

"""The parts of EP that a user can exchange, by name or by a module of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from embedprop.errors import InvalidParameterError, UnknownParameterError, did_you_mean

# Those that each label type has for itself.
PARTS_OF_TYPE = ("label_embedding", "aggregator", "reconstruction", "distance", "loss")


@dataclass(frozen=True, repr=False)
class Parts:
    """f, g, g~, d, the loss and r of the framework; None, or left out: EP-B's.

    A part is written by name as `embedprop parts` lists them, with parameters as in
    ``"softmax(temperature=0.2)"``, or is a torch module of your own; a dict gives one for each
    label type. All but ``distance="squared_euclidean"`` and `representation` need torch.

    Parameters
    ----------
    label_embedding : str, module or dict, optional
        f, how labels become vectors: a table for ids and words, others for numbers, texts, images.
    aggregator : str, module or dict, optional
        g, over a node's own labels.
    reconstruction : str, module or dict, optional
        g~, over the labels of a node's neighbors.
    distance : str, module or dict, optional
        d, between the two. ``"squared_euclidean"`` is worth a try where ids are the only labels.
    loss : str, module or dict, optional
        The loss of a node, given its distances.
    representation : str
        r, how a node's vector is made of its h and h~ of all label types.
    refine : bool or dict
        Whether pretrained vectors, or a module of your own as f, are learned further.
    label_dropout : float or dict
        The chance that a label of a node is left out at a visit, against overfitting; never all of
        them. 0 as in the paper.

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
        """Return parts that are given as they are, as a dict, or not at all."""
        if isinstance(given, cls):
            return given
        if given is None:
            return cls()
        if not isinstance(given, Mapping):
            raise InvalidParameterError(
                f"parts={given!r:.80} is not possible: expected Parts(...) or a dict such as "
                f"{{'distance': 'squared_euclidean'}}, got {type(given).__name__}."
            )
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownParameterError(
                    f"parts has no {name!r}. It has: {', '.join(known)}.{did_you_mean(name, known)}"
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

"""What every description of an instance tells; `INSTANCES` finds it by its name in a model."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, Self

from embedprop.instance.registry import Registry


class Instance:
    """Base of the frozen descriptions, which are dataclasses: what a model asks of them.

    of_type: the description of a label type, with its dim, kind and distance.
    """

    name: ClassVar[str]
    of_type: ClassVar[type]
    label_types: Mapping[str, Any]

    @property
    def dims(self) -> dict[str, int]:
        """The dimensions of each label type."""
        return {name: one.dim for name, one in self.label_types.items()}

    @property
    def distances(self) -> dict[str, str]:
        """D of each label type."""
        return {name: one.distance for name, one in self.label_types.items()}

    @property
    def word_sets(self) -> list[str]:
        """The texts that are learned as sets of words."""
        types = self.label_types.items()
        return [name for name, one in types if one.kind == "text" and one.is_set]

    @property
    def value_types(self) -> list[str]:
        """The label types whose labels are numbers, texts in order, or images."""
        return [name for name, one in self.label_types.items() if not one.is_set]

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain JSON-able values."""
        values: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the instance that `to_dict` described."""
        types = {name: cls.of_type(**one) for name, one in values["label_types"].items()}
        return cls(**{**values, "label_types": types})


INSTANCES: Registry[Any] = Registry(
    "method",
    {
        "epb": "embedprop.instance.epb:EPBInstance",
        "closed-form": "embedprop.instance.closed_form:ClosedFormInstance",
        # What the closed form was called before its models had a name of their own.
        "eps": "embedprop.instance.closed_form:ClosedFormInstance",
    },
)

"""What every description of an instance tells; `INSTANCES` finds it by its name in a model."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from embedprop.instance.registry import Registry


class Instance(Protocol):
    """A frozen description: what a model and its readers ask of it."""

    name: ClassVar[str]

    @property
    def dims(self) -> dict[str, int]:
        """The dimensions of each label type."""
        ...

    @property
    def distances(self) -> dict[str, str]:
        """D of each label type."""
        ...

    @property
    def word_sets(self) -> list[str]:
        """The texts that are learned as sets of words."""
        ...

    @property
    def value_types(self) -> list[str]:
        """The label types whose labels are numbers, texts in order, or images."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain JSON-able values."""
        ...


INSTANCES: Registry[Any] = Registry(
    "method",
    {
        "epb": "embedprop.instance.epb:EPBInstance",
        "closed-form": "embedprop.instance.closed_form:ClosedFormInstance",
        # What the closed form was called before its models had a name of their own.
        "eps": "embedprop.instance.closed_form:ClosedFormInstance",
    },
)

"""Names for exchangeable parts: the parameter `negatives="degree"` becomes a class here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from embedprop.errors import UnknownComponentError

Part = TypeVar("Part")


class Registry(Generic[Part]):
    """Name → part of one kind; refuses doubles, lists what is known.

    >>> from embedprop.instance.registry import Registry
    >>> colors = Registry[str]("color")
    >>> colors.register("red")("#f00")
    '#f00'
    >>> colors["blue"]
    Traceback (most recent call last):
    ...
    embedprop.errors.UnknownComponentError: color='blue' is not known. Choose one of: 'red'.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._parts: dict[str, Part] = {}

    def register(self, name: str) -> Callable[[Part], Part]:
        """Return a decorator that registers a part under `name`."""

        def add(part: Part) -> Part:
            if name in self._parts:
                raise ValueError(f"{self.kind} {name!r} is registered twice.")
            self._parts[name] = part
            return part

        return add

    def __getitem__(self, name: str) -> Part:
        if not isinstance(name, str) or name not in self._parts:
            known = ", ".join(map(repr, self._parts))
            raise UnknownComponentError(
                f"{self.kind}={name!r} is not known. Choose one of: {known}."
            )
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

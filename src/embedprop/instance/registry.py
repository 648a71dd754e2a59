"""Names for exchangeable parts: the parameter `negatives="degree"` becomes a class here.

A registry is a table of name to "module:Class", loaded on first use. A package of others adds parts
by entry points of the group `embedprop.parts` that are called "kind.name", such as "loss.hinge".
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from embedprop.errors import InvalidParameterError
from embedprop.instance.require import require_one_of

logger = logging.getLogger(__name__)

GROUP = "embedprop.parts"
# The kinds of parts that there are: every registry adds its own.
KINDS: list[str] = []

Part = TypeVar("Part")


class Registry(Generic[Part]):
    """Name → part of one kind; lists what is known, loads what is asked for.

    >>> fractions = Registry("fraction", {"exact": "fractions:Fraction"})
    >>> fractions["exact"](1, 2)
    Fraction(1, 2)
    >>> fractions["exat"]
    Traceback (most recent call last):
    ...
    embedprop.errors.UnknownComponentError: fraction='exat' is not known. Choose one of: 'exact'...
    """

    def __init__(self, kind: str, places: Mapping[str, str] | None = None) -> None:
        self.kind = kind
        KINDS.append(kind)
        self._places = dict(places or {})
        self._parts: dict[str, Part] = {}

    def register(self, name: str) -> Callable[[Part], Part]:
        """Return a decorator that registers a part of this session under `name`."""

        def add(part: Part) -> Part:
            if name in self:
                raise ValueError(f"{self.kind} {name!r} is registered twice.")
            self._parts[name] = part
            return part

        return add

    def __getitem__(self, name: str) -> Part:
        if not isinstance(name, str) or name not in self._parts:
            self._parts[name] = self._loaded(name)
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._places, **self._parts, **_foreign().get(self.kind, {})})

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        # Others are asked last: to look through what is installed takes some milliseconds.
        if not isinstance(name, str):
            return False
        return name in self._places or name in self._parts or any(name == one for one in self)

    def name_of(self, part: object) -> str | None:
        """Return the name under which a part was loaded or registered."""
        return next((name for name, one in self._parts.items() if one is part), None)

    def _loaded(self, name: str) -> Part:
        if name not in self:
            require_one_of(self.kind, name, list(self))
        place = self._places.get(name) or _foreign()[self.kind][name]
        module, _, attribute = place.partition(":")
        try:
            part: Part = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            if isinstance(error, ImportError) and error.name == "torch":
                raise InvalidParameterError(
                    f"{self.kind}={name!r} needs torch, which is not installed. Install it with: "
                    f"pip install 'embedprop[torch]'"
                ) from error
            raise InvalidParameterError(
                f"{self.kind}={name!r} is registered as {place!r}, which cannot be loaded "
                f"({error}). Correct the entry point {self.kind}.{name!s} of the package that "
                f"registers it, or install that package again."
            ) from error
        if not callable(part):
            raise InvalidParameterError(
                f"{self.kind}={name!r} is registered as {place!r}, which is not a class. Correct "
                f"the entry point {self.kind}.{name!s} of the package that registers it."
            )
        return part


@cache
def _foreign() -> dict[str, dict[str, Any]]:
    """Return what other packages register: {kind: {name: "module:Class"}}."""
    found: dict[str, dict[str, Any]] = {}
    for point in entry_points(group=GROUP):
        kind, _, name = point.name.partition(".")
        if kind not in KINDS or not name:
            logger.warning(
                "Not used: the entry point %r of the group %s. Expected KIND.NAME, KIND one of %s.",
                point.name,
                GROUP,
                ", ".join(KINDS),
            )
            continue
        found.setdefault(kind, {})[name] = f"{point.module}:{point.attr}"
    return found

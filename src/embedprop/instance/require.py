"""Checks of single parameters; their messages name the parameter, its value and the cure."""

from collections.abc import Collection, Mapping, Sequence
from operator import index
from typing import Any, TypeVar

from embedprop.errors import InvalidParameterError, UnknownComponentError, did_you_mean

Name = TypeVar("Name", bound=str)


def require_one_of(name: str, value: Any, known: Sequence[Name]) -> Name:
    """Return `value` if it is one of the known names.

    >>> require_one_of("schedule", "linar", ("constant", "linear"))
    Traceback (most recent call last):
    ...
    embedprop.errors.UnknownComponentError: schedule='linar' is not known. Choose one of: ...
    """
    if value not in known:
        names = ", ".join(map(repr, known))
        raise UnknownComponentError(
            f"{name}={value!r} is not known. Choose one of: {names}.{did_you_mean(value, known)}"
        )
    return known[known.index(value)]


def require_bool(name: str, value: Any) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool):
        raise _impossible(name, value, "True or False")
    return value


def require_count(name: str, value: Any, least: int = 1) -> int:
    """Return `value` if it is a whole number of at least `least`."""
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise _impossible(name, value, f"a whole number of at least {least}")
    return number


def require_share(name: str, value: Any) -> float:
    """Return `value` if it is a number from 0 to below 1."""
    if not isinstance(value, bool | str | bytes) and value == 0:
        return 0.0
    share = require_positive(name, value)
    if share >= 1:
        raise _impossible(name, value, "a number from 0 to below 1")
    return share


def require_positive(name: str, value: Any) -> float:
    """Return `value` if it is a finite number above 0."""
    try:
        if isinstance(value, bool | str | bytes):
            raise TypeError
        number = float(value)
    except TypeError:
        raise _impossible(name, value, "a number above 0") from None
    except OverflowError:  # an integer beyond all floats
        number = float("inf")
    if not 0 < number < float("inf"):
        raise _impossible(name, value, "a finite number above 0")
    return number


def _impossible(name: str, value: Any, expected: str) -> InvalidParameterError:
    return InvalidParameterError(f"{name}={value!r}: expected {expected}, got {value!r}.")


def per_type(name: str, value: Any, label_types: Collection[str]) -> dict[str, tuple[str, Any]]:
    """Return (name for messages, value) per label type from one value or a dict of them."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(label_types, (name, value))
    if value.keys() != set(label_types):
        raise InvalidParameterError(
            f"{name}={dict(value)!r}: expected one entry for each label type that is learned "
            f"({', '.join(map(repr, label_types))}), got {', '.join(map(repr, value)) or 'none'}."
        )
    return {key: (f"{name}[{key!r}]", value[key]) for key in label_types}


def per_some_types(
    name: str, value: Any, label_types: Collection[str]
) -> dict[str, tuple[str, Any]]:
    """Return the same as `per_type`, but a dict may leave types out: their value is None."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(label_types, (name, value))
    for key in value:
        if key not in label_types:
            raise InvalidParameterError(
                f"{name} has an entry for {key!r}, which is not a label type that is learned. "
                f"Those are: {', '.join(map(repr, label_types))}.{did_you_mean(key, label_types)}"
            )
    return {key: (f"{name}[{key!r}]", value.get(key)) for key in label_types}

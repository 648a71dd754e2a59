"""How messages name numbers, rows and choices."""

from collections.abc import Sequence

from embedprop.errors import InvalidGraphError, InvalidParameterError, did_you_mean


def counted(number: int, noun: str) -> str:
    """Return a number and what it counts.

    >>> counted(1, "directed edge"), counted(2000, "node")
    ('1 directed edge', '2,000 nodes')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def bad_row(what: str, row: int, problem: str) -> InvalidGraphError:
    """Return the error about a row of `what`, which the user gave in memory.

    >>> bad_row("Edges", 2, "the name is missing.")
    InvalidGraphError('Edges, row 2 (counted from 0): the name is missing.')
    """
    return InvalidGraphError(f"{what}, row {row} (counted from 0): {problem}")


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a value of parameter `name` that is not one of `choices`.

    >>> check_choice("self_loops", "keeep", ["drop", "keep"])
    Traceback (most recent call last):
    ...
    embedprop.errors.InvalidParameterError: self_loops must ... Did you mean 'keep'?
    """
    if value not in choices:
        known = ", ".join(map(repr, choices))
        near = did_you_mean(value, choices)
        raise InvalidParameterError(f"{name} must be one of {known}, not {value!r}.{near}")

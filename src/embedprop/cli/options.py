"""Options that several commands have, and how their texts become values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

Number = TypeVar("Number", int, float)

ModelArgument = Annotated[Path, typer.Argument(help="The folder of a model.", show_default=False)]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Return {"word": "words.csv"} of ["word=words.csv"]."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            form = "TYPE=FILE" if option == "--label" else "NAME=VALUE"
            raise bad_value(option, f"expected {form}, got {text!r}")
        if name in found:
            raise bad_value(option, f"{name!r} is given twice")
        found[name.strip()] = value
    return found


def listed(option: str, text: str | None) -> list[str] | None:
    """Return ["word", "node"] of "word,node"."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise bad_value(option, f"expected names with commas between them, got {text!r}")
    return names


def per_type(option: str, text: str, number: Callable[[str], Number]) -> Number | dict[str, Number]:
    """Return 64 of "64", and {"node": 64, "word": 128} of "node=64,word=128"."""
    if "=" not in text:
        return number_of(option, text, number)
    parts = pairs(option, text.split(","))
    return {name: number_of(option, value, number) for name, value in parts.items()}


def bad_value(option: str, problem: str) -> typer.BadParameter:
    """Return the error of a bad value of an option."""
    return typer.BadParameter(problem, param_hint=option)


def number_of(option: str, text: str, number: Callable[[str], Number]) -> Number:
    """Return 7 of "7", or the error of an option that is no number."""
    try:
        return number(text)
    except ValueError:
        kind = "a whole number" if number is int else "a number"
        raise bad_value(option, f"expected {kind}, got {text!r}") from None

"""Options that several commands have, and how their texts become values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

Number = TypeVar("Number", int, float)

ModelArgument = Annotated[Path, typer.Argument(help="The folder of a model.", show_default=False)]
LabelOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE=FILE",
        help="Labels: a file with columns node,label[,weight]. Repeat it for more label types; "
        "TYPE:numeric (columns node,value...) and TYPE:text (node,text) are other kinds.",
        show_default=False,
    ),
]
NodesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="A file with a column node that declares nodes, isolated ones too."
    ),
]
DirectedOption = Annotated[
    bool, typer.Option("--directed", help="Labels travel from source to target only.")
]
UnknownNodesOption = Annotated[
    str,
    typer.Option(
        metavar="error|ignore|add", help="What to do with labels of nodes that no edge names."
    ),
]
SelfLoopsOption = Annotated[
    str, typer.Option(metavar="drop|keep", help="What to do with edges from a node to itself.")
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="source=NAME,target=NAME",
        help="Other names of the columns; their numbers if there is no header.",
    ),
]
HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line names the columns. Found out if not given.",
        show_default=False,
    ),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="What separates columns. Found out if not given."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Return {"word": "words.csv"} of ["word=words.csv"]."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            form = "TYPE=FILE" if option == "--label" else "NAME=VALUE"
            raise bad_value(option, f"expected {form}, but came {text!r}")
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
        raise bad_value(option, f"expected names with commas between them, but came {text!r}")
    return names


def per_type(option: str, text: str, number: Callable[[str], Number]) -> Number | dict[str, Number]:
    """Return 64 of "64", and {"node": 64, "word": 128} of "node=64,word=128"."""
    if "=" not in text:
        return number_of(option, text, number)
    parts = pairs(option, text.split(","))
    return {name: number_of(option, value, number) for name, value in parts.items()}


def integer_or_none(option: str, text: str) -> int | None:
    """Return 7 of "7", and None of "none"."""
    return None if text.lower() == "none" else number_of(option, text, int)


def is_given(context: typer.Context, parameter: str) -> bool:
    """Return whether an option of the running command was given; `verbose` is told by --quiet."""
    source = context.get_parameter_source("quiet" if parameter == "verbose" else parameter)
    return source is not None and source.name != "DEFAULT"


def bad_value(option: str, problem: str) -> typer.BadParameter:
    """Return the error of a bad value of an option."""
    return typer.BadParameter(problem, param_hint=option)


def number_of(option: str, text: str, number: Callable[[str], Number]) -> Number:
    """Return 7 of "7", or the error of an option that is no number."""
    try:
        return number(text)
    except ValueError:
        kind = "a whole number" if number is int else "a number"
        raise bad_value(option, f"expected {kind}, but came {text!r}") from None

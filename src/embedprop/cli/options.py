"""Options: groups that commands share, and how their texts become values."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, field, fields, is_dataclass
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

Number = TypeVar("Number", int, float)

ModelArgument = Annotated[Path, typer.Argument(help="A model folder.", show_default=False)]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def option(default: Any, help: str, metavar: str | None = None, flags: str | None = None) -> Any:
    """Return a field of a group of options (a dataclass); a default of ... makes it required.

    The option is named after the field, unless `flags` has another name: ``"--on/--off"``.
    """
    metadata = {"help": help, "metavar": metavar, "flags": flags}
    return field(default=MISSING if default is ... else default, metadata=metadata)


def flag_of(name: str) -> str:
    """Return "--train-share" of "train_share"."""
    return f"--{name.replace('_', '-')}"


def with_options(
    command: Callable[..., None], more: Mapping[str, Any] = MappingProxyType({})
) -> Callable[..., None]:
    """Return a command for typer: its groups of options, and `more` for `**given`, one by one.

    `more` are annotations of options that are None if they are not given.
    """
    signature = inspect.signature(command, eval_str=True)
    own, groups = list[inspect.Parameter](), dict[str, Any]()
    for name, one in signature.parameters.items():
        if is_dataclass(one.annotation):
            groups[name] = one.annotation
            own += _members(one.annotation)
        elif one.kind is one.VAR_KEYWORD:
            own += [_parameter(name, annotation, None) for name, annotation in more.items()]
        else:
            own.append(_parameter(name, one.annotation, one.default))

    # What is required comes first in the help.
    own.sort(key=lambda one: one.default is not one.empty)

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
        command(**given)

    run.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in own}
    return run


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _members(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group)
    for one in fields(group):
        metadata = dict(one.metadata)
        # A switch gets no opposite, which typer would add.
        flags = metadata.pop("flags") or (flag_of(one.name) if one.default is False else None)
        made = typer.Option(*filter(None, [flags]), **metadata)
        default = inspect.Parameter.empty if one.default is MISSING else one.default
        yield _parameter(one.name, Annotated[hints[one.name], made], default)


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
        raise bad_value(option, f"expected names separated by commas, got {text!r}")
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
    """Return 7 of "7"; raise an error if the option is not a number."""
    try:
        return number(text)
    except ValueError:
        kind = "a whole number" if number is int else "a number"
        raise bad_value(option, f"expected {kind}, got {text!r}") from None

"""The options of `fit` that set parameters: made from the parameters' classes and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from functools import cache, partial
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import typer

from embedprop.cli.options import bad_value, listed, number_of, pairs, per_type
from embedprop.errors import InvalidParameterError
from embedprop.instance.parameters import PARAMETERS, EPBParameters, fast_settings
from embedprop.instance.parts import Parts

DEFAULT_METHOD, WITH_RELATIONS, FAST_METHOD = "closed-form", "epb", "epb"
# Options of EP-B that are not parameters of its estimator.
FIT_OPTIONS = ("fast", "targets", "target_weight")
# Set by other options, or made of several.
_NOT_OPTIONS = ("verbose", "parts")

# What docstrings say of values in Python, as they are written in a shell.
_IN_THE_SHELL = {
    "a dict gives one number for each": "or one for each, as in node=64,word=128",
    '["word"]': "word,topic",
    "None: ": "Not given: ",
    "None takes": "none takes",
    ", gensim KeyedVectors, a dict, or (names, array)": "",
}

Parse = Callable[[str, Any], Any]


class ParameterOption(NamedTuple):
    """One option: its methods, what typer is told, and how its text becomes a value."""

    methods: tuple[str, ...]
    annotation: Any
    parse: Parse
    in_parts: bool


def parameter_options() -> dict[str, ParameterOption]:
    """Return the options of both methods by the names of their parameters."""
    return _options()


@cache
def _options() -> dict[str, ParameterOption]:
    found: dict[str, ParameterOption] = {}
    for parameters in (EPBParameters, Parts, *PARAMETERS.values()):
        hints, texts = get_type_hints(parameters), _described(parameters)
        for field in fields(parameters):
            if field.name in found or field.name in _NOT_OPTIONS:
                continue
            methods = tuple(
                name
                for name, one in PARAMETERS.items()
                if hasattr(one, field.name) or (parameters is Parts and name == "epb")
            )
            found[field.name] = _option(field, hints[field.name], texts[field.name], methods)
    return found


def _option(field: Field[Any], hint: Any, text: str, methods: tuple[str, ...]) -> ParameterOption:
    in_parts = field.name in {one.name for one in fields(Parts)}
    metavar, parse = _kind(hint, in_parts)
    for python, shell in _IN_THE_SHELL.items():
        text = text.replace(python, shell)
    if len(methods) == 1:
        text = f"[{methods[0]}] {text}"
    if field.default is not None and not isinstance(field.default, bool):
        text += f" Default: {field.default}."
    name = f"--{field.name.replace('_', '-')}"
    if bool in get_args(hint):
        option = typer.Option(f"{name}/--no-{name[2:]}", help=text, show_default=False)
        return ParameterOption(methods, Annotated[bool | None, option], parse, in_parts)
    option = typer.Option(name, metavar=metavar, help=text, show_default=False)
    many = list[str] if parse is _files else str
    return ParameterOption(methods, Annotated[many | None, option], parse, in_parts)


def _kind(hint: Any, in_parts: bool) -> tuple[str, Parse]:
    """Return the metavar of an option and how its text becomes a value, by the type."""
    kinds = get_args(hint) or (hint,)
    is_per_type = any(get_origin(kind) is not None and _is_mapping(kind) for kind in kinds)
    number = float if float in kinds else int if int in kinds else None
    if get_origin(hint) is Literal:
        return "|".join(map(str, get_args(hint))), _as_it_is
    if bool in kinds:
        return "", _as_it_is
    if number is not None and is_per_type:
        return "X" if number is float else "N", partial(_per_type, number)
    if number is not None and str in kinds:
        return "N|auto", _count_or_word
    if number is not None:
        return "X" if number is float else "N", partial(_number, number, type(None) in kinds)
    if is_per_type:
        return "TYPE=FILE", _files
    if any(get_origin(kind) is not None for kind in kinds):
        return "A,B", listed
    return "NAME", part_of if in_parts and hint is Any else _as_it_is


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return inspect.isclass(origin) and issubclass(origin, Mapping)


def _as_it_is(option: str, value: Any) -> Any:
    del option
    return value


def _per_type(number: Callable[[str], Any], option: str, text: str) -> Any:
    return per_type(option, text, number)


def _number(number: Callable[[str], Any], optional: bool, option: str, text: str) -> Any:
    return None if optional and text.lower() == "none" else number_of(option, text, number)


def _count_or_word(option: str, text: str) -> int | str:
    return text if text == "auto" else number_of(option, text, int)


def _files(option: str, texts: list[str]) -> dict[str, str]:
    return pairs(option, texts)


def part_of(option: str, text: str) -> str | dict[str, str]:
    """Return "max" of "max", and {"word": "softmax(temperature=1)"} of "word=softmax(...)".

    >>> part_of("--loss", "node=logistic,word=softmax(temperature=0.2)")
    {'node': 'logistic', 'word': 'softmax(temperature=0.2)'}
    """
    if "=" not in text.split("(")[0]:
        return text
    pieces, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += character
    if depth:
        raise bad_value(option, f"a parenthesis is not closed in {text!r}")
    return pairs(option, pieces)


def _described(parameters: type) -> dict[str, str]:
    """Return what the docstring says of each parameter, its first sentences on one line."""
    section = inspect.getdoc(parameters) or ""
    section = section.partition("Parameters\n----------\n")[2].partition("\n\nExamples\n")[0]
    entries = re.findall(r"^(\w+) : [^\n]*\n((?:    [^\n]*\n?|\n)+)", section, re.MULTILINE)
    return {name: " ".join(text.replace("``", "").split()) for name, text in entries}


def chosen_parameters(given: Mapping[str, Any], *, fast: bool = False) -> dict[str, Any]:
    """Return the parameters that the options which were given say."""
    options, settings, parts = parameter_options(), dict[str, Any](), dict[str, Any]()
    for name, value in given.items():
        if not _is_given(value):
            continue
        option = options[name]
        parsed = option.parse(f"--{name.replace('_', '-')}", value)
        (parts if option.in_parts else settings)[name] = parsed
    if parts:
        settings["parts"] = parts
    return fast_settings(settings) if fast else settings


def _is_given(value: Any) -> bool:
    return value is not None and value != []


def require_options_of(method: str, given: Mapping[str, Any]) -> None:
    """Refuse options that only the other method has."""
    options = parameter_options()
    for name, value in given.items():
        methods = (FAST_METHOD,) if name in FIT_OPTIONS else options[name].methods
        if _is_given(value) and method not in methods:
            flag = f"--{name.replace('_', '-')}"
            raise InvalidParameterError(
                f"{flag} is an option of the method {methods[0]!r}, but the method is {method!r}. "
                f"Add --method {methods[0]}, or leave {flag} out."
            )


def with_parameter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Let typer see the options of both methods in place of a command's ``**given``."""
    signature = inspect.signature(command, eval_str=True)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    more = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option.annotation
        )
        for name, option in parameter_options().items()
    ]
    keyword = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    command.__signature__ = signature.replace(parameters=[*keyword, *more])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in [*keyword, *more]}
    return command

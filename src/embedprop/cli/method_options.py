"""The options of `fit` that set parameters: made from the parameters' classes and docstrings."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, fields
from functools import cache, partial
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import typer

from embedprop.cli.options import bad_value, flag_of, listed, number_of, pairs, per_type
from embedprop.errors import InvalidParameterError
from embedprop.instance.parameters import PARAMETERS, EPBParameters, fast_settings
from embedprop.instance.parts import Parts

FAST_METHOD = "epb"
# Set by other options, or made of several.
_NOT_OPTIONS = ("verbose", "parts")

# What docstrings say of values in Python, as they are written in a shell.
_IN_THE_SHELL = {
    "or a dict with one for each": "or one for each, as in node=64,word=128",
    '["word"]': "word,topic",
    "None: ": "Not given: ",
    "None takes": "none takes",
    ", gensim KeyedVectors, a dict, or (names, array)": "",
}

Parse = Callable[[str, Any], Any]


class ParameterOption(NamedTuple):
    """One option: its methods, its annotation for typer, and how its text becomes a value."""

    methods: tuple[str, ...]
    annotation: Any
    parse: Parse
    in_parts: bool


@cache
def parameter_options() -> dict[str, ParameterOption]:
    """Return the options of both methods by the names of their parameters."""
    found: dict[str, ParameterOption] = {}
    for parameters in (EPBParameters, Parts, *PARAMETERS.values()):
        hints, texts = get_type_hints(parameters), _described(parameters)
        for field in fields(parameters):
            if field.name in found or field.name in _NOT_OPTIONS:
                continue
            name, in_parts = field.name, parameters is Parts
            holder = "parts" if in_parts else name
            methods = tuple(key for key, one in PARAMETERS.items() if hasattr(one, holder))
            found[name] = _option(field, hints[name], texts[name], methods, in_parts)
    return found


def _option(
    field: Field[Any], hint: Any, text: str, methods: tuple[str, ...], in_parts: bool
) -> ParameterOption:
    metavar, parse = _kind(hint, in_parts)
    for python, shell in _IN_THE_SHELL.items():
        text = text.replace(python, shell)
    if len(methods) == 1:
        text = f"[{methods[0]}] {text}"
    if field.default is not None and not isinstance(field.default, bool):
        text += f" Default: {field.default}."
    name = flag_of(field.name)
    is_switch = bool in get_args(hint)
    names = f"{name}/--no-{name[2:]}" if is_switch else name
    option = typer.Option(names, metavar=metavar, help=text, show_default=False)
    value = bool if is_switch else list[str] if parse is pairs else str
    return ParameterOption(methods, Annotated[value | None, option], parse, in_parts)


def _kind(hint: Any, in_parts: bool) -> tuple[str | None, Parse]:
    """Return the metavar of an option and how its text becomes a value, by the type."""
    kinds = get_args(hint) or (hint,)
    is_per_type = any(_is_mapping(kind) for kind in kinds)
    number = float if float in kinds else int if int in kinds else None
    if get_origin(hint) is Literal:
        return "|".join(map(str, kinds)), _as_it_is
    if bool in kinds:
        return None, _as_it_is
    if number is not None:
        metavar = "X" if number is float else "N"
        if is_per_type:
            return metavar, partial(per_type, number=number)
        if str in kinds:
            return "N|auto", partial(_number_or, "auto", "auto", number=number)
        if type(None) in kinds:
            return metavar, partial(_number_or, "none", None, number=number)
        return metavar, partial(number_of, number=number)
    if is_per_type:
        return "TYPE=FILE", pairs
    if any(get_origin(kind) is not None for kind in kinds):
        return "A,B", listed
    return "NAME", part_of if in_parts and hint is Any else _as_it_is


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return inspect.isclass(origin) and issubclass(origin, Mapping)


def _as_it_is(option: str, value: Any) -> Any:
    del option
    return value


def _number_or(
    word: str, meaning: str | None, option: str, text: str, number: Callable[[str], float]
) -> Any:
    return meaning if text.lower() == word else number_of(option, text, number)


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
        raise bad_value(option, f"expected a closing parenthesis, got {text!r}")
    return pairs(option, pieces)


def _described(parameters: type) -> dict[str, str]:
    """Return what the docstring says of each parameter, its first sentences on one line."""
    section = inspect.getdoc(parameters) or ""
    section = section.partition("Parameters\n----------\n")[2].partition("\n\nExamples\n")[0]
    entries = re.findall(r"^(\w+) : [^\n]*\n((?:    [^\n]*\n?|\n)+)", section, re.MULTILINE)
    return {name: " ".join(text.replace("``", "").split()) for name, text in entries}


def chosen_parameters(given: Mapping[str, Any], *, fast: bool = False) -> dict[str, Any]:
    """Return the parameters that the given options set."""
    settings, parts = dict[str, Any](), dict[str, Any]()
    for name, value in given.items():
        option = parameter_options()[name]
        (parts if option.in_parts else settings)[name] = option.parse(flag_of(name), value)
    if parts:
        settings["parts"] = parts
    return fast_settings(settings) if fast else settings


def require_options_of(method: str, given: Iterable[str]) -> None:
    """Refuse options that only the other method has; those that are not parameters are EP-B's."""
    options = parameter_options()
    for name in given:
        methods = options[name].methods if name in options else (FAST_METHOD,)
        if method not in methods:
            flag = flag_of(name)
            raise InvalidParameterError(
                f"{flag} is an option of method {methods[0]!r}, but the method is {method!r}. "
                f"Add --method {methods[0]}, or leave {flag} out."
            )

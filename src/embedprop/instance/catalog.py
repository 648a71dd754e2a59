"""Every exchangeable part by kind and name, read from the source: torch need not be installed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from embedprop.errors import InvalidParameterError, UnknownComponentError

# The registry of each kind, as its modules call it, and the packages that hold these modules.
KINDS = {
    "label_embedding": "LABEL_EMBEDDINGS",
    "aggregator": "AGGREGATORS",
    "distance": "DISTANCES",
    "loss": "LOSSES",
    "negatives": "NEGATIVES",
    "neighborhood": "NEIGHBORHOODS",
    "representation": "REPRESENTATIONS",
}
_SOURCES = ("framework", "methods/epb", "model/representations.py")


@dataclass(frozen=True)
class PartInfo:
    """What a user needs to know of a part: its first line, and its own parameters' defaults.

    constants: what its class says of it, such as the kinds of labels that it reads.
    """

    description: str
    parameters: Mapping[str, Any]
    constants: Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A part that was chosen: its name and the parameters that were given."""

    name: str
    parameters: Mapping[str, Any]

    def __str__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        return f"{self.name}({given})" if given else self.name


@cache
def catalog() -> dict[str, dict[str, PartInfo]]:
    """Return all registered parts: {kind: {name: what it is}}.

    >>> catalog()["distance"]["euclidean"].description
    "The length of the difference: EP-B's."
    """
    found: dict[str, dict[str, PartInfo]] = {kind: {} for kind in KINDS}
    kind_of = {registry: kind for kind, registry in KINDS.items()}
    for text in _source_texts():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                for registry, name in _registrations(node):
                    if registry in kind_of:
                        found[kind_of[registry]][name] = _info(node)
    return found


def parts_table() -> str:
    """Return all parts as tables in Markdown, one for each kind."""
    lines = []
    for kind, known in catalog().items():
        lines += [f"## `{kind}`", "", "| name | what it is |", "|---|---|"]
        for name, info in known.items():
            given = ", ".join(f"{key}={value!r}" for key, value in info.parameters.items())
            text = info.description.replace("|", "\\|")
            lines.append(f"| `{name}{f'({given})' if given else ''}` | {text} |")
        lines.append("")
    return "\n".join(lines)


def parse_part(kind: str, text: Any) -> Part:
    """Return the part that is written as ``"softmax"`` or ``"softmax(temperature=0.2)"``.

    >>> parse_part("loss", "softmax(temperature=0.2)")
    Part(name='softmax', parameters={'temperature': 0.2})
    >>> parse_part("loss", "hinge")
    Traceback (most recent call last):
    ...
    embedprop.errors.UnknownComponentError: loss='hinge' is not known. Choose one of: ...
    """
    name, parameters = split_part(text)
    known = catalog()[registry_kind(kind)]
    if name not in known:
        names = ", ".join(map(repr, known))
        raise UnknownComponentError(f"{kind}={text!r} is not known. Choose one of: {names}.")
    unknown = [key for key in parameters if key not in known[name].parameters]
    if unknown:
        names = ", ".join(map(repr, known[name].parameters)) or "none"
        raise InvalidParameterError(
            f"{kind}={text!r}: {name!r} has no parameter {unknown[0]!r}. It has: {names}."
        )
    return Part(name, parameters)


def registry_kind(kind: str) -> str:
    """Return the kind in the catalog; g~ is chosen among the aggregators too."""
    kind = kind.partition("[")[0]
    return "aggregator" if kind == "reconstruction" else kind


def split_part(text: Any) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of a written part; no name if it cannot be read."""
    try:
        call = ast.parse(text, mode="eval").body
        if isinstance(call, ast.Name):
            return call.id, {}
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            given = {key.arg or "**": ast.literal_eval(key.value) for key in call.keywords}
            return call.func.id, given
    except (SyntaxError, TypeError, ValueError, MemoryError, RecursionError):
        pass
    return "", {}


def _source_texts() -> Iterator[str]:
    root = files("embedprop")
    for name in _SOURCES:
        place = root / name
        modules = [place] if place.is_file() else sorted(place.iterdir(), key=lambda f: f.name)
        for module in modules:
            if module.name.endswith(".py"):
                yield module.read_text(encoding="utf-8")


def _registrations(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield (registry, name) of each decorator ``@REGISTRY.register("name")``."""
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=registry), attr="register"),
                args=[ast.Constant(value=str() as name)],
            ):
                yield registry, name


def _info(node: ast.ClassDef) -> PartInfo:
    lines = (ast.get_docstring(node) or "").splitlines()
    parameters: dict[str, Any] = {}
    constants: dict[str, Any] = {}
    for item in node.body:
        match item:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                constants[name] = ast.literal_eval(value)
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            args = item.args
            plain = list(zip(args.args[::-1], args.defaults[::-1], strict=False))[::-1]
            named = zip(args.kwonlyargs, args.kw_defaults, strict=True)
            for arg, default in [*plain, *named]:
                if default is not None:
                    parameters[arg.arg] = ast.literal_eval(default)
    return PartInfo(lines[0] if lines else "", parameters, constants)

"""Names as shells and files spell them, where all are text, and as the model has them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Container, Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from embedprop.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    from embedprop.graph.graph import Graph
    from embedprop.model.model import Model

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def as_known(text: str, known: Container[Hashable]) -> Hashable:
    """Return the known name that `text` stands for: the text itself, or the number it spells.

    Examples
    --------
    >>> as_known("7", {7, 8}), as_known("7", {"7", 7}), as_known("9", {7})
    (7, '7', '9')
    """
    if text in known or not _INTEGER.fullmatch(text):
        return text
    return int(text) if int(text) in known else text


def shell_word(name: object) -> str:
    """Return a name as it is typed in a shell.

    >>> shell_word("two words")
    "'two words'"
    """
    word = shlex.quote(str(name))
    return f"-- {word}" if word.startswith("-") else word


def respelled(graph: Graph, model: Model) -> Graph:
    """Return a graph that was read from files with the names that the model has for them."""
    vocabularies = {
        label_type: _respelled(vocabulary, model.vocabularies.get(label_type, ()))
        for label_type, vocabulary in graph.vocabularies.items()
    } | {"node": _respelled(graph.nodes, model.nodes)}
    return replace(graph, nodes=vocabularies["node"], vocabularies=vocabularies)


def _respelled(vocabulary: Vocabulary, names: Iterable[Hashable]) -> Vocabulary:
    known = {name for name in names if not isinstance(name, str)}
    if not known:
        return vocabulary
    known.update(names)
    return Vocabulary(as_known(str(name), known) for name in vocabulary)

"""Texts → words: as a set of labels, or as tokens in their order."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError, did_you_mean
from embedprop.graph import Graph, Vocabulary
from embedprop.graph.build import label_multisets
from embedprop.graph.labels import TextLabels
from embedprop.graph.messages import counted

logger = logging.getLogger(__name__)

_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Return the words of a text in their order: runs of letters, digits and _, in lower case.

    >>> words_of("The Graph's 2 nodes: Ä, ß!")
    ['the', 'graph', 's', '2', 'nodes', 'ä', 'ß']
    """
    return _WORD.findall(text.lower())


def as_word_sets(graph: Graph, label_type: str) -> Graph:
    """Return the graph with the words of its texts as labels: a bag of words.

    The type keeps its name and place. The weight of a word is its count in the text; a
    text without any word has no labels.

    >>> graph = Graph.from_edges([("a", "b")], labels={"title:text": {"a": "To be or not to be"}})
    >>> graph = as_word_sets(graph, "title")
    >>> graph.vocabulary("title").names, graph.labels["title"].weights_of(0)
    (('to', 'be', 'or', 'not'), array([2., 2., 1., 1.], dtype=float32))
    """
    values = graph.values.get(label_type)
    if not isinstance(values, TextLabels):
        texts = [name for name, kind in graph.kinds.items() if kind == TextLabels.kind]
        raise InvalidParameterError(
            f"{label_type!r} is not a text label type of this graph. Its text label types: "
            f"{', '.join(map(repr, texts)) or 'none'}. Give texts as 'title:text'."
            f"{did_you_mean(label_type, texts)}"
        )
    # Ids in order of appearance: the vocabulary does not depend on hashing or sorting.
    rows = [words_of(text or "") for text in values.texts]
    words = Vocabulary.trusted(dict.fromkeys(chain(*rows)))
    nodes = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), list(map(len, rows)))
    sets = label_multisets(graph.n_nodes, nodes, words.find_all(chain(*rows)))
    return replace(
        graph,
        labels={**graph.labels, label_type: sets},
        vocabularies={**graph.vocabularies, label_type: words},
        values={name: each for name, each in graph.values.items() if name != label_type},
    )


@dataclass(frozen=True)
class Tokens:
    """The tokens that a model of texts knows; ids count from 1, 0 is padding.

    Examples
    --------
    >>> tokens = Tokens.of(["a rose is a rose", None], max_tokens=2)
    >>> tokens.vocabulary.names, tokens.encode(["Is a rose a ROSE?", "is"], max_length=3)
    (('a', 'rose'), array([[1, 2, 1], [0, 0, 0]]))
    """

    vocabulary: Vocabulary

    @classmethod
    def of(cls, texts: Iterable[str | None], max_tokens: int | None = None) -> Tokens:
        """Take the words of training texts, the most frequent first, at most `max_tokens`.

        Words that are equally frequent stand in order of appearance.
        """
        _require_at_least_one("max_tokens", max_tokens)
        counts = Counter(word for text in texts if text is not None for word in words_of(text))
        if max_tokens is not None and len(counts) > max_tokens:
            logger.info(
                "keeping the %d most frequent of %d words as tokens", max_tokens, len(counts)
            )
        return cls(Vocabulary.trusted(word for word, _ in counts.most_common(max_tokens)))

    def __len__(self) -> int:
        return len(self.vocabulary)

    def encode(self, texts: Sequence[str | None], max_length: int | None) -> NDArray[np.int64]:
        """Return the ids of the tokens of each text: (n, length), padded with 0 at the end.

        Words that are not tokens are skipped, then all beyond the first `max_length` (None: no
        limit). The length is that of the longest row, at least 1.
        """
        _require_at_least_one("max_length", max_length)
        rows = [self._ids(text or "") for text in texts]
        n_cut = 0 if max_length is None else sum(len(row) > max_length for row in rows)
        if n_cut:
            cut = f"{n_cut} of {counted(len(rows), 'text')}"
            logger.info("cut %s after %d tokens", cut, max_length)
        rows = [row[:max_length] for row in rows]
        encoded = np.zeros((len(rows), max(map(len, rows), default=1) or 1), dtype=np.int64)
        for place, row in enumerate(rows):
            encoded[place, : len(row)] = row
        return encoded

    def _ids(self, text: str) -> NDArray[np.int32]:
        ids = self.vocabulary.find_all(words_of(text))
        return ids[ids >= 0] + np.int32(1)


def _require_at_least_one(name: str, value: int | None) -> None:
    if value is not None and value < 1:
        raise InvalidParameterError(f"{name}={value!r}: expected at least 1, got {value!r}.")

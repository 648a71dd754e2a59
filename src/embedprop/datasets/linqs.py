"""LINQS's files NAME.content and NAME.cites → a data set with the direction of each citation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, vstack

from embedprop.datasets.converted import Converted, unexpected

_N_PARTS = 3  # an id, at least one word, a class


def convert_linqs(content: Path, cites: Path) -> Converted:
    """Return the data set in LINQS's files: a directed graph, source cites target.

    Nodes are numbered in the order of `content`; papers that only `cites` names (15 in Citeseer)
    follow in the order of their appearance, without words and without class. Self-citations stay,
    a line that is there twice counts once.

    Parameters
    ----------
    content
        In each line the id of a paper, a number for each word, and its class.
    cites
        In each line the id of the cited paper, then the id of the citing paper.
    """
    ids: dict[str, int] = {}
    class_of: list[str] = []
    rows: list[csr_array[np.float32]] = []
    for place, parts in _lines(content):
        if len(parts) < _N_PARTS or (rows and len(parts) - 2 != rows[0].shape[1]):
            expected = f"{rows[0].shape[1]} words" if rows else "words"
            raise unexpected(place, f"an id, {expected} and a class")
        if parts[0] in ids:
            raise unexpected(place, f"an id that is new, but {parts[0]!r} was there")
        ids[parts[0]] = len(ids)
        class_of.append(parts[-1])
        rows.append(_words(place, parts[1:-1]))
    if not rows:
        raise unexpected(content, "papers, but the file is empty")
    arcs = []
    for place, parts in _lines(cites):
        if len(parts) != 2:
            raise unexpected(place, "two ids, the cited paper and the citing one")
        # A paper that only this file names gets the next number.
        cited, citing = (ids.setdefault(name, len(ids)) for name in parts)
        arcs.append((citing, cited))
    class_names, columns = np.unique(class_of, return_inverse=True)
    # Papers without a line of content have no words: empty rows at the end.
    nothing = csr_array((1, rows[0].shape[1]), dtype=np.float32)
    words = vstack([*rows, *[nothing] * (len(ids) - len(rows))], format="csr")
    return Converted(
        len(ids),
        np.unique(np.array(arcs, dtype=np.int64).reshape(-1, 2), axis=0),
        np.stack([np.arange(len(columns)), columns], axis=1),
        class_names.tolist(),
        directed=True,
        words=csr_array(words),
        original_ids=list(ids),
    )


def _words(place: str, texts: list[str]) -> csr_array[np.float32]:
    try:
        weights = np.array(texts, dtype=np.float32)
    except ValueError:
        weights = np.array([np.nan], dtype=np.float32)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise unexpected(place, "a number for each word, not negative")
    return csr_array(weights[None, :])


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Give the place and the parts of each line that is not blank."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if parts := line.split():
                    yield f"{path}, line {number}", parts
    except UnicodeDecodeError as error:
        raise unexpected(path, f"text ({error})") from error

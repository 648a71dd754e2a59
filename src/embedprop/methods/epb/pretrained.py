"""Vectors from elsewhere (word2vec, GloVe, gensim, an array) as the start of a lookup table."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.files.vectors_in import read_vectors
from embedprop.graph.vocabulary import is_missing, plain_name

logger = logging.getLogger(__name__)

EXPECTED = (
    "a text file of word2vec or GloVe, gensim's KeyedVectors, {label: vector}, or a pair (names, "
    "array)"
)


@dataclass(frozen=True, eq=False)
class PretrainedVectors:
    """Named vectors that were learned elsewhere.

    Parameters
    ----------
    names
        One name for each row, none twice.
    vectors
        (n, dim) float32, finite.

    Examples
    --------
    >>> pretrained = PretrainedVectors.of({"graph": [1.0, 2.0], "node": [0.0, 3.0]})
    >>> pretrained.names, pretrained.dim
    (('graph', 'node'), 2)
    """

    names: tuple[Hashable, ...]
    vectors: NDArray[np.float32]

    def __post_init__(self) -> None:
        self.vectors.setflags(write=False)

    @property
    def dim(self) -> int:
        """The width of the vectors."""
        return int(self.vectors.shape[1])

    @classmethod
    def of(cls, source: Any, only: Collection[Hashable] | None = None) -> PretrainedVectors:
        """Return the vectors of `source`.

        Parameters
        ----------
        source
            A path (see `read`), gensim's KeyedVectors, ``{label: vector}``, a pair (names, array of
            shape (n, dim)), or what this function returned. Of a name that comes twice the first
            vector counts.
        only
            As in `read`; what is in memory already is kept whole.

        Raises
        ------
        InvalidParameterError
            It is none of these, or its vectors are ragged, not numbers or not finite.
        """
        if isinstance(source, PretrainedVectors):
            return source
        if isinstance(source, str | os.PathLike):
            return cls.read(source, only)
        if hasattr(source, "index_to_key") and hasattr(source, "vectors"):
            return cls._of_pair(source.index_to_key, source.vectors)
        if isinstance(source, Mapping):
            return cls._of_pair(list(source), list(source.values()))
        if isinstance(source, tuple | list) and len(source) == 2:
            return cls._of_pair(*source)
        hint = " Of a gensim model give model.wv." if hasattr(source, "wv") else ""
        raise InvalidParameterError(
            f"Expected pretrained vectors as {EXPECTED}, got {source!r:.80} of type "
            f"{type(source).__name__}.{hint}"
        )

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], only: Collection[Hashable] | None = None
    ) -> PretrainedVectors:
        """Read word2vec's or GloVe's text format, gzipped or not; names are strings.

        A line holds a token and its numbers, separated by blanks; word2vec puts a line "count dim"
        above. The file is read in pieces, so memory holds only what is kept. Of a token that comes
        twice the first vector counts; a warning tells it.

        Parameters
        ----------
        path
            The file, in UTF-8.
        only
            Keep the tokens that are among these, and the first of the file as an example of its
            spelling: much faster. The numbers of others are counted, not read. Default: all.

        Raises
        ------
        InvalidParameterError
            The file is missing, empty or damaged, a line is ragged or holds what is no finite
            number; the message names the line.
        """
        try:
            names, vectors = read_vectors(Path(path), only)
        except InvalidGraphError as error:  # of the reader of bytes, which serves graphs
            raise InvalidParameterError(str(error)) from error
        return cls(names, vectors)

    @classmethod
    def _of_pair(cls, names: Any, vectors: Any) -> PretrainedVectors:
        plain = _plain_names(names)
        table = _as_table(plain, vectors)
        row_of: dict[Hashable, int] = {}
        for row, name in enumerate(plain):
            row_of.setdefault(name, row)
        if len(row_of) < len(plain):
            again = next(name for row, name in enumerate(plain) if row_of[name] != row)
            logger.warning(
                f"pretrained vectors: repeated names ({len(plain) - len(row_of)}), such as "
                f"{again!r}; the first vector of each is used"
            )
            table = table[list(row_of.values())]
        return cls(tuple(row_of), table)


def start_from(
    vectors: NDArray[np.floating[Any]],
    vocabulary_names: Sequence[Hashable],
    pretrained: PretrainedVectors,
    label_type: str,
) -> NDArray[np.bool_]:
    """Write the pretrained vectors of known labels into `vectors`; return which rows these are.

    Row i of `vectors` belongs to ``vocabulary_names[i]``. Rows of labels without a pretrained
    vector stay as they are, and so do further rows (dummy labels). A name belongs to the label that
    equals it: ``"1"`` is not 1.

    Raises
    ------
    InvalidParameterError
        The pretrained vectors have another number of dimensions; nothing is written.

    Examples
    --------
    >>> table = np.zeros((2, 1))
    >>> start_from(table, ["a", "b"], PretrainedVectors.of({"b": [5.0]}), "word")
    array([False,  True])
    >>> table.tolist()
    [[0.0], [5.0]]
    """
    dim = vectors.shape[1]
    if pretrained.dim != dim:
        raise InvalidParameterError(
            f"Label type {label_type!r}: the pretrained vectors have {pretrained.dim} dimensions, "
            f"but dim={dim}. Set dim={pretrained.dim} (for this type alone: "
            f"dim={{{label_type!r}: {pretrained.dim}, ...}}), or give vectors of {dim} dimensions."
        )
    row_of = {name: row for row, name in enumerate(vocabulary_names)}
    rows = np.array([row_of.get(name, -1) for name in pretrained.names], dtype=np.int64)
    found = rows >= 0
    vectors[rows[found]] = pretrained.vectors[found]
    is_matched = np.zeros(len(vectors), dtype=np.bool_)
    is_matched[rows[found]] = True
    n_found, n_labels = int(found.sum()), len(vocabulary_names)
    logger.info(
        f"label type {label_type!r}: {n_found} of {n_labels} labels start from pretrained vectors"
    )
    if n_labels and not n_found:
        logger.warning(
            f"label type {label_type!r}: no label (such as {vocabulary_names[0]!r}) has a "
            f"pretrained vector (such as that of {pretrained.names[0]!r}), so all start as usual; "
            f"use the same spelling and type in both"
        )
    return is_matched


def _plain_names(names: Any) -> list[Hashable]:
    try:
        plain = [plain_name(name) for name in names]
        set(plain)
    except TypeError as error:
        raise InvalidParameterError(
            f"Pretrained vectors: expected a list of names that can be hashed, got "
            f"{names!r:.80} ({error})."
        ) from None
    missing = [row for row, name in enumerate(plain) if is_missing(name)]
    if missing:
        raise InvalidParameterError(
            f"Pretrained vectors: the name of row {missing[0]} (counted from 0) is missing "
            f"({plain[missing[0]]!r}). Fill it in, or leave the row out."
        )
    return plain


def _as_table(names: Sequence[Hashable], vectors: Any) -> NDArray[np.float32]:
    """Return one finite vector of at least one number for each name, or say what is wrong."""
    try:
        given = np.asarray(vectors)
    except (TypeError, ValueError, RuntimeError) as error:  # ragged, or a tensor with a gradient
        raise InvalidParameterError(
            f"Pretrained vectors: expected one vector of the same length for each name, but "
            f"{_ragged(names, vectors) or f'they do not form an array: {error}'}. Correct it."
        ) from None
    is_table = given.ndim == 2 and len(given) == len(names) and given.size > 0
    if not is_table or given.dtype.kind not in "biuf":
        raise InvalidParameterError(
            f"Pretrained vectors: expected numbers of shape (names, dim) for {len(names)} names, "
            f"at least one, got {given.dtype} of shape {given.shape}. Correct one of the two."
        )
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite: refused below
        table = given.astype(np.float32)
    good = np.isfinite(table).all(axis=1)
    if not good.all():
        row = int(np.argmin(good))
        raise InvalidParameterError(
            f"Pretrained vectors: expected finite numbers that float32 holds, but the vector of "
            f"{names[row]!r} is {given[row].tolist()!s:.80}. Correct it, or leave it out."
        )
    return table


def _ragged(names: Sequence[Hashable], vectors: Any) -> str:
    """Return which vector is not as long as the first; nothing if that is not the problem."""
    try:
        sizes = [len(vector) for vector in vectors]
    except TypeError:
        return ""
    for name, size in zip(names, sizes, strict=False):
        if size != sizes[0]:
            return f"that of {names[0]!r} has {sizes[0]} numbers and that of {name!r} has {size}"
    return ""

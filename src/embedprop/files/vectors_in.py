"""A text file of named vectors (word2vec, GloVe) → tokens and their numbers."""

import logging
from array import array
from collections.abc import Collection, Hashable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from embedprop.errors import InvalidParameterError
from embedprop.graph.arrays import Vectors
from embedprop.graph.files.byte_chunks import DEFAULT_LIMITS, Limits, byte_chunks
from embedprop.graph.files.text_blocks import BOM, shortened, too_long
from embedprop.graph.messages import counted

logger = logging.getLogger(__name__)


def read_vectors(
    path: Path, only: Collection[Hashable] | None = None, limits: Limits = DEFAULT_LIMITS
) -> tuple[tuple[str, ...], Vectors]:
    """Return the tokens and vectors of a file; with `only`, those of these and of the first.

    Raises
    ------
    InvalidGraphError
        The file is missing, unreadable or a damaged gzip file.
    InvalidParameterError
        It holds no vectors, a line is ragged, or a value is not a finite number.
    """
    table = _Table(path, only)
    for line, text in _lines(path, limits):
        table.add(line, text)
    return table.finished()


def _lines(path: Path, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, each with its number from 1."""
    # `rest` is a line whose end has not been read yet.
    rest, line = b"", 0
    for chunk in byte_chunks(path, limits):
        *whole, rest = (rest + chunk if line else (rest + chunk).removeprefix(BOM)).split(b"\n")
        for text in whole:
            line += 1
            if text.strip():
                yield line, text
        if len(rest) > limits.record_bytes:
            raise too_long(path, line + 1, limits)
    if rest.strip():
        yield line + 1, rest


class _Table:
    """What was read from a file so far."""

    def __init__(self, path: Path, only: Collection[Hashable] | None) -> None:
        self.path = path
        self.only = None if only is None else frozenset(only)
        self.dim = 0  # not known yet
        self.says = ""  # what is expected beside a token, and why
        self.n_promised: int | None = None  # by the header
        self.n_vectors = 0
        self.row_of: dict[str, int] = {}
        self.numbers = array("f")
        self.n_again, self.again = 0, ""  # tokens that came before, and the first of them

    def add(self, line: int, text: bytes) -> None:
        """Take a line that is not blank."""
        if b"\0" in text:
            raise self._refused(
                line,
                "a zero byte, so this is not a text file. Expected a token and its numbers in each "
                "line. Read word2vec's binary format with gensim's KeyedVectors."
                "load_word2vec_format(path, binary=True), and give what it returns.",
            )
        fields = text.split()
        if not self.dim:
            if _is_header(fields):
                self.n_promised, self.dim = int(fields[0]), int(fields[1])
                self.says = f"{self.dim} numbers (as line {line}, the header, says)"
                return
            self.dim = len(fields) - 1
            self.says = f"{self.dim} numbers (as in line {line}, the first)"
        self._check_fields(line, text, fields)
        self.n_vectors += 1
        token = self._token(line, b" ".join(fields[: -self.dim]))
        if token in self.row_of:
            self.n_again, self.again = self.n_again + 1, self.again or token
        # The first token is kept in any case: an empty result would have no width.
        elif self.only is None or token in self.only or not self.row_of:
            self.row_of[token] = len(self.row_of)
            self._add_numbers(line, fields[-self.dim :])

    def finished(self) -> tuple[tuple[str, ...], Vectors]:
        """Return the tokens and vectors, once all lines are read."""
        if not self.n_vectors:
            raise InvalidParameterError(
                f"{self.path} holds no vectors. Expected lines of a token and its numbers."
            )
        if self.n_promised is not None and self.n_promised != self.n_vectors:
            raise InvalidParameterError(
                f"{self.path}: the header says {counted(self.n_promised, 'vector')}, but there "
                f"are {self.n_vectors}. If the file was cut off, copy it again; else correct or "
                f"remove the header."
            )
        if self.n_again:
            again = f"{counted(self.n_again, 'repeated token')}, such as {self.again!r}"
            logger.warning("%s: %s; the first vector of each is used", self.path, again)
        vectors = np.frombuffer(self.numbers, dtype=np.float32).reshape(-1, self.dim)
        return tuple(self.row_of), vectors

    def _refused(self, line: int, what: str) -> InvalidParameterError:
        return InvalidParameterError(f"{self.path}, line {line}: {what}")

    def _check_fields(self, line: int, text: bytes, fields: list[bytes]) -> None:
        """Refuse a ragged line; a token may hold blanks (GloVe's ". . .") but then no number."""
        # The last `dim` fields are the numbers, whatever is before them is the token.
        n_more = len(fields) - self.dim - 1
        if self.dim and n_more >= 0 and not any(map(_is_number, fields[1 : n_more + 1])):
            return
        shown = shortened(text.decode(errors="replace"))
        numbers = self.says if self.dim else "numbers"
        found = f"got {counted(len(fields), 'field')}: {shown!r}. Correct the line or remove it."
        raise self._refused(line, f"expected a token and {numbers}, separated by blanks, {found}")

    def _token(self, line: int, token: bytes) -> str:
        try:
            return token.decode()
        except UnicodeDecodeError:
            advice = "Convert the file, for instance with: iconv -f latin1 -t utf-8"
            raise self._refused(line, f"the token {token!r:.60} is not UTF-8. {advice}") from None

    def _add_numbers(self, line: int, fields: list[bytes]) -> None:
        # float() on all fields at once is the fast way; which one is wrong is asked only then.
        with suppress(ValueError):
            row = array("f", map(float, fields))
            if np.isfinite(row).all() and b"_" not in b"".join(fields):
                self.numbers.extend(row)
                return
        wrong = next(
            field
            for field in fields
            if not (_is_number(field) and np.isfinite(array("f", [float(field)])).all())
        )
        shown = shortened(wrong.decode(errors="replace"))
        advice = f"but one is {shown!r}. Correct the line or remove it."
        raise self._refused(line, f"expected {self.says}, finite and within float32, {advice}")


def _is_header(fields: list[bytes]) -> bool:
    """Return whether these are the "count dim" of word2vec's format."""
    are_counts = all(field.isdigit() and len(field) < 19 for field in fields)
    return len(fields) == 2 and are_counts and int(fields[1]) > 0


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field  # 1_000 is a number to Python alone

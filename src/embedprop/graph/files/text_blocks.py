"""Chunks of bytes → blocks of whole records, each checked, with the line of every record."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph.arrays import Mask, Rows
from embedprop.graph.files.byte_chunks import DEFAULT_LIMITS, Limits
from embedprop.graph.messages import counted

BOM = b"\xef\xbb\xbf"
NEWLINE, RETURN, QUOTE, HASH = b"\n"[0], b"\r"[0], b'"'[0], b"#"[0]
BLANKS = " "  # as a separator: any run of blanks and tabs
SEPARATOR_NAMES = {BLANKS: "blanks", "\t": "tabs", ",": "commas", ";": "semicolons"}

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class TextFormat:
    """How the records of a text file are written.

    Parameters
    ----------
    separator
        One ASCII character between fields; ``" "`` stands for runs of blanks and tabs, without
        quoting.
    n_fields
        The number of fields of every record.
    has_header
        Whether the first record names the columns. Below a header a line that begins with ``#`` and
        has the right number of fields is a record (a node may be called ``#1``); without a header,
        as in the SNAP files, every such line is a comment.
    """

    separator: str
    n_fields: int
    has_header: bool


@dataclass(frozen=True)
class TextBlock:
    """Whole records, one after the other, without comments, blank lines and header."""

    data: bytes
    lines: Rows  # the line of the file on which each record begins, from 1
    has_quotes: bool


class TextReader:
    """Cuts the chunks of one file into blocks of records and refuses what is not a text table."""

    def __init__(self, path: Path, form: TextFormat, limits: Limits = DEFAULT_LIMITS) -> None:
        self.path = path
        self.form = form
        self.limits = limits
        self.is_quoted = form.separator != BLANKS

    def blocks(self, chunks: Iterable[bytes]) -> Iterator[TextBlock]:
        """Yield the records of a file whose bytes come in `chunks`."""
        # `rest` is the start of a record whose end has not been read yet; `line` is its line.
        rest, line, header_pending = b"", 1, self.form.has_header
        for chunk in chain(chunks, [None]):
            check_no_zero_byte(self.path, chunk or b"", line + rest.count(b"\n"))
            # The last line may lack its end.
            end = b"" if rest[-1:] in (b"", b"\n") else b"\n"
            data = rest + (end if chunk is None else chunk)
            cut = self._end_of_records(data, line, is_last=chunk is None)
            if len(data) - cut > self.limits.record_bytes:
                in_quotes = self.is_quoted and data.count(b'"', cut) % 2 == 1
                line += data.count(b"\n", 0, cut)
                raise too_long(self.path, line, self.limits, in_quotes=in_quotes)
            whole, rest = data[:cut], data[cut:]
            block = self._checked(whole, line, header_pending) if whole else None
            line += whole.count(b"\n")
            if block is not None:
                header_pending = False
                if len(block.lines):
                    yield block

    def _end_of_records(self, data: bytes, line: int, *, is_last: bool) -> int:
        """Return where the last whole record ends; a line break inside quotes ends none."""
        if not (self.is_quoted and b'"' in data):
            return data.rfind(b"\n") + 1
        array = np.frombuffer(data, dtype=np.uint8)
        quotes = np.flatnonzero(array == QUOTE)
        self._check_quotes(array, quotes, line)
        if is_last and len(quotes) % 2:
            raise self._bad_quote(array, quotes, len(quotes), line)
        ends = _outside(quotes, np.flatnonzero(array == NEWLINE))
        return int(ends[-1]) + 1 if len(ends) else 0

    def _check_quotes(self, array: Bytes, quotes: Rows, line: int) -> None:
        """Refuse quotes that neither surround a whole field nor are doubled inside one."""
        separator = ord(self.form.separator)
        # A doubled quote closes and opens again, so quotes alternate whatever is in a field.
        opening, closing = quotes[0::2], quotes[1::2]
        before = array[opening - 1]
        starts = (opening == 0) | np.isin(before, (separator, NEWLINE, QUOTE))
        after = array[np.minimum(closing + 1, len(array) - 1)]
        ends = (closing == len(array) - 1) | np.isin(after, (separator, NEWLINE, RETURN, QUOTE))
        if starts.all() and ends.all():
            return
        wrong = [*(2 * np.flatnonzero(~starts)), *(2 * np.flatnonzero(~ends) + 1)]
        raise self._bad_quote(array, quotes, int(min(wrong)), line)

    def _bad_quote(self, array: Bytes, quotes: Rows, index: int, line: int) -> InvalidGraphError:
        """Return the error about a quote; one at an odd `index` should have closed a field."""
        problem = "a double quote inside a field that does not begin with one"
        if index % 2:
            problem = "the quoted field that begins here is not closed properly"
            index -= 1
            # Back over doubled quotes to the one that opened the field.
            while index >= 2 and quotes[index] == quotes[index - 1] + 1:
                index -= 2
        line += int(np.count_nonzero(array[: quotes[index]] == NEWLINE))
        advice = 'Write fields that contain quotes as "..." with the inner quotes doubled.'
        return bad_line(self.path, line, f"{problem}. {advice}")

    def _checked(self, data: bytes, line: int, header_pending: bool) -> TextBlock | None:
        """Return the records of `data`, or None if it holds comments and blank lines only."""
        check_utf8(self.path, data, line)
        if self.form.separator == BLANKS:
            data = _single_blanks(data)
        array = np.frombuffer(data, dtype=np.uint8)
        newlines = np.flatnonzero(array == NEWLINE)
        ends, separators = newlines, np.flatnonzero(array == ord(self.form.separator))
        has_quotes = self.is_quoted and b'"' in data
        quotes = np.flatnonzero(array == QUOTE) if has_quotes else newlines[:0]
        if has_quotes:
            ends, separators = _outside(quotes, ends), _outside(quotes, separators)
        self._check_returns(array, quotes, line)
        starts = np.concatenate(([0], ends[:-1] + 1))
        # With quotes a record may span lines, so its line is found by the line feeds before it.
        lines = line + (np.searchsorted(newlines, starts) if has_quotes else np.arange(len(starts)))
        n_fields = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
        is_record = self._is_record(array, starts, ends, n_fields)
        wrong = is_record & (n_fields != self.form.n_fields)
        if wrong.any():
            row = int(np.argmax(wrong))
            separator = self.form.separator
            expected = f"{counted(self.form.n_fields, 'field')} separated by "
            expected += SEPARATOR_NAMES.get(separator, repr(separator))
            record = shortened(data[starts[row] : ends[row]].decode())
            problem = f"expected {expected}, got {n_fields[row]}: {record!r}"
            raise bad_line(self.path, lines[row], f"{problem}. Correct the line or remove it.")
        if not is_record.any():
            return None
        if header_pending:
            is_record[np.argmax(is_record)] = False
        if not is_record.all():
            # The bytes of a record run to its line feed: one decision for each of them.
            data = array[np.repeat(is_record, ends + 1 - starts)].tobytes()
        return TextBlock(data, lines[is_record], has_quotes)

    def _is_record(self, array: Bytes, starts: Rows, ends: Rows, n_fields: Rows) -> Mask:
        """Return which lines are neither blank nor comments."""
        first = array[starts]
        blank = (starts == ends) | ((first == RETURN) & (starts + 1 == ends))
        comment: Mask = first == HASH
        if self.form.has_header:
            comment &= n_fields != self.form.n_fields
        is_record: Mask = ~(blank | comment)
        return is_record

    def _check_returns(self, array: Bytes, quotes: Rows, line: int) -> None:
        returns = np.flatnonzero(array == RETURN)
        is_end = array[np.minimum(returns + 1, len(array) - 1)] == NEWLINE
        returns = _outside(quotes, returns[~is_end])
        if len(returns):
            line += int(np.count_nonzero(array[: returns[0]] == NEWLINE))
            raise bad_return(self.path, line)


def too_long(
    path: Path, line: int, limits: Limits, *, in_quotes: bool = False
) -> InvalidGraphError:
    """Return the error about a record that begins at `line` and does not end."""
    if in_quotes:
        problem = (
            f"a quoted field begins here and does not end within {limits.record_bytes:,} bytes"
        )
        return bad_line(path, line, f"{problem}. Close the quote.")
    return InvalidGraphError(
        f"{path}, line {line} is longer than {limits.record_bytes:,} bytes. Expected a table with "
        f"one short record per line: is this a text file?"
    )


def bad_line(path: Path, line: int, problem: str) -> InvalidGraphError:
    """Return the error about a line of a file."""
    return InvalidGraphError(f"{path}, line {line}: {problem}")


def bad_return(path: Path, line: int) -> InvalidGraphError:
    """Return the error about a carriage return that is not the end of a line."""
    expected = "lines that end in a line feed, or a carriage return and a line feed"
    problem = f"found a carriage return inside a field. Expected {expected}: convert the file."
    return bad_line(path, line, problem)


def check_no_zero_byte(path: Path, data: bytes, line: int) -> None:
    """Refuse binary files; `line` is the number of the first line of `data`."""
    place = data.find(b"\0")
    if place >= 0:
        expected = "Expected UTF-8 text (CSV, TSV, blanks between fields) or Parquet"
        problem = f"found a zero byte: this is not a text table. {expected}; only gzip is unpacked."
        raise bad_line(path, line + data.count(b"\n", 0, place), problem)


def check_utf8(path: Path, data: bytes, line: int) -> None:
    """Refuse lines that are not UTF-8; `line` is the number of the first of them."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        advice = "Convert the file, for instance with: iconv -f latin1 -t utf-8"
        problem = f"byte 0x{data[error.start]:02x} is not UTF-8. {advice}"
        raise bad_line(path, line + data.count(b"\n", 0, error.start), problem) from None


def shortened(text: str, length: int = 60) -> str:
    """Return `text`, cut to about `length` characters for a message."""
    text = text.rstrip("\r\n")
    return text if len(text) <= length else text[:length] + "..."


def _outside(quotes: Rows, positions: Rows) -> Rows:
    """Return the positions that are not inside quotes: an even number of quotes is before them."""
    outside: Rows = positions[np.searchsorted(quotes, positions) % 2 == 0]
    return outside


def _single_blanks(data: bytes) -> bytes:
    """Put one blank between fields and none around lines; the number of lines stays."""
    data = data.replace(b"\t", b" ").replace(b"\r\n", b"\n")
    if b"  " in data:
        data = re.sub(rb" {2,}", b" ", data)
    if data.startswith(b" ") or b" \n" in data or b"\n " in data:
        data = re.sub(rb"(?m)^ | $", b"", data)
    return data

"""A table on disk (CSV, TSV, blanks, Parquet; gzipped or not) → batches of checked columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph.files import text_blocks
from embedprop.graph.files.byte_chunks import DEFAULT_LIMITS, Limits, byte_chunks, head_of, unpacked
from embedprop.graph.files.table_layout import Roles, Source, TableOptions, bare_suffix
from embedprop.graph.files.text_blocks import (
    BOM,
    TextBlock,
    TextFormat,
    TextReader,
    shortened,
)
from embedprop.graph.messages import counted

PARQUET_SUFFIXES = {".parquet", ".pq"}
PARQUET_MAGIC = b"PAR1"
PARQUET_BATCH_ROWS = 1 << 18
NO_OPTIONS = TableOptions()


@dataclass(frozen=True)
class Batch:
    """Some rows of a table: role or name → column, and where each row stands in the file."""

    columns: dict[str, pl.Series]
    path: Path
    unit: str  # "line" or "row"
    positions: Sequence[int] | NDArray[np.int64]  # the line or row of each row in the file

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def place(self, row: int) -> str:
        """Return where a row stands in the file."""
        return f"{self.path}, {self.unit} {self.positions[row]}"

    def names(self, role: str) -> pl.Series:
        """Return a column of names; an empty one is an error."""
        column = self.columns[role]
        empty = column == ""
        if empty.any():
            where = self.place(int(np.argmax(empty.to_numpy())))
            raise InvalidGraphError(f"{where}: the {role} is empty. Fill it in, or remove the row.")
        return column

    def numbers(self, role: str) -> NDArray[np.float64]:
        """Return a column of numbers, NaN where it is empty; anything else is an error."""
        text = self.columns[role].str.strip_chars()
        numbers = text.cast(pl.Float64, strict=False)
        wrong = (numbers.is_null() & (text != "")).to_numpy()
        if wrong.any():
            raise self.bad_value(role, int(np.argmax(wrong)), "a number")
        return numbers.fill_null(np.nan).to_numpy()

    def weights(self, role: str = "weight") -> NDArray[np.float32]:
        """Return a column of weights: finite, not negative, not empty."""
        numbers = self.numbers(role)
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite: refused below
            weights = numbers.astype(np.float32)
        good = (weights >= 0) & np.isfinite(weights)
        if not good.all():
            row = int(np.argmin(good))
            raise self.bad_value(role, row, "a weight that is finite and not negative")
        return weights

    def taking(self, rows: NDArray[np.int64]) -> Batch:
        """Return some rows; each still knows its place in the file."""
        columns = {role: column.gather(rows) for role, column in self.columns.items()}
        return replace(self, columns=columns, positions=np.asarray(self.positions)[rows])

    def bad_value(self, role: str, row: int, expected: str) -> InvalidGraphError:
        """Return the error about the value of `role` in `row`."""
        value = shortened(self.columns[role][row])
        return InvalidGraphError(
            f"{self.place(row)}: expected {expected} in column {role!r}, got {value!r}. "
            f"Correct it, or remove the row."
        )


def read_table(
    path: Path, roles: Roles, options: TableOptions = NO_OPTIONS, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Batch]:
    """Yield the rows of a table in batches, with the columns that play a role.

    Every column is text, as it stands in the file; an empty field is an empty string.

    Raises
    ------
    InvalidGraphError
        The file is missing, damaged or hostile, lacks a column or has no rows.
    """
    is_parquet = bare_suffix(path) in PARQUET_SUFFIXES or head_of(path, 4) == PARQUET_MAGIC
    batches = _parquet_batches if is_parquet else _text_batches
    n_rows = 0
    for batch in batches(Source(path, roles, options), limits):
        n_rows += len(batch)
        yield batch
    if not n_rows:
        raise InvalidGraphError(
            f"{path} has no rows. Expected at least one row with: {', '.join(roles.required)}."
        )


def _text_batches(source: Source, limits: Limits) -> Iterator[Batch]:
    path = source.path
    chunks = byte_chunks(path, limits)
    head, is_whole = _head(path, chunks, limits)
    lines, after_comment = _first_records(head, is_whole=is_whole, may_quote=source.may_quote)
    if not lines:
        raise InvalidGraphError(
            f"{path} is empty{' but for comments' if after_comment else ''}. Expected a table with "
            f"the columns {', '.join(source.roles.required)}."
        )
    if '"' not in lines[0] and "\r" in lines[0].rstrip("\r"):
        raise text_blocks.bad_return(path, 1 + head.count(b"\n", 0, head.find(lines[0].encode())))
    form, picks = source.text_layout(lines, after_comment=after_comment)
    for block in TextReader(path, form, limits).blocks(chain([head], chunks)):
        yield _parsed(path, block, form, picks)


def _head(path: Path, chunks: Iterator[bytes], limits: Limits) -> tuple[bytes, bool]:
    """Return the start of a file with at least its first two records, and whether it is all."""
    head = b""
    for chunk in chunks:
        text_blocks.check_no_zero_byte(path, chunk, 1 + head.count(b"\n"))
        head = (head + chunk).removeprefix(BOM)
        n_records = len(_first_records(head)[0])
        # A file may begin with a long comment, but a record beyond the limit is not one.
        if n_records < 2 and len(head) <= limits.record_bytes:
            continue
        text_blocks.check_utf8(path, head[: head.rfind(b"\n") + 1], 1)
        if not n_records:
            raise text_blocks.too_long(path, 1 + head.count(b"\n"), limits)
        return head, False
    text_blocks.check_utf8(path, head, 1)
    return head, True


def _first_records(
    head: bytes, *, is_whole: bool = False, may_quote: bool = True
) -> tuple[list[str], bool]:
    """Return the first two records, and whether a comment stands above them."""
    records: list[str] = []
    after_comment = is_open = False
    # Without its end a line may be half a line.
    for line in head.split(b"\n")[: None if is_whole else -1]:
        text = line.decode(errors="replace")
        if is_open:
            records[-1] += "\n" + text
        elif text.startswith("#"):
            after_comment = after_comment or not records
            continue
        elif text.strip(" \t\r"):
            if len(records) == 2:
                break
            records.append(text)
        else:
            continue
        is_open = may_quote and records[-1].count('"') % 2 == 1
    return records, after_comment


def _parsed(path: Path, block: TextBlock, form: TextFormat, picks: dict[str, int]) -> Batch:
    names = map(str, range(form.n_fields))
    frame = pl.read_csv(
        # polars takes away a byte order mark; a name that begins with one shall keep it.
        BOM + block.data,
        has_header=False,
        separator=form.separator,
        quote_char='"' if block.has_quotes else None,
        schema=dict.fromkeys(names, pl.String),
        columns=sorted(set(picks.values())),
    )
    if len(frame) != len(block.lines):
        raise InvalidGraphError(
            f"{path}, lines {block.lines[0]} to {block.lines[-1]}: expected "
            f"{counted(len(block.lines), 'record')}, got {len(frame)}. Check their quotes."
        )
    columns = {role: frame[str(index)].fill_null("") for role, index in picks.items()}
    return Batch(columns, path, "line", block.lines)


def _parquet_batches(source: Source, limits: Limits) -> Iterator[Batch]:
    import pyarrow.parquet as pq

    path = source.path
    with unpacked(path, limits) as content:
        try:
            file = pq.ParquetFile(content)
            names = file.schema_arrow.names
            picks = source.picks(names, must=True) or {}
            offset = 0
            # Columns without a role are never decoded: they may be texts or images.
            wanted = [names[index] for index in picks.values()]
            for rows in file.iter_batches(batch_size=PARQUET_BATCH_ROWS, columns=wanted):
                columns = {
                    role: _as_text(path, rows.column(names[index]), names[index])
                    for role, index in picks.items()
                }
                yield Batch(columns, path, "row", range(offset + 1, offset + 1 + len(rows)))
                offset += len(rows)
        except (pa.ArrowException, OSError) as error:
            reason = shortened(str(error).partition("\n")[0], 120)
            problem = f"is not a Parquet file, or is damaged ({reason}). Write it again."
            raise InvalidGraphError(f"{path} {problem}") from error


def _as_text(path: Path, column: Any, name: str) -> pl.Series:
    """Return a column of a Parquet file as text; null and NaN become empty strings."""
    import pyarrow.compute as pc

    try:
        # 32-bit offsets of plain strings end at 2 GB per column.
        text = column.cast(pa.large_string())
        missing = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise InvalidGraphError(
            f"{path}, column {name!r}: values of type {column.type} cannot be used as names or "
            f"numbers. Write the column as text, integers or floating-point numbers."
        ) from error
    text = pc.if_else(missing, pa.scalar("", pa.large_string()), text)
    return cast("pl.Series", pl.from_arrow(text))

"""Names of nodes and labels as a Parquet file of one column, `name`.

Encodings: `text` (all names are str), `integer` (all are int and fit in 64 bits), and `json` for
the rest: one JSON text for each name, in which an array stands for a tuple. Each gives back equal
names of the same types.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from embedprop.errors import InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

ENCODINGS = ("text", "integer", "json")


def check_saveable(names: Iterable[Hashable]) -> None:
    """Refuse names that a model folder cannot hold.

    Parameters
    ----------
    names
        Names of nodes or labels. Strings, integers, floats, booleans and tuples of these can be
        saved (NumPy's scalars too: they come back as Python's, which are equal to them).

    Raises
    ------
    InvalidParameterError
        If a name is of another type; the message shows the first one.

    Examples
    --------
    >>> check_saveable(["a", 1, ("b", 2.5)])
    >>> check_saveable(["a", frozenset("b")])
    Traceback (most recent call last):
        ...
    embedprop.errors.InvalidParameterError: the name frozenset({'b'}) cannot be saved ...
    """
    for name in names:
        # Most names are one of these, and there can be millions.
        if not (type(name) is str or (type(name) is int and is_int64(name))):
            _as_json(name)


def write_names(names: Sequence[Hashable], file: IO[bytes]) -> str:
    """Write `names` to the open `file`; return the encoding."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    encoding, values = _encoded(names)
    column = name_column(values, pa.int64() if encoding == "integer" else pa.large_string())
    pq.write_table(pa.Table.from_arrays([column], names=["name"]), file)
    return encoding


def name_column(names: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return integers or texts as an Arrow array of type `kind`."""
    import pyarrow as pa

    # From buffers, because pa.array imports pandas wherever it is installed: half a second.
    if pa.types.is_integer(kind):
        buffers: list[Any] = [np.array(names, np.int64)]
    else:
        texts = [name.encode(errors="backslashreplace") for name in names]
        width = np.int64 if pa.types.is_large_string(kind) else np.int32
        buffers = [np.cumsum([0, *map(len, texts)], dtype=width), b"".join(texts)]
    return pa.Array.from_buffers(kind, len(names), [None, *map(pa.py_buffer, buffers)])


def read_names(file: IO[bytes], encoding: str) -> list[Hashable]:
    """Read what `write_names` wrote; raise a ValueError that says what is wrong with it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # One column needs no threads; those of Arrow may still be starting when a short command
        # ends, and then C++ ends it with "terminate called".
        column = pq.ParquetFile(file).read(columns=["name"], use_threads=False)["name"]
    except (pa.ArrowException, OSError, KeyError) as error:
        raise ValueError(f"not a Parquet file with a column 'name' ({error})") from error
    is_expected = pa.types.is_int64 if encoding == "integer" else pa.types.is_large_string
    if not is_expected(column.type) or column.null_count:
        raise ValueError(f"expected {encoding} names without nulls, got {column.type}")
    names: list[Any] = column.to_pylist()
    try:
        return [_with_tuples(json.loads(name)) for name in names] if encoding == "json" else names
    except RecursionError as error:
        raise ValueError("a name is nested too deeply") from error


def _encoded(names: Sequence[Hashable]) -> tuple[str, list[Any]]:
    plain: list[Any] = list(map(_python, names))
    types = set(map(type, plain))
    if types <= {str} and all(map(_is_unicode, plain)):
        return "text", plain
    if types == {int} and all(map(is_int64, plain)):
        return "integer", plain
    return "json", [_as_json(name) for name in plain]


def _is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold `text`: half a surrogate pair it cannot; JSON escapes it."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def is_int64(number: int) -> bool:
    """Whether a number fits in 64 bits."""
    return -(2**63) <= number < 2**63


def _as_json(name: Hashable) -> str:
    try:
        return json.dumps(_plain(name))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParameterError(
            f"the name {_shown(name)} cannot be saved ({error}). A model folder holds names that "
            f"are str, int, float, bool or tuples of these; rename them, for example by str()."
        ) from error


def _shown(name: Hashable) -> str:
    try:
        return f"{name!r:.100}"
    except (ValueError, RecursionError):  # a number of too many digits, a tuple too deep
        return f"of type {type(name).__name__}"


def _python(name: Hashable) -> Any:
    return name.item() if isinstance(name, np.generic) else name


def _plain(name: Hashable) -> object:
    value = _python(name)
    if type(value) is tuple:
        return [_plain(part) for part in value]
    if type(value) not in (str, int, float, bool):
        raise TypeError(f"it has the type {type(value).__name__}")
    return value


def _with_tuples(value: object) -> Hashable:
    if isinstance(value, list):
        return tuple(_with_tuples(part) for part in value)
    if not isinstance(value, str | int | float):
        raise ValueError(f"{value!r:.50} cannot be a name")
    return value

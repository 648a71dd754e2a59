"""Columns of names and weights, from arrays, frames and lists → ids and numbers.

Tables of pandas, polars and Arrow are recognized by what they can do: none is imported for it.
"""

import contextlib
import numbers
import sys
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError, did_you_mean
from embedprop.graph.arrays import Ids
from embedprop.graph.messages import bad_row, counted
from embedprop.graph.vocabulary import HASHABLE, Vocabulary, is_missing, plain_name

Floats = NDArray[np.floating[Any]]


class Encoded(NamedTuple):
    """The distinct names of a column in order of appearance, and the id of each row's name."""

    names: Sequence[Hashable]
    ids: Ids


def is_frame(values: object) -> bool:
    """Return whether `values` is a table with named columns (pandas, polars, Arrow)."""
    return hasattr(values, "columns") and hasattr(values, "__getitem__")


def collected(values: Any) -> Any:
    """Return `values`; a lazy polars frame is computed first."""
    return values.collect() if type(values).__name__ == "LazyFrame" else values


def column_names(frame: Any) -> list[str]:
    """Return the names of the columns of a frame."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def frame_column(frame: Any, name: str, what: str) -> Any:
    """Return one column of a frame; `what` names the frame in the error message."""
    known = column_names(frame)
    if known.count(name) != 1:
        raise InvalidGraphError(
            f"{what}: expected one column {name!r}, but the columns are "
            f"{', '.join(map(repr, known)) or 'none'}. Rename the column that is meant."
            f"{did_you_mean(name, (other for other in known if other != name))}"
        )
    return frame[name]


def in_stable_order(values: Iterable[Any]) -> Iterable[Any]:
    """Return `values`, those of a set sorted: its own order changes from run to run."""
    # Strings are hashed with a new seed in every process.
    if not isinstance(values, set | frozenset):
        return values
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=repr)


def encode(values: Any, what: str) -> Encoded:
    """Encode a column of names; `what` names the column in error messages.

    >>> encode(["b", "a", "b"], "labels")
    Encoded(names=['b', 'a'], ids=array([0, 1, 0], dtype=int32))
    """
    if hasattr(values, "factorize"):  # a pandas Series
        encoded = _encode_pandas(values, what)
    else:
        arrow = _as_arrow(values)
        encoded = _encode_list(values, what) if arrow is None else _encode_arrow(arrow, what)
    for id_, name in enumerate(encoded.names):
        if is_missing(name):
            raise missing_name(what, int(np.argmax(encoded.ids == id_)), name)
    return encoded


def give_memory_back() -> None:
    """Give memory that encoding has used back to the system: about as much as a large graph."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()


def first_appearance(ids: Ids) -> tuple[Ids, Ids]:
    """Return the distinct `ids` in order of appearance, and the place of each row among them."""
    import pyarrow as pa

    encoded = pa.array(ids).dictionary_encode()
    return encoded.dictionary.to_numpy(), encoded.indices.to_numpy()


def encode_pairs(sources: Any, targets: Any, what: str) -> tuple[Vocabulary, Ids, Ids]:
    """Encode two columns into one vocabulary, in reading order: row by row, source then target."""
    first = encode(sources, f"{what}, column of sources")
    second = encode(targets, f"{what}, column of targets")
    # Each column is encoded alone, so that Python touches distinct names only; then the ids are
    # put into the order of reading.
    merged, second_ids = Vocabulary.trusted(first.names).extended(second.names)
    order, ids = first_appearance(np.stack([first.ids, second_ids[second.ids]], axis=1).ravel())
    nodes = Vocabulary.trusted([merged[id_] for id_ in order.tolist()])
    return nodes, ids[0::2], ids[1::2]


def encode_column(frame: Any, name: str, what: str) -> Encoded:
    """Encode one column of a frame; `what` names the frame in error messages."""
    return encode(frame_column(frame, name, what), f"{what}, column {name!r}")


def as_numbers(values: Any, n_rows: int, what: str) -> Floats:
    """Return a column of numbers, one for each of `n_rows` rows; a missing one becomes NaN."""
    # A list as objects, as they are: NumPy would turn [1, "2"] into strings.
    is_array = hasattr(values, "__array__")
    array: NDArray[Any] = np.asarray(values) if is_array else np.fromiter(values, dtype=object)
    if array.shape != (n_rows,):
        raise InvalidGraphError(
            f"{what}: expected {n_rows} numbers, one for each row, got an array of shape "
            f"{array.shape}."
        )
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype.kind in "biuf" or set(map(type, array)) <= {int, float}:
        with contextlib.suppress(OverflowError):  # an integer beyond all floats: the loop below
            return array.astype(np.float64)
    return np.array([_as_float(x, what, row) for row, x in enumerate(array.tolist())], np.float64)


def as_weights(data: NDArray[Any]) -> Floats | None:
    """Return the weights of edges, or None if every one is 1."""
    return None if bool((data == 1).all()) else as_numbers(data, len(data), "Edges, weights")


def as_list(values: Any) -> list[Any]:
    """Return a column as a list of Python objects."""
    return cast("list[Any]", values.to_pylist()) if hasattr(values, "to_pylist") else list(values)


def declared_rows(n_rows: int, declared: Sequence[Hashable] | None, what: str) -> Encoded:
    """Return rows that belong to the declared nodes, in their order."""
    if declared is None:
        raise InvalidGraphError(
            f"{what}: row i of a matrix or array belongs to node i, so the order of the nodes must "
            f"be known. Declare it with nodes=."
        )
    if n_rows != len(declared):
        expected = f"{counted(len(declared), 'row')}, one for each declared node in their order"
        raise InvalidGraphError(
            f"{what}: expected an array or matrix with {expected}, got {n_rows}."
        )
    return Encoded(declared, np.arange(n_rows, dtype=np.int32))


def _as_float(number: object, what: str, row: int) -> float:
    if is_missing(number):
        return float("nan")
    if isinstance(number, numbers.Real):
        try:
            return float(number)
        except OverflowError:
            return float("inf")  # refused as such where the numbers are checked
    found = f"{number!r:.80} of type {type(number).__name__}"
    raise bad_row(what, row, f"expected a number, got {found}. Convert the column to numbers.")


def _encode_pandas(series: Any, what: str) -> Encoded:
    try:
        codes, uniques = series.factorize()
    except TypeError:  # something unhashable: the loop finds and names it
        return _encode_list(series, what)
    if len(codes) and codes.min() < 0:
        row = int(np.argmin(codes))
        raise missing_name(what, row, series.iloc[row])
    return Encoded([plain_name(name) for name in uniques.tolist()], codes.astype(np.int32))


def _as_arrow(values: Any) -> Any:
    """Return `values` as an Arrow array if Arrow encodes such values without changing them."""
    import pyarrow as pa

    # Dates and Python objects would come back as something else.
    if isinstance(values, np.ndarray):
        values = pa.array(values) if values.dtype.kind in "biufUS" else None
    elif hasattr(values, "to_arrow"):  # a polars Series; one of Python objects has no Arrow form
        values = None if str(values.dtype).startswith("Object") else values.to_arrow()
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        return None
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kinds = ("integer", "floating", "boolean", "string", "large_string", "binary", "large_binary")
    return values if any(getattr(pa.types, f"is_{k}")(values.type) for k in kinds) else None


def _encode_arrow(values: Any, what: str) -> Encoded:
    import pyarrow as pa

    # Arrow encodes in native code; null would become a name of its own.
    if values.null_count:
        raise missing_name(what, int(np.argmax(np.asarray(values.is_null()))), None)
    if isinstance(values, pa.Array):
        values = pa.chunked_array([values])
    # Unified, so that an id means the same name in every chunk.
    chunks = values.dictionary_encode().unify_dictionaries().chunks
    if not chunks:
        return Encoded([], np.empty(0, dtype=np.int32))
    ids = [chunk.indices.to_numpy() for chunk in chunks]
    names = chunks[-1].dictionary.to_numpy(zero_copy_only=False).tolist()
    return Encoded(names, ids[0] if len(ids) == 1 else np.concatenate(ids))


def _encode_list(values: Iterable[Any], what: str) -> Encoded:
    id_of: dict[Hashable, int] = {}
    ids: list[int] = []
    for row, value in enumerate(values):
        name = plain_name(value)
        try:
            ids.append(id_of.setdefault(name, len(id_of)))
        except TypeError:
            raise bad_row(what, row, f"{name!r} cannot be hashed. {HASHABLE}") from None
    return Encoded(list(id_of), np.array(ids, dtype=np.int32))


def missing_name(what: str, row: int, name: object) -> InvalidGraphError:
    """Return the error about a row without a name."""
    advice = "Fill it in, or leave the row out."
    return bad_row(what, row, f"the name is missing ({name!r}). {advice}")


def as_collection(values: Any, what: str, expected: str) -> Collection[Any]:
    """Return `values` as something that can be counted and read twice."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InvalidParameterError(f"{what}: expected {expected}, got {values!r:.80}.")
    values = in_stable_order(values)
    return values if isinstance(values, Collection) else list(values)

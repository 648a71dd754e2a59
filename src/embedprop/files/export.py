"""Vectors as files that other tools read. A file is written whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import quote

import numpy as np

from embedprop.errors import InvalidParameterError, UnknownComponentError, did_you_mean
from embedprop.files.atomic import made, replaced
from embedprop.files.folder.names import is_int64, name_column
from embedprop.graph.arrays import Vectors

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORMATS", "FormatName", "default_path", "export_vectors", "write_parquet"]

Names = Sequence[Hashable]
FormatName = Literal["parquet", "word2vec", "npy", "projector"]

# Rows that are in memory as text or columns at a time; the vectors themselves may be on disk.
N_ROWS = 2**14
PROJECTOR_CONFIG = (
    b'embeddings {\n  tensor_path: "vectors.tsv"\n  metadata_path: "metadata.tsv"\n}\n'
)
# What splits a line of word2vec's format, and the sign that escapes it.
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f-\x9f%]")


def export_vectors(
    path: str | os.PathLike[str],
    names: Names,
    vectors: Vectors,
    *,
    format: FormatName = "parquet",
    column: str = "node",
    escape_keys: bool = False,
) -> list[Path]:
    """Write named vectors; return the files that were written.

    Parameters
    ----------
    path
        The file, for the projector a folder; what was there is replaced.
    names, vectors
        One name for each row.
    format : {"parquet", "word2vec", "npy", "projector"}
        A table with the columns `column` and `vector`; word2vec's text; an array, and beside it a
        table of its names (``.ids.parquet``); two files for TensorBoard's embedding projector.
    column
        What the names are: node or label.
    escape_keys
        Write blanks and % in word2vec's keys as %20, %25 and the like, as in URLs. Without it
        names with blanks are refused, because readers would split them.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp()) / "vectors.txt"
    >>> vectors = np.array([[1, 2], [3, 0.5]], np.float32)
    >>> _ = export_vectors(path, ["a", "b c"], vectors, format="word2vec", escape_keys=True)
    >>> path.read_text().splitlines()
    ['2 2', 'a 1 2', 'b%20c 3 0.5']
    """
    form, file = _format(format), Path(path)
    if form.endings and file.suffix not in form.endings:
        raise InvalidParameterError(
            f"{file}: {format} files end in {' or '.join(form.endings)}. Rename it, so that no "
            f"file of another kind is replaced by mistake."
        )
    if escape_keys and format == "word2vec":
        names = escaped(names)
    return form.write(file, names, vectors, column)


def default_path(
    model: str | os.PathLike[str], format: FormatName, labels: str | None = None
) -> Path:
    """Return where to write by default: beside the model, under its name.

    >>> default_path("models/cora", "word2vec", labels="word").name
    'cora-word.txt'
    """
    suffix, folder = _format(format).suffix, Path(model).resolve()
    name = folder.name if labels is None else f"{folder.name}-{labels}"
    path = folder.with_name(f"{name}{suffix}")
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def write_parquet(
    path: Path, names: Names, vectors: Vectors | None, column: str = "node"
) -> list[Path]:
    """Write a table of names and their vectors (a list of float32 each; None: names only)."""
    with replaced(path) as [file]:
        _write_table(file, names, vectors, column)
    return [path]


def _write_table(file: IO[bytes], names: Names, vectors: Vectors | None, column: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = plain_names(names)
    kind = pa.int64() if plain and isinstance(plain[0], int) else pa.string()
    # Not nullable, so that readers need no mask and no check for missing values.
    fields = [pa.field(column, kind, nullable=False)]
    if vectors is not None:
        fields.append(pa.field("vector", pa.list_(pa.float32()), nullable=False))
    schema = pa.schema(fields)
    with pq.ParquetWriter(file, schema) as writer:
        for low in range(0, max(len(plain), 1), N_ROWS):
            columns = [name_column(plain[low : low + N_ROWS], kind)]
            if vectors is not None:
                columns.append(_vector_column(vectors[low : low + N_ROWS]))
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _vector_column(vectors: Vectors) -> pa.Array:
    import pyarrow as pa

    n_rows, dim = vectors.shape
    numbers = pa.py_buffer(np.ascontiguousarray(vectors, np.float32))
    values = pa.Array.from_buffers(pa.float32(), n_rows * dim, [None, numbers])
    ends = pa.py_buffer(np.arange(0, n_rows * dim + 1, max(dim, 1), dtype=np.int32))
    return pa.Array.from_buffers(pa.list_(pa.float32()), n_rows, [None, ends], children=[values])


def write_npy(path: Path, names: Names, vectors: Vectors, column: str) -> list[Path]:
    """Write NumPy's array, and beside it a table of the names of its rows."""
    # Both or none: an array with the names of another would be worse than no array.
    ids = path.with_suffix(".ids.parquet")
    with replaced(path, ids) as [array_file, ids_file]:
        np.save(array_file, vectors, allow_pickle=False)
        _write_table(ids_file, names, None, column)
    return [path, ids]


def write_projector(path: Path, names: Names, vectors: Vectors, column: str) -> list[Path]:
    """Write the folder for TensorBoard's projector: vectors, names and where they are."""
    del column  # a single column has no header
    if path.exists() and not path.is_dir():
        raise InvalidParameterError(f"{path}: expected a folder for the projector, got a file.")
    places = [path / "vectors.tsv", path / "metadata.tsv", path / "projector_config.pbtxt"]
    with made(path), replaced(*places) as [vector_file, name_file, config_file]:
        for numbers in texts_of_rows(vectors, "\t"):
            vector_file.write(f"{numbers}\n".encode())
        for name in names:
            # A tab or a line feed in a name would begin a new field or row.
            text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(name))
            name_file.write(f"{text or '(empty)'}\n".encode(errors="backslashreplace"))
        config_file.write(PROJECTOR_CONFIG)
    return places


def write_word2vec(path: Path, names: Names, vectors: Vectors, column: str) -> list[Path]:
    """Write word2vec's text: a line of counts, then a line of a key and its numbers per vector.

    A name that a reader would split is refused.
    """
    keys = list(map(str, plain_names(names)))
    for key in keys:
        if not key or _UNSAFE.search(key.replace("%", "")):
            raise InvalidParameterError(
                f"word2vec's format separates fields by spaces, so the {column} {key!r:.100} "
                f"cannot be written. Escape such names with --escape-keys (escape_keys=True), "
                f"or choose another format."
            )
    with replaced(path) as [file]:
        file.write(f"{len(keys)} {vectors.shape[1]}\n".encode())
        for key, numbers in zip(keys, texts_of_rows(vectors, " "), strict=True):
            file.write(f"{key} {numbers}\n".encode(errors="backslashreplace"))
    return [path]


def escaped(names: Names) -> list[str]:
    """Return the names with blanks and % written as in URLs.

    >>> escaped(["b c", "5%"])
    ['b%20c', '5%25']
    """
    return [_UNSAFE.sub(lambda found: quote(found[0]), str(key)) for key in plain_names(names)]


def plain_names(names: Names) -> list[int] | list[str]:
    """Return all names as they are if they are all integers, else as texts that stay different.

    >>> plain_names([3, 1]), plain_names(["a", 1])
    ([3, 1], ['a', '1'])
    """
    integers = [name for name in names if type(name) is int and is_int64(name)]
    if len(integers) == len(names):
        return integers
    texts = list(map(str, names))
    if not all(isinstance(name, str) for name in names) and len(set(texts)) < len(texts):
        raise InvalidParameterError(
            "Two names are the same as text (such as 1 and '1'), so a file cannot tell them "
            "apart. Rename them."
        )
    return texts


def texts_of_rows(vectors: Vectors, separator: str) -> Iterator[str]:
    """Yield the numbers of each row as text."""
    # Nine digits give back the same float32.
    pattern = separator.join(["%.9g"] * vectors.shape[1])
    for low in range(0, len(vectors), N_ROWS):
        for row in vectors[low : low + N_ROWS].tolist():
            yield pattern % tuple(row)


class Format(NamedTuple):
    """How vectors are written, and the endings of the files (none: the format is a folder)."""

    write: Callable[[Path, Names, Vectors, str], list[Path]]
    suffix: str
    endings: tuple[str, ...] = ()


FORMATS: dict[str, Format] = {
    "parquet": Format(write_parquet, ".parquet", (".parquet",)),
    "word2vec": Format(write_word2vec, ".txt", (".txt", ".vec", ".w2v")),
    "npy": Format(write_npy, ".npy", (".npy",)),
    "projector": Format(write_projector, "-projector"),
}


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise UnknownComponentError(
            f"format={name!r} is not known. Choose one of: {', '.join(map(repr, FORMATS))}."
            f"{did_you_mean(str(name), FORMATS)}"
        )
    return FORMATS[name]

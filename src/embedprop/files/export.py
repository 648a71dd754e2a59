"""Vectors as files that other tools read. A file is written whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.files.atomic import made, replaced
from embedprop.instance.registry import Registry

if TYPE_CHECKING:
    import pyarrow as pa

Vectors = NDArray[np.float32]
Names = Sequence[Hashable]
Writer = Callable[[Path, Names, Vectors, str, bool], list[Path]]

FORMATS: Registry[Writer] = Registry("format")
SUFFIXES = {"parquet": ".parquet", "word2vec": ".txt", "npy": ".npy", "projector": "-projector"}
# The endings that a name may have; a folder (projector) may be called anything.
ENDINGS = {"parquet": (".parquet",), "word2vec": (".txt", ".vec", ".w2v"), "npy": (".npy",)}
# Rows that are in memory as text or columns at a time; the vectors themselves may be on disk.
_ROWS = 2**14
# What splits a line of word2vec's format, and the sign that escapes it.
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f-\x9f%]")


def export_vectors(
    path: str | os.PathLike[str],
    names: Names,
    vectors: Vectors,
    *,
    format: str = "parquet",
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
    >>> path = Path(tempfile.mkdtemp()) / "vectors.txt"
    >>> vectors = np.array([[1, 2], [3, 0.5]], np.float32)
    >>> _ = export_vectors(path, ["a", "b c"], vectors, format="word2vec", escape_keys=True)
    >>> path.read_text().splitlines()
    ['2 2', 'a 1 2', 'b%20c 3 0.5']
    """
    write, file = FORMATS[format], Path(path)
    if file.suffix in ENDINGS.get(format, (file.suffix,)):
        return write(file, names, vectors, column, escape_keys)
    raise InvalidParameterError(
        f"{file}: {format} files end in {' or '.join(ENDINGS[format])}. Rename it, so that no file "
        f"of another kind is replaced by mistake."
    )


def default_path(model: str | os.PathLike[str], format: str, labels: str | None = None) -> Path:
    """Return where to write if nothing is said: beside the model, by its name.

    >>> default_path("models/cora", "word2vec", labels="word").name
    'cora-word.txt'
    """
    _ = FORMATS[format]
    folder = Path(model).resolve()
    name = folder.name if labels is None else f"{folder.name}-{labels}"
    path = folder.with_name(f"{name}{SUFFIXES[format]}")
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@FORMATS.register("parquet")
def _write_parquet(
    path: Path, names: Names, vectors: Vectors, column: str, escape_keys: bool
) -> list[Path]:
    del escape_keys
    write_parquet(path, names, vectors, column)
    return [path]


def write_parquet(path: Path, names: Names, vectors: Vectors | None, column: str = "node") -> None:
    """Write a table of names and their vectors (a list of float32 each; None: names only)."""
    with replaced(path) as [file]:
        _write_table(file, names, vectors, column)


def _write_table(file: IO[bytes], names: Names, vectors: Vectors | None, column: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = _plain_names(names)
    is_integer = bool(plain) and isinstance(plain[0], int)
    fields = [pa.field(column, pa.int64() if is_integer else pa.string(), nullable=False)]
    if vectors is not None:
        fields.append(pa.field("vector", pa.list_(pa.float32()), nullable=False))
    schema = pa.schema(fields)
    with pq.ParquetWriter(file, schema) as writer:
        for low in range(0, max(len(plain), 1), _ROWS):
            columns = [_name_column(plain[low : low + _ROWS], is_integer)]
            if vectors is not None:
                columns.append(_vector_column(vectors[low : low + _ROWS]))
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


# From buffers, because pa.array imports pandas wherever it is installed: half a second.
def _name_column(names: list[Any], is_integer: bool) -> pa.Array:
    import pyarrow as pa

    if is_integer:
        numbers = pa.py_buffer(np.array(names, np.int64))
        return pa.Array.from_buffers(pa.int64(), len(names), [None, numbers])
    texts = [name.encode(errors="backslashreplace") for name in names]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(texts))
    )


def _vector_column(vectors: Vectors) -> pa.Array:
    import pyarrow as pa

    n_rows, dim = vectors.shape
    numbers = pa.py_buffer(np.ascontiguousarray(vectors, np.float32))
    values = pa.Array.from_buffers(pa.float32(), n_rows * dim, [None, numbers])
    ends = pa.py_buffer(np.arange(0, n_rows * dim + 1, max(dim, 1), dtype=np.int32))
    return pa.Array.from_buffers(pa.list_(pa.float32()), n_rows, [None, ends], children=[values])


def _plain_names(names: Names) -> list[Any]:
    """Return all names as they are if they are all integers, else as texts that stay different."""
    if all(type(name) is int and -(2**63) <= name < 2**63 for name in names):
        return list(names)
    texts = [name if isinstance(name, str) else str(name) for name in names]
    if not all(isinstance(name, str) for name in names) and len(set(texts)) < len(texts):
        raise InvalidParameterError(
            "Two names are the same as text (such as 1 and '1'), so a file cannot tell them "
            "apart. Rename them."
        )
    return texts


@FORMATS.register("word2vec")
def _write_word2vec(
    path: Path, names: Names, vectors: Vectors, column: str, escape_keys: bool
) -> list[Path]:
    keys = [str(name) for name in _plain_names(names)]
    if escape_keys:
        keys = [_UNSAFE.sub(lambda found: quote(found[0]), key) for key in keys]
    for key in keys:
        if not key or (not escape_keys and _UNSAFE.search(key.replace("%", ""))):
            raise InvalidParameterError(
                f"word2vec's format separates by blanks, so the {column} {key!r:.100} cannot be "
                f"written. Escape such names with --escape-keys (escape_keys=True), or choose "
                f"another format."
            )
    numbers = " ".join(["%.9g"] * vectors.shape[1])  # nine digits give back the same float32
    with replaced(path) as [file]:
        file.write(f"{len(keys)} {vectors.shape[1]}\n".encode())
        for low in range(0, len(keys), _ROWS):
            rows = vectors[low : low + _ROWS].tolist()
            for key, row in zip(keys[low:], rows, strict=False):
                file.write(f"{key} {numbers % tuple(row)}\n".encode(errors="backslashreplace"))
    return [path]


@FORMATS.register("npy")
def _write_npy(
    path: Path, names: Names, vectors: Vectors, column: str, escape_keys: bool
) -> list[Path]:
    del escape_keys
    ids = path.with_suffix(".ids.parquet")
    with replaced(path, ids) as [array_file, ids_file]:
        np.save(array_file, vectors, allow_pickle=False)
        _write_table(ids_file, names, None, column)
    return [path, ids]


@FORMATS.register("projector")
def _write_projector(
    path: Path, names: Names, vectors: Vectors, column: str, escape_keys: bool
) -> list[Path]:
    del column, escape_keys
    if path.exists() and not path.is_dir():
        raise InvalidParameterError(f"{path}: this is a file; the projector needs a folder.")
    places = [path / "vectors.tsv", path / "metadata.tsv", path / "projector_config.pbtxt"]
    numbers = "\t".join(["%.9g"] * vectors.shape[1])
    with made(path), replaced(*places) as [vector_file, name_file, settings_file]:
        for low in range(0, len(names), _ROWS):
            for row in vectors[low : low + _ROWS].tolist():
                vector_file.write(f"{numbers % tuple(row)}\n".encode())
        for name in names:  # a single column has no header
            text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(name))
            name_file.write(f"{text or '(empty)'}\n".encode(errors="backslashreplace"))
        settings_file.write(
            b'embeddings {\n  tensor_path: "vectors.tsv"\n  metadata_path: "metadata.tsv"\n}\n'
        )
    return places

"""Vectors as files that other tools read. A file is written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from embedprop.errors import InvalidParameterError, UnknownComponentError, did_you_mean
from embedprop.files.export.npy import write_npy
from embedprop.files.export.parquet import write_parquet
from embedprop.files.export.projector import write_projector
from embedprop.files.export.rows import Names, Vectors
from embedprop.files.export.word2vec import escaped, write_word2vec

__all__ = ["FORMATS", "FormatName", "default_path", "export_vectors", "write_parquet"]

FormatName = Literal["parquet", "word2vec", "npy", "projector"]


@dataclass(frozen=True)
class Format:
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


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise UnknownComponentError(
            f"format={name!r} is not known. Choose one of: {', '.join(map(repr, FORMATS))}."
            f"{did_you_mean(str(name), FORMATS)}"
        )
    return FORMATS[name]

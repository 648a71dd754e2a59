"""A Parquet table of names and vectors."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from embedprop.files.atomic import replaced
from embedprop.files.export.rows import N_ROWS, Names, Vectors, plain_names

if TYPE_CHECKING:
    import pyarrow as pa


def write_parquet(
    path: Path, names: Names, vectors: Vectors | None, column: str = "node"
) -> list[Path]:
    """Write a table of names and their vectors (a list of float32 each; None: names only)."""
    with replaced(path) as [file]:
        write_table(file, names, vectors, column)
    return [path]


def write_table(file: IO[bytes], names: Names, vectors: Vectors | None, column: str) -> None:
    """Write the table into an open file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Not nullable, so that readers need no mask and no check for missing values.
    plain = plain_names(names)
    is_integer = bool(plain) and isinstance(plain[0], int)
    fields = [pa.field(column, pa.int64() if is_integer else pa.string(), nullable=False)]
    if vectors is not None:
        fields.append(pa.field("vector", pa.list_(pa.float32()), nullable=False))
    schema = pa.schema(fields)
    with pq.ParquetWriter(file, schema) as writer:
        for low in range(0, max(len(plain), 1), N_ROWS):
            columns = [_name_column(plain[low : low + N_ROWS], is_integer)]
            if vectors is not None:
                columns.append(_vector_column(vectors[low : low + N_ROWS]))
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


# From buffers, because pa.array imports pandas wherever it is installed: half a second.
def _name_column(names: list[Any], is_integer: bool) -> pa.Array:
    import pyarrow as pa

    if is_integer:
        numbers = pa.py_buffer(np.array(names, np.int64))
        return pa.Array.from_buffers(pa.int64(), len(names), [None, numbers])
    texts = [name.encode(errors="backslashreplace") for name in names]
    ends = pa.py_buffer(np.cumsum([0, *map(len, texts)], dtype=np.int32))
    return pa.StringArray.from_buffers(len(texts), ends, pa.py_buffer(b"".join(texts)))


def _vector_column(vectors: Vectors) -> pa.Array:
    import pyarrow as pa

    n_rows, dim = vectors.shape
    numbers = pa.py_buffer(np.ascontiguousarray(vectors, np.float32))
    values = pa.Array.from_buffers(pa.float32(), n_rows * dim, [None, numbers])
    ends = pa.py_buffer(np.arange(0, n_rows * dim + 1, max(dim, 1), dtype=np.int32))
    return pa.Array.from_buffers(pa.list_(pa.float32()), n_rows, [None, ends], children=[values])

"""NumPy's array, and beside it a table of the names of its rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from embedprop.files.atomic import replaced
from embedprop.files.export.parquet import write_table
from embedprop.files.export.rows import Names, Vectors


def write_npy(path: Path, names: Names, vectors: Vectors, column: str) -> list[Path]:
    """Write both files."""
    # Both or none: an array with the names of another would be worse than no array.
    ids = path.with_suffix(".ids.parquet")
    with replaced(path, ids) as [array_file, ids_file]:
        np.save(array_file, vectors, allow_pickle=False)
        write_table(ids_file, names, None, column)
    return [path, ids]

"""A folder for TensorBoard's embedding projector: vectors, names and where they are."""

from __future__ import annotations

from pathlib import Path

from embedprop.errors import InvalidParameterError
from embedprop.files.atomic import made, replaced
from embedprop.files.export.rows import Names, Vectors, texts_of_rows

CONFIG = b'embeddings {\n  tensor_path: "vectors.tsv"\n  metadata_path: "metadata.tsv"\n}\n'


def write_projector(path: Path, names: Names, vectors: Vectors, column: str) -> list[Path]:
    """Write the three files of the folder."""
    del column  # a single column has no header
    if path.exists() and not path.is_dir():
        raise InvalidParameterError(f"{path}: this is a file; the projector needs a folder.")
    places = [path / "vectors.tsv", path / "metadata.tsv", path / "projector_config.pbtxt"]
    with made(path), replaced(*places) as [vector_file, name_file, config_file]:
        for numbers in texts_of_rows(vectors, "\t"):
            vector_file.write(f"{numbers}\n".encode())
        for name in names:
            # A tab or a line feed in a name would begin a new field or row.
            text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(name))
            name_file.write(f"{text or '(empty)'}\n".encode(errors="backslashreplace"))
        config_file.write(CONFIG)
    return places

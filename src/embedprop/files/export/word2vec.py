"""word2vec's text: a line of counts, then a line of a key and its numbers for each vector."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

from embedprop.errors import InvalidParameterError
from embedprop.files.atomic import replaced
from embedprop.files.export.rows import Names, Vectors, plain_names, texts_of_rows

# What splits a line of the format, and the sign that escapes it.
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f-\x9f%]")


def escaped(names: Names) -> list[str]:
    """Return the names with blanks and % written as in URLs.

    >>> escaped(["b c", "5%"])
    ['b%20c', '5%25']
    """
    return [_UNSAFE.sub(lambda found: quote(found[0]), str(key)) for key in plain_names(names)]


def write_word2vec(path: Path, names: Names, vectors: Vectors, column: str) -> list[Path]:
    """Write the file; a name that a reader would split is refused."""
    keys = list(map(str, plain_names(names)))
    for key in keys:
        if not key or _UNSAFE.search(key.replace("%", "")):
            raise InvalidParameterError(
                f"word2vec's format separates by blanks, so the {column} {key!r:.100} cannot be "
                f"written. Escape such names with --escape-keys (escape_keys=True), or choose "
                f"another format."
            )
    with replaced(path) as [file]:
        file.write(f"{len(keys)} {vectors.shape[1]}\n".encode())
        for key, numbers in zip(keys, texts_of_rows(vectors, " "), strict=True):
            file.write(f"{key} {numbers}\n".encode(errors="backslashreplace"))
    return [path]

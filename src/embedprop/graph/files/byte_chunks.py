"""A file on disk → chunks of its bytes, unpacked if it is gzipped."""

import gzip
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, BinaryIO, cast

from embedprop.errors import InvalidGraphError

GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class Limits:
    """How much of a file is held at once, and what is refused as damaged or hostile.

    Parameters
    ----------
    chunk_bytes
        Bytes read at a time: large enough that the work per chunk is small, small enough that a
        chunk and its names (about ten times as much) do not matter beside the graph.
    record_bytes
        The longest record. No edge is that long, and hardly any text of a node.
    expansion
        A gzip file must not grow by more than this factor: edge lists grow 2 to 20 times.
    free_expansion_bytes
        Up to this size a file may grow by any factor.
    """

    chunk_bytes: int = 4 << 20
    record_bytes: int = 16 << 20
    expansion: int = 100
    free_expansion_bytes: int = 64 << 20


DEFAULT_LIMITS = Limits()


def check_is_file(path: Path) -> None:
    """Refuse a path that does not exist or is a folder."""
    if path.is_dir():
        raise InvalidGraphError(f"{path} is a folder. Expected a file; name one inside it.")
    if not path.exists():
        raise InvalidGraphError(f"{path} does not exist. Check its spelling and folder.")


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """Open a file for reading; an error of the operating system names the file."""
    check_is_file(path)
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidGraphError(f"{path} cannot be read: {reason}.") from error


def head_of(path: Path, count: int) -> bytes:
    """Return the first bytes of a file; none of a pipe, which can be read only once."""
    if path.exists() and not path.is_file() and not path.is_dir():
        return b""
    with opened(path) as file:
        return file.read(count)


def byte_chunks(path: Path, limits: Limits = DEFAULT_LIMITS) -> Iterator[bytes]:
    """Yield the bytes of a file in chunks, unpacked if it is a gzip file (whatever its name).

    Raises
    ------
    InvalidGraphError
        The file is missing or unreadable, or its gzip stream is damaged or grows beyond measure.
    """
    with opened(path) as file:
        # The bytes decide, not the name: a file may have been renamed.
        start = file.peek(2)[:2]
        if start == GZIP_MAGIC:
            yield from _unpacked(path, file, limits)
            return
        if start and path.suffix.lower() == ".gz":
            raise InvalidGraphError(
                f"{path} is not a gzip file, although its name ends in {path.suffix}. "
                f"Rename it, or copy it again."
            )
        while chunk := file.read(limits.chunk_bytes):
            yield chunk


@contextmanager
def unpacked(path: Path, limits: Limits = DEFAULT_LIMITS) -> Iterator[IO[bytes]]:
    """Open a file of a format that is read from its end: a gzipped one is unpacked first."""
    if head_of(path, 2) != GZIP_MAGIC:
        with opened(path) as file:
            yield file
        return
    with tempfile.TemporaryFile() as whole:
        whole.writelines(byte_chunks(path, limits))
        whole.seek(0)
        yield whole


# A pipe cannot tell how far it was read, so the bytes are counted as they pass.
class _CountingFile:
    """Counts the packed bytes that were taken from a file."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.n_bytes = 0

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.n_bytes += len(data)
        return data


def _unpacked(path: Path, file: BinaryIO, limits: Limits) -> Iterator[bytes]:
    packed = _CountingFile(file)
    n_unpacked = 0
    with gzip.GzipFile(fileobj=cast(BinaryIO, packed), mode="rb") as stream:
        while True:
            try:
                chunk = stream.read(limits.chunk_bytes)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise InvalidGraphError(
                    f"{path} is a damaged or incomplete gzip file ({error}). Copy it again."
                ) from error
            if not chunk:
                return
            # A few kB can unpack to a terabyte: stop long before the disk or memory is full.
            n_unpacked += len(chunk)
            if n_unpacked > max(limits.free_expansion_bytes, limits.expansion * packed.n_bytes):
                raise InvalidGraphError(
                    f"{path} grows more than {limits.expansion} times when unpacked "
                    f"({n_unpacked >> 20} MB from {packed.n_bytes >> 10} kB), which no real table "
                    f"does. If that is intended, unpack it yourself and give the unpacked file."
                )
            yield chunk

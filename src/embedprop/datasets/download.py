"""One published file → the cache: checked, and there as a whole or not at all."""

import hashlib
import http.client
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from embedprop.datasets.sources import OriginalFile
from embedprop.errors import DownloadError, InvalidParameterError
from embedprop.files.atomic import replaced

TIMEOUT = 30.0  # seconds without any byte
MAX_BYTES = 128 * 1024 * 1024  # several times the largest file; one of known size has less
N_ATTEMPTS = 2
_CHUNK = 1 << 16
_TOO_MANY_REQUESTS, _SERVER_ERROR = 429, 500

# Called with the name of the file, the bytes that came, and how many there will be if known.
Report = Callable[[str, int, int | None], None]


class _PassingError(Exception):
    """A failure that the next attempt may not meet."""


def download(
    file: OriginalFile,
    folder: Path,
    *,
    mirror: str | None = None,
    timeout: float = TIMEOUT,
    report: Report | None = None,
) -> Path:
    """Return the path of the file in `folder`; fetch it if it is not there, or damaged.

    Parameters
    ----------
    file
        What to fetch, and its checksum.
    folder
        Where it is to be; made if missing. Other processes may fetch the same file meanwhile.
    mirror
        The address of a server to ask instead of the published one.
    timeout
        Seconds without any byte after which the connection counts as cut.
    report
        Called as bytes arrive: the file, how many there are, and how many there will be.

    Raises
    ------
    DownloadError
        The file cannot be fetched, or is not the published one. Nothing is left in `folder`.
    """
    path, address = folder / file.name, file.address(mirror)
    _check_address(address)
    if path.is_file() and _is_right(file, path):
        return path
    folder.mkdir(parents=True, exist_ok=True)
    problem = ""
    for _ in range(N_ATTEMPTS):
        try:
            with replaced(path) as [out]:
                _fetch(file, address, out, timeout, report)
            return path
        except _PassingError as error:
            problem = str(error)
    raise _failed(address, problem)


def check_file(file: OriginalFile, path: Path) -> None:
    """Refuse a local file that is not the published one; one without known checksum passes."""
    if not path.is_file():
        raise InvalidParameterError(f"{path} is missing. Put {file.name} there.")
    if not _is_right(file, path):
        raise InvalidParameterError(
            f"{path}: the checksum is not that of the published file. Get it from {file.address()}."
        )


def _fetch(
    file: OriginalFile, address: str, out: IO[bytes], timeout: float, report: Report | None
) -> None:
    """Write what is behind the address to `out`, a file on disk, and check it there."""
    with _opened(address, timeout) as response:
        announced = response.headers.get("Content-Length", "")
        expected = int(announced) if announced.isdecimal() else None
        limit = MAX_BYTES if file.size is None else file.size
        n_bytes = 0
        for chunk in _chunks(response):
            n_bytes += len(chunk)
            # A server that announces too much is refused at once, any other when it sends it.
            if max(n_bytes, expected or 0) > limit:
                raise _failed(address, f"expected at most {limit:,} bytes, but the server has more")
            out.write(chunk)
            if report is not None:
                report(file.name, n_bytes, expected or file.size)
    if expected is not None and n_bytes < expected:
        raise _PassingError(f"the connection was cut after {n_bytes:,} of {expected:,} bytes")
    # The checksum is taken from the disk: what is there counts, not what was sent.
    out.flush()
    if not file.has_checksum or not _is_right(file, Path(out.name)):
        raise _PassingError(f"the {n_bytes:,} bytes received have the wrong checksum")


def _is_right(file: OriginalFile, path: Path) -> bool:
    """Whether a file on disk is the published one, as far as that can be known."""
    size = path.stat().st_size
    if file.size not in (None, size):
        return False
    if not file.has_checksum:
        return True
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(usedforsecurity=False)
    if not file.sha256:
        digest.update(b"blob %d\0" % size)  # what git puts before the content
    with path.open("rb") as content:
        found = hashlib.file_digest(content, lambda: digest).hexdigest()
    return found == (file.sha256 or file.git_blob)


def _opened(address: str, timeout: float) -> Any:
    """Open an address; separate failures that may pass from those that will not."""
    request = urllib.request.Request(address, headers={"User-Agent": "embedprop"})
    try:
        with _passing("no connection"):
            return urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        error.close()
        problem = f"the server answers {error.code} {error.reason}"
        # A server that is busy may answer the next time; one that has no such file will not.
        if error.code == _TOO_MANY_REQUESTS or error.code >= _SERVER_ERROR:
            raise _PassingError(problem) from error
        raise _failed(address, problem) from error


def _chunks(response: IO[bytes]) -> Iterator[bytes]:
    while True:
        with _passing("the connection was cut"):
            chunk = response.read(_CHUNK)
        if not chunk:
            return
        yield chunk


@contextmanager
def _passing(problem: str) -> Iterator[None]:
    """Take failures of the network as such that may pass; what the server answers is not one."""
    try:
        yield
    except urllib.error.HTTPError:
        raise
    except (OSError, http.client.HTTPException) as error:  # URLError is an OSError
        reason = getattr(error, "reason", error)
        text = getattr(reason, "strerror", None) or str(reason) or type(error).__name__
        raise _PassingError(f"{problem} ({text})") from error


def _check_address(address: str) -> None:
    with suppress(ValueError):
        parts = urllib.parse.urlsplit(address)
        is_plain = address.isprintable() and not any(map(str.isspace, address))
        if parts.scheme in ("http", "https") and parts.hostname and is_plain:
            return
    raise InvalidParameterError(
        f"{address!r} is not an address. Expected one that begins with https:// or http://."
    )


def _failed(address: str, problem: str) -> DownloadError:
    return DownloadError(
        f"{address} cannot be fetched: {problem}. Nothing was kept. Check the network and try "
        f"again, name a server that has the file with --mirror, or get the files by other means "
        f"and give their folder with --files."
    )


@contextmanager
def download_bar(verbose: bool) -> Iterator[Report | None]:
    """Give the function that downloads report to, or None if not `verbose` or on no terminal."""
    if not verbose or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=4) as progress:
        # A file is known by its name: an attempt that starts anew goes on in the same bar.
        tasks: dict[str, TaskID] = {}

        def report(name: str, n_bytes: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=total)
            progress.update(tasks[name], completed=n_bytes, total=total)

        yield report

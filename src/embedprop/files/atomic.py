"""Files that are written whole or not at all."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from embedprop.errors import InvalidParameterError


def check_file(path: Path) -> None:
    """Refuse a path that a file cannot be written to, before any work is done."""
    if path.is_dir():
        raise InvalidParameterError(f"{path}: this is a folder. Give the name of a file.")
    # A device or a pipe: renaming would replace it.
    if path.exists() and not path.is_file():
        raise InvalidParameterError(f"{path}: this is not an ordinary file. Give another name.")
    parent = path.absolute().parent
    if (parent / "manifest.json").exists():
        raise InvalidParameterError(
            f"{path}: this is inside a model folder, whose files belong together. Write elsewhere."
        )
    if not parent.is_dir():
        raise InvalidParameterError(f"{path}: the folder {parent} does not exist. Create it first.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InvalidParameterError(f"{path}: the folder {parent} cannot be written to.")


@contextmanager
def replaced(*paths: Path) -> Iterator[list[IO[bytes]]]:
    """Open new files that replace `paths` at the end, if nothing went wrong."""
    for path in paths:
        check_file(path)
    # Of a link, what it points to; beside it, as only within one disk is replacing a single step.
    places = [path.resolve() for path in paths]
    drafts = [place.with_name(f".{place.name}.{os.getpid()}.part") for place in places]
    try:
        with ExitStack() as stack:
            files: list[IO[bytes]] = [stack.enter_context(draft.open("wb")) for draft in drafts]
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        # Only now that all are whole and on the disk: none is replaced if one of them fails.
        for draft, place in zip(drafts, places, strict=True):
            draft.replace(place)
    except OSError as error:
        raise OSError(
            error.errno,
            f"{paths[0]} could not be written ({error.strerror or error}). Free some space, or "
            f"choose another place; what was there before is unchanged",
        ) from error
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)
    for folder in {place.parent for place in places}:
        # Without this a power cut could bring the old file back. Some network folders cannot do it.
        with suppress(OSError):
            sync(folder)


def sync(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    if sys.platform == "win32":  # cannot open a folder
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder, and remove it again if something goes wrong before anything is in it."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise

"""Write a model folder so that a crash at any moment leaves the old model or the new one."""

import errno
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from embedprop import __version__
from embedprop.errors import InvalidModelError, InvalidParameterError
from embedprop.files.atomic import made, sync
from embedprop.files.folder.load import read_manifest
from embedprop.files.folder.manifest import (
    MANIFEST,
    TEMPORARY_PREFIX,
    DataFile,
    Manifest,
    data_file_name,
    is_data_file_name,
    is_manifest,
    parsed,
)
from embedprop.files.folder.names import check_saveable, write_names

if sys.platform != "win32":
    import fcntl

Settings = Mapping[str, Any]
Arrays = Mapping[str, npt.NDArray[Any]]
Vocabularies = Mapping[str, Sequence[Hashable]]

_DTYPES = ("float32", "float64", "int32", "int64", "uint8")


def save_model(
    path: str | os.PathLike[str],
    *,
    settings: Settings,
    arrays: Arrays,
    vocabularies: Vocabularies,
) -> None:
    """Save a model into a folder, in place of the model that may be there.

    Parameters
    ----------
    path
        The folder; it is made if need be. Files of others in it stay as they are.
    settings
        What JSON can hold, with strings for keys.
    arrays
        Arrays of float32, float64, int32, int64 or uint8.
    vocabularies
        Names of nodes or labels, of the types that `check_saveable` allows.

    Raises
    ------
    InvalidParameterError
        If something cannot be saved, or the folder holds something other than a model.
    OSError
        If writing fails, for example because the disk is full. The old model is still there.

    Examples
    --------
    See `embedprop.files.folder.load.load_model`.
    """
    folder = Path(path)
    _check(settings, arrays, vocabularies)
    _check_folder(folder)
    is_new = not folder.exists()
    try:
        with made(folder), _locked(folder):
            _write(folder, settings, arrays, vocabularies)
        if is_new:
            sync(folder.parent)
    except OSError as error:
        raise OSError(
            error.errno or errno.EIO,
            f"{folder}: the model could not be saved ({error.strerror or error}). Free some space "
            f"or choose another folder; a model that was there before can still be loaded",
        ) from error


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a folder that a model cannot be saved to, so that it is known before training.

    Raises
    ------
    InvalidParameterError
        If the path is a file, holds something other than a model, or cannot be written to.

    Examples
    --------
    >>> check_target("a new folder")
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     check_target(file.name)
    Traceback (most recent call last):
        ...
    embedprop.errors.InvalidParameterError: ...: this is a file; a model is saved to a folder. ...
    """
    folder = Path(path)
    try:
        _check_folder(folder)
        whole = folder.absolute()
        nearest = next((one for one in (whole, *whole.parents) if one.exists()), whole)
        if not nearest.is_dir():
            raise InvalidParameterError(
                f"{folder}: {nearest} is a file, so no folder can be made in it. Give another path."
            )
        # To ask for rights is not enough: some file systems take nothing, even from root.
        with tempfile.TemporaryDirectory(prefix=TEMPORARY_PREFIX, dir=nearest) as trial:
            (Path(trial) / whole.relative_to(nearest)).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameterError(
            f"{folder}: no model can be saved there ({error.strerror or error}). Give another path."
        ) from error


def _check(settings: Settings, arrays: Arrays, vocabularies: Vocabularies) -> None:
    try:
        json.dumps(dict(settings), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParameterError(f"the settings cannot be saved as JSON: {error}.") from error
    for name, array in arrays.items():
        if array.dtype.name not in _DTYPES or name == "__metadata__":
            raise InvalidParameterError(
                f"the array {name!r} of type {array.dtype} cannot be saved; arrays are of "
                f"{', '.join(_DTYPES)}."
            )
    for names in vocabularies.values():
        check_saveable(names)


def _check_folder(folder: Path) -> None:
    """Refuse to write where something other than a model is."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InvalidParameterError(
            f"{folder}: this is a file; a model is saved to a folder. Give another path."
        )
    if (folder / MANIFEST).exists():
        with suppress(InvalidModelError):
            if is_manifest(parsed(read_manifest(folder), "")):
                return
    # Empty, or a save that was killed.
    elif all(
        is_data_file_name(file.name) or file.name.startswith(TEMPORARY_PREFIX)
        for file in folder.iterdir()
    ):
        return
    raise InvalidParameterError(
        f"{folder}: the folder is neither empty nor an embedprop model; nothing was written. Give "
        f"a new folder, or empty this one."
    )


def _write(folder: Path, settings: Settings, arrays: Arrays, vocabularies: Vocabularies) -> None:
    _remove_leftovers(folder)
    try:
        temporary = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX, dir=folder))
        manifest = Manifest(
            settings=dict(settings),
            arrays=_write_arrays(temporary, arrays),
            vocabularies={
                name: _write_vocabulary(temporary, names) for name, names in vocabularies.items()
            },
            written_by={"embedprop": __version__, "python": sys.version.split()[0]}
            | {library: version(library) for library in ("numpy", "pyarrow", "safetensors")},
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        (temporary / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
        sync(temporary / MANIFEST)
        for name in {data_file.file for data_file in manifest.files}:
            (temporary / name).replace(folder / name)
        sync(folder)  # the data files are there before the manifest names them
        (temporary / MANIFEST).replace(folder / MANIFEST)
        sync(folder)
    finally:
        _remove_leftovers(folder)


def _write_arrays(folder: Path, arrays: Arrays) -> DataFile:
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    path = folder / "vectors"
    path.touch()
    mode = path.stat().st_mode
    try:
        # safetensors writes the memory of an array as it lies, whatever its strides.
        save_file({name: np.asarray(array, order="C") for name, array in arrays.items()}, path)
    except SafetensorError as error:
        code = re.search(r"(?:os error|code:) (\d+)", str(error))
        number = int(code[1]) if code else errno.EIO
        raise OSError(number, os.strerror(number)) from error
    path.chmod(mode)  # safetensors lets nobody but the owner read, whatever the umask
    return _named_by_content(path)


def _write_vocabulary(folder: Path, names: Sequence[Hashable]) -> tuple[DataFile, str]:
    path = folder / "vocabulary"
    with path.open("wb") as file:
        encoding = write_names(names, file)
    return _named_by_content(path), encoding


def _named_by_content(path: Path) -> DataFile:
    sync(path)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    named = path.replace(path.with_name(data_file_name(path.name, sha256)))
    return DataFile(named.name, named.stat().st_size, sha256)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time save into `folder`; the system frees the lock of one that dies."""
    if sys.platform == "win32":  # cannot open a folder
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_leftovers(folder: Path) -> None:
    """Remove what saves left: temporaries, and data files that the manifest does not name."""
    with suppress(OSError):
        for path in folder.glob(f"{TEMPORARY_PREFIX}*"):
            shutil.rmtree(path, ignore_errors=True)
        named: set[str] = set()
        # Where the manifest cannot be read, nobody knows which data files belong to it.
        with suppress(InvalidModelError):
            if (folder / MANIFEST).exists():
                manifest = Manifest.from_json(read_manifest(folder), MANIFEST)
                named = {data_file.file for data_file in manifest.files}
            for path in list(folder.iterdir()):
                if is_data_file_name(path.name) and path.name not in named:
                    with suppress(OSError):
                        path.unlink()

"""Read a model folder; the arrays are mapped into memory, not copied."""

import hashlib
import json
import math
import os
import stat
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from embedprop.errors import InvalidModelError
from embedprop.files.folder.manifest import MANIFEST, DataFile, Manifest, damaged
from embedprop.files.folder.names import read_names

_DTYPES = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "u1"}
# More than any manifest or header needs: a wrong file is not read into memory.
_MAX_JSON_BYTES = 100_000_000
# A reader that finds its files gone begins again with the manifest that a save has put in place.
_ATTEMPTS = 100


@dataclass(frozen=True, eq=False)
class StoredModel:
    """What a model folder holds.

    The arrays are private views of the file: what is written to one does not reach the disk.
    """

    settings: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]
    vocabularies: dict[str, list[Hashable]]


def load_model(path: str | os.PathLike[str], verify: bool = False) -> StoredModel:
    """Load the model that `save_model` wrote.

    Parameters
    ----------
    path
        The folder.
    verify
        Whether to compare the hash of every data file too. Off by default, because it reads
        them all; their sizes are always compared.

    Raises
    ------
    InvalidModelError
        If the folder is missing, incomplete or damaged.
    FormatVersionError
        If a later version of embedprop wrote it in a format that this one does not know.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from embedprop.files.folder.save import save_model
    >>> folder = tempfile.mkdtemp()
    >>> vectors = np.ones((2, 3), dtype=np.float32)
    >>> save_model(folder, settings={}, arrays={"node": vectors}, vocabularies={"node": ["a", "b"]})
    >>> model = load_model(folder)
    >>> model.arrays["node"].shape, model.vocabularies["node"]
    ((2, 3), ['a', 'b'])
    """
    folder = Path(path)
    text = read_manifest(folder)
    for _ in range(_ATTEMPTS):
        try:
            return _load_files(folder, Manifest.from_json(text, str(folder / MANIFEST)), verify)
        except FileNotFoundError as error:
            newer = read_manifest(folder)
            if newer == text:
                raise damaged(error.filename, "this file is missing") from error
            text = newer
    raise InvalidModelError(f"{folder}: the model keeps being saved; try again later.")


def read_manifest(folder: Path) -> bytes:
    """Text of the manifest in `folder`."""
    path = folder / MANIFEST
    if not folder.is_dir():
        problem = "this is a file, not a model folder" if folder.exists() else "no such folder"
        raise InvalidModelError(f"{folder}: {problem}. Give the folder that a model was saved to.")
    if not path.is_file():
        raise InvalidModelError(
            f"{folder}: there is no {MANIFEST}, so this is not a model folder (or its first save "
            f"did not finish). Give the folder that a model was saved to."
        )
    if path.stat().st_size > _MAX_JSON_BYTES:
        raise damaged(path, "the file is too large for a manifest")
    return path.read_bytes()


def _load_files(folder: Path, manifest: Manifest, verify: bool) -> StoredModel:
    with _opened(folder, manifest.arrays, verify) as file:
        try:
            arrays = _mapped_arrays(file, manifest.arrays.size)
        except (ValueError, RecursionError) as error:
            raise damaged(folder / manifest.arrays.file, str(error)) from error
    vocabularies = {}
    for name, (data_file, encoding) in manifest.vocabularies.items():
        with _opened(folder, data_file, verify) as file:
            try:
                vocabularies[name] = read_names(file, encoding)
            except ValueError as error:
                raise damaged(folder / data_file.file, str(error)) from error
    return StoredModel(manifest.settings, arrays, vocabularies)


@contextmanager
def _opened(folder: Path, data_file: DataFile, verify: bool) -> Iterator[IO[bytes]]:
    """Open a data file whose size, and hash if asked, are those of the manifest."""
    path = folder / data_file.file
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for a writer
        raise damaged(path, "expected a file")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size != data_file.size:
            raise damaged(path, f"expected a file of {data_file.size} bytes, got {size}")
        if verify and hashlib.file_digest(file, "sha256").hexdigest() != data_file.sha256:
            raise damaged(path, "the content does not match its hash")
        file.seek(0)
        yield file


def _mapped_arrays(file: IO[bytes], size: int) -> dict[str, npt.NDArray[Any]]:
    """Views of the tensors in a safetensors file: 8 bytes of length, a JSON header, the data."""
    n_header = int.from_bytes(file.read(8), "little")
    if size < 8 or n_header > min(size - 8, _MAX_JSON_BYTES):
        raise ValueError("not a safetensors file: its header does not fit")
    header = json.loads(file.read(n_header))
    if not isinstance(header, dict):
        raise ValueError("not a safetensors file: its header is not a JSON object")
    # Copy on write: training can go on in these arrays, the file stays as it is.
    content = np.asarray(np.memmap(file, dtype=np.uint8, mode="c"))[8 + n_header :]
    header.pop("__metadata__", None)
    return {name: _tensor(content, name, entry) for name, entry in header.items()}


def _tensor(content: npt.NDArray[np.uint8], name: str, entry: object) -> npt.NDArray[Any]:
    match entry:
        case {"dtype": str(code), "shape": list(shape), "data_offsets": [int(begin), int(end)]}:
            pass
        case _:
            raise ValueError(f"the entry of the array {name!r} is not valid in safetensors")
    if code not in _DTYPES:
        raise ValueError(f"the array {name!r} has the type {code}, not one of {', '.join(_DTYPES)}")
    if not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"the shape of the array {name!r} is {shape}")
    dtype = np.dtype(_DTYPES[code])
    n_bytes = math.prod(shape) * dtype.itemsize
    if not 0 <= begin <= end <= len(content) or end - begin != n_bytes:
        raise ValueError(f"the array {name!r} does not lie within the file")
    array = content[begin:end].view(dtype).reshape(shape)
    return np.require(array, requirements=["ALIGNED"])  # as every file of ours is: no copy

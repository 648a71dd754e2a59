"""What a model folder holds, format version 2.

- `manifest.json`: what the model is; the name, size and hash of each data file
- `vectors-<hash>.safetensors`: every array
- `vocabulary-<hash>.parquet`: names, one file for each vocabulary

The hash is the first 16 digits of the SHA-256 of the content: a file never changes under its name.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from embedprop.errors import FormatVersionError, InvalidModelError
from embedprop.files.folder.names import ENCODINGS

FORMAT_NAME = "embedprop-model"
FORMAT_VERSION = 2
MANIFEST = "manifest.json"
# A save in progress writes into a folder of this name inside the model folder.
TEMPORARY_PREFIX = ".embedprop-saving-"
_SUFFIXES = {"vectors": ".safetensors", "vocabulary": ".parquet"}
_DATA_FILE = re.compile(r"vectors-[0-9a-f]{16}\.safetensors|vocabulary-[0-9a-f]{16}\.parquet")

_T = TypeVar("_T")


def data_file_name(kind: str, sha256: str) -> str:
    """Name of the data file of a kind (vectors or vocabulary) with this content."""
    return f"{kind}-{sha256[:16]}{_SUFFIXES[kind]}"


def is_data_file_name(name: str) -> bool:
    """Whether `name` has the form of a data file's; nothing else is ever removed."""
    return _DATA_FILE.fullmatch(name) is not None


def damaged(place: object, problem: str) -> InvalidModelError:
    """Return the error for something wrong in a model folder."""
    return InvalidModelError(
        f"{place}: {problem}. The model is damaged: restore the folder from a copy, or train and "
        f"save it again."
    )


@dataclass(frozen=True)
class DataFile:
    """A data file beside the manifest: its name there, its size in bytes, its SHA-256."""

    file: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The content of `manifest.json`.

    `vocabularies` gives the data file and the encoding (see `names`) of each vocabulary's names;
    `written_by` the versions of the libraries; `created` the time (UTC, ISO 8601).
    """

    settings: dict[str, Any]
    arrays: DataFile
    vocabularies: Mapping[str, tuple[DataFile, str]]
    written_by: Mapping[str, str]
    created: str

    @property
    def files(self) -> tuple[DataFile, ...]:
        return (self.arrays, *(file for file, _ in self.vocabularies.values()))

    def to_json(self) -> str:
        content = {
            "format": FORMAT_NAME,
            "format_version": FORMAT_VERSION,
            "created": self.created,
            "written_by": dict(self.written_by),
            "settings": self.settings,
            "arrays": asdict(self.arrays),
            "vocabularies": {
                name: asdict(file) | {"encoding": encoding}
                for name, (file, encoding) in self.vocabularies.items()
            },
        }
        return json.dumps(content, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: bytes, place: str) -> "Manifest":
        """Read and check what `to_json` wrote; nothing in `text` is trusted."""
        content = _Fields(parsed(text, place), place)
        _check_version(content)
        entries = content.fields("vocabularies")
        return cls(
            settings=content.get("settings", dict),
            arrays=_data_file(content.fields("arrays"), "vectors"),
            vocabularies={name: _vocabulary(entries.fields(name)) for name in entries.content},
            written_by=content.get("written_by", dict),
            created=content.get("created", str),
        )


def parsed(text: bytes, place: str) -> object:
    """JSON of a manifest."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(place, f"not valid JSON ({error})") from error


def is_manifest(content: object) -> bool:
    """Whether parsed JSON is an embedprop manifest, of whatever version."""
    return isinstance(content, dict) and content.get("format") == FORMAT_NAME


class _Fields:
    """A JSON object of the manifest, and the place where it stands, for messages."""

    def __init__(self, content: object, place: str) -> None:
        if not isinstance(content, dict):
            raise damaged(place, "expected a JSON object")
        self.content: dict[str, Any] = content
        self.place = place

    def get(self, key: str, kind: type[_T]) -> _T:
        value = self.content.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            shown = f"{value!r:.50}" if key in self.content else "missing"
            raise damaged(self.place, f"{key!r}: expected a {kind.__name__}, got {shown}")
        return value

    def fields(self, key: str) -> "_Fields":
        return _Fields(self.content.get(key), f"{self.place}, {key!r}")


def _check_version(content: _Fields) -> None:
    if not is_manifest(content.content):
        raise InvalidModelError(
            f"{content.place}: not the manifest of an embedprop model ('format' is not "
            f"{FORMAT_NAME!r}). Give the folder that a model was saved to."
        )
    version = content.get("format_version", int)
    if version < 1:
        raise damaged(content.place, f"'format_version': expected 1 or more, got {version}")
    if version > FORMAT_VERSION:
        written_by = content.content.get("written_by")
        writer = written_by.get("embedprop") if isinstance(written_by, dict) else None
        raise FormatVersionError(
            f"{content.place}: embedprop {writer or '(unknown version)'!s:.30} wrote this model in "
            f"format version {version}; this installation reads versions up to {FORMAT_VERSION}. "
            f"Upgrade with: pip install --upgrade embedprop"
        )


def _data_file(entry: _Fields, kind: str) -> DataFile:
    data_file = DataFile(entry.get("file", str), entry.get("size", int), entry.get("sha256", str))
    if not re.fullmatch("[0-9a-f]{64}", data_file.sha256) or data_file.size < 0:
        raise damaged(entry.place, "'sha256' or 'size' is invalid")
    # So no path can hide in a name, nor a name that is not ours.
    expected = data_file_name(kind, data_file.sha256)
    if data_file.file != expected:
        raise damaged(entry.place, f"'file': expected {expected!r}, got {data_file.file!r:.100}")
    return data_file


def _vocabulary(entry: _Fields) -> tuple[DataFile, str]:
    encoding = entry.get("encoding", str)
    if encoding not in ENCODINGS:
        raise damaged(entry.place, f"'encoding' should be one of {', '.join(ENCODINGS)}")
    return _data_file(entry, "vocabulary"), encoding

"""Where the original files of each data set are published, and how to know that they are right.

An address names a commit, so that what is behind it does not change. Each file has its git blob id
(the SHA-1 of ``blob <size>``, a zero byte and the content); where the file itself was at hand, its
SHA-256 and its size too, and then these are checked.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from embedprop.errors import InvalidParameterError, did_you_mean

RAW_FILES = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class OriginalFile:
    """A file as it was published.

    Parameters
    ----------
    kind
        What the converter calls it.
    folder
        Where it lies below the address of a mirror.
    git_blob, sha256, size
        What is known of its content.
    """

    kind: str
    folder: str
    repository: str
    commit: str
    path: str
    git_blob: str | None = None
    sha256: str | None = None
    size: int | None = None

    @property
    def name(self) -> str:
        """Its name without folders."""
        return self.path.rpartition("/")[2]

    @property
    def has_checksum(self) -> bool:
        """Whether its content is known, so that it can be checked."""
        return self.sha256 is not None or self.git_blob is not None

    def address(self, mirror: str | None = None) -> str:
        """Return where to fetch it; a mirror has the files of one format in one folder.

        >>> find_source("ppi").files[0].address("http://localhost/")
        'http://localhost/mat/Homo_sapiens.mat'
        """
        if mirror is not None:
            return f"{mirror.rstrip('/')}/{self.folder}/{self.name}"
        return f"{RAW_FILES}/{self.repository}/{self.commit}/{self.path}"


@dataclass(frozen=True)
class Source:
    """A data set and its original files.

    Parameters
    ----------
    n_nodes, n_edges, n_classes
        What the converter must find; an undirected edge counts once, and so does a self-loop.
    format
        Which converter reads the files: ``planetoid``, ``mat`` or ``linqs``; empty if none does.
    class_names
        The classes by their numbers, where the original files have only numbers.
    obstacle
        Why the files cannot be fetched; empty if they can.
    """

    name: str
    title: str
    n_nodes: int
    n_edges: int
    n_classes: int
    format: str = ""
    license: str = ""
    files: tuple[OriginalFile, ...] = ()
    class_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    obstacle: str = ""

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many nodes, edges and classes there are."""
        return self.n_nodes, self.n_edges, self.n_classes


# Read once: the file is part of the package and does not change.
@cache
def sources() -> Mapping[str, Source]:
    """Return the known data sets by name."""
    text = files("embedprop.datasets").joinpath("sources.toml").read_text(encoding="utf-8")
    return {name: _source(name, entry) for name, entry in tomllib.loads(text).items()}


def find_source(name: str) -> Source:
    """Return the source of a data set.

    Raises
    ------
    InvalidParameterError
        The name is not known.
    """
    known = sources()
    if name not in known:
        raise InvalidParameterError(
            f"Unknown data set {name!r}.{did_you_mean(name, known)} Available: {', '.join(known)}."
        )
    return known[name]


def _source(name: str, entry: dict[str, Any]) -> Source:
    # Repository and commit stand once per data set, but belong to each of its files.
    published = {key: entry.pop(key, "") for key in ("repository", "commit")}
    originals = tuple(
        OriginalFile(folder=entry["format"], **published, **file) for file in entry.pop("files", ())
    )
    entry |= {key: tuple(entry.get(key, ())) for key in ("class_names", "notes")}
    return Source(name=name, files=originals, **entry)

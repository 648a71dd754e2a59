"""Which storage: what is asked for, what fits into memory, and in how many partitions."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.graph import Graph
from embedprop.instance import Instance, require_count
from embedprop.parts import split_part
from embedprop.training.labels import learned_labels
from embedprop.training.partitions import Partitions
from embedprop.training.tables import MEMORY, DiskTables, Tables

logger = logging.getLogger(__name__)

KINDS = ("auto", "memory", "disk")
# Above this share of the machine's memory, tables go to disk: the rest of it has users too.
SAFE_SHARE = 0.75
# Of the machine's memory, for the tables of a pair of partitions: the graph is there too, and the
# system keeps what it has still to write.
PAIR_SHARE = 0.125
_IN_MEMORY = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Storage:
    """What the user asks for, as in ``"disk(partitions=8, folder='/data')"``; None: our choice."""

    kind: str
    partitions: int | None = None
    folder: str | None = None

    @classmethod
    def parse(cls, text: Any) -> Self:
        """Return what is meant, checked.

        >>> Storage.parse("disk(partitions=8)")
        Storage(kind='disk', partitions=8, folder=None)
        """
        kind, given = split_part(text)
        if kind not in KINDS:
            known = ", ".join(map(repr, KINDS))
            raise UnknownComponentError(f"storage={text!r} is not known. Choose one of: {known}.")
        unknown = [name for name in given if kind != "disk" or name not in ("partitions", "folder")]
        if unknown:
            has = "'partitions', 'folder'" if kind == "disk" else "none"
            raise InvalidParameterError(
                f"storage={text!r}: {kind!r} has no parameter {unknown[0]!r}. It has: {has}."
            )
        partitions, folder = given.get("partitions"), given.get("folder")
        if partitions is not None and require_count("partitions", partitions, 2) % 2:
            raise InvalidParameterError(
                f"storage={text!r}: partitions go in pairs, so their number must be even."
            )
        if folder is not None and not isinstance(folder, str):
            raise InvalidParameterError(f"storage={text!r}: folder must be a text in quotes.")
        return cls(kind, partitions, folder)


class Place(NamedTuple):
    """Where tables go, and in how many partitions nodes are learned."""

    tables: Tables
    n_partitions: int


def needed_memory(graph: Graph, instance: Instance) -> int:
    """Return the bytes that EP-B needs where all is in memory."""
    # Start, vectors, direction and root of each label; h of each node.
    return 4 * sum(
        settings.dim * (4 * learned_labels(graph, name).n_vectors + graph.n_nodes)
        for name, settings in instance.label_types.items()
    )


def choose_place(storage: Storage, graph: Graph, instance: Instance, engine: str) -> Place:
    """Return where the tables of a run go; with "auto" on disk if memory does not hold them."""
    memory = physical_memory()
    if storage.kind == "auto" and engine == "fused" and memory is not None:
        needed = needed_memory(graph, instance)
        if needed > SAFE_SHARE * memory:
            logger.warning(
                "Learning needs about %.1f GB, and this machine has %.1f GB: tables go to disk "
                "(storage='disk'), which takes longer, and neighbors count a part at a time.",
                needed / 1e9,
                memory / 1e9,
            )
            storage = Storage("disk")
    if storage.kind != "disk":
        return Place(MEMORY, 2)
    if engine != "fused":
        raise InvalidParameterError(
            f"storage='disk' is for EP-B by the fused engine, but here the engine is {engine!r}. "
            f"Leave storage out, or choose what the fused engine computes."
        )
    n_partitions = storage.partitions or _enough_partitions(graph, instance, memory)
    Partitions(graph.n_nodes, n_partitions)  # refuses too many
    folder = _checked_folder(storage.folder)
    _require_room(folder, disk_bytes(graph, instance))
    logger.info("Tables are in %s, nodes in %d partitions.", folder, n_partitions)
    return Place(DiskTables(folder), n_partitions)


def disk_bytes(graph: Graph, instance: Instance) -> int:
    """Return the size of all files: vectors, direction and root, and h if it is another table."""
    types = instance.label_types
    tables = sum(
        one.dim * (learned_labels(graph, name).n_vectors + instance.n_relations)
        for name, one in types.items()
    )
    h = graph.n_nodes * sum(one.dim for one in types.values()) if len(types) > 1 else 0
    start = tables if instance.n_relations else 0
    return 4 * (3 * tables + start + h)


def physical_memory() -> int | None:
    """Return the bytes of memory of this machine or container; None where nobody tells."""
    found = []
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(ValueError, OSError):  # "max": as much as the machine has
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(found, default=None)


def _enough_partitions(graph: Graph, instance: Instance, memory: int | None) -> int:
    """Return how many partitions there must be for a pair to fit; only ids are partitioned."""
    if "node" not in instance.label_types or memory is None:
        return 2
    size = 12 * graph.n_nodes * instance.label_types["node"].dim
    n_pairs = -(-size // int(PAIR_SHARE * memory))
    return 2 * min(n_pairs, graph.n_nodes // 2)


def _checked_folder(given: str | None) -> Path:
    folder = Path(tempfile.gettempdir() if given is None else given).expanduser()
    if not folder.is_dir():
        raise InvalidParameterError(f"storage: the folder {folder} does not exist. Make it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidParameterError(
            f"storage: the folder {folder} cannot be written to. Give another one: "
            f"storage=\"disk(folder='...')\"."
        )
    if _file_system(folder) in _IN_MEMORY:
        logger.warning(
            "The folder %s is in memory itself, so that nothing is gained. Give one on a disk: "
            "storage=\"disk(folder='...')\".",
            folder,
        )
    return folder


def _require_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InvalidParameterError(
            f"storage='disk' needs about {needed / 1e9:.1f} GB, but the folder {folder} has "
            f"{free / 1e9:.1f} GB free. Lower dim, make room, or give another folder: "
            f"storage=\"disk(folder='...')\"."
        )


def _file_system(folder: Path) -> str:
    """Return the kind of file system that a folder is on, "" where nobody tells."""
    best, kind = -1, ""
    with suppress(OSError):
        place = folder.resolve()
        for line in Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines():
            _, mounted, name, *_ = line.split()
            if place.is_relative_to(mounted) and len(mounted) >= best:
                best, kind = len(mounted), name
    return kind

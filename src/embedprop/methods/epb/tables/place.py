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
from embedprop.graph.changes.learnable import learned_labels
from embedprop.instance.catalog import split_part
from embedprop.instance.description import Instance, require_count
from embedprop.methods.epb.partitions import Partitions
from embedprop.methods.epb.tables.columns import part_sizes
from embedprop.methods.epb.tables.storage import MEMORY, DiskTables, Tables

logger = logging.getLogger(__name__)

KINDS = ("auto", "memory", "disk")
# Above this share of the machine's memory, tables go to disk: the rest of it has users too.
SAFE_SHARE = 0.75
# Of the machine's memory, for the tables of a pair of partitions: the graph is there too, and the
# system keeps what it has still to write.
PAIR_SHARE = 0.125
_IN_MEMORY = ("tmpfs", "ramfs")
_WITH_FOLDER = "storage=\"disk(folder='...')\""
_CGROUPS, _OWN_CGROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_MOUNTS = Path("/proc/mounts")


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
    numbers = 0
    for name, one in instance.label_types.items():
        n_parts, width = _parts(one.dim)
        # Start of each label; vectors, direction and root in parts; per part two steps, and
        # two numbers for who is in a batch and who receives something.
        per_label = one.dim + n_parts * (3 * width + 4)
        numbers += per_label * learned_labels(graph, name).n_vectors
        numbers += one.dim * graph.n_nodes  # h
        if name != "node":  # whose labels are the nodes
            numbers += n_parts * graph.n_nodes
    return 4 * numbers


def choose_place(storage: Storage, graph: Graph, instance: Instance, engine: str) -> Place:
    """Return where the tables of a run go; with "auto" on disk if memory does not hold them."""
    memory = physical_memory()
    if storage.kind == "auto" and engine == "fused" and memory is not None:
        storage = _decided(graph, instance, memory)
    require_possible(storage, engine)
    if storage.kind != "disk":
        return Place(MEMORY, 2)
    n_partitions = storage.partitions or _enough_partitions(graph, instance, memory)
    Partitions(graph.n_nodes, n_partitions)  # refuses too many
    folder = _folder(storage)
    _require_folder(folder, disk_bytes(graph, instance, n_partitions))
    if _file_system(folder) in _IN_MEMORY:
        logger.warning(
            "The folder %s is in memory itself, so that nothing is gained. Give one on a disk: %s.",
            folder,
            _WITH_FOLDER,
        )
    logger.info("Tables are in %s, nodes in %d partitions.", folder, n_partitions)
    return Place(DiskTables(folder), n_partitions)


def require_possible(storage: Storage, engine: str) -> None:
    """Refuse tables on disk for another engine than the fused one, or without a folder for them."""
    if storage.kind != "disk":
        return
    if engine != "fused":
        raise InvalidParameterError(
            f"storage='disk' is for EP-B by the fused engine, but here the engine is {engine!r}. "
            f"Leave storage out, or choose what the fused engine computes."
        )
    _require_folder(_folder(storage))


def _decided(graph: Graph, instance: Instance, memory: int) -> Storage:
    """Return what "auto" means here: disk where memory is short and the disk is not."""
    needed = needed_memory(graph, instance)
    if needed <= SAFE_SHARE * memory:
        return Storage("memory")
    short = (
        f"Learning needs about {needed / 1e9:.1f} GB, and this machine has {memory / 1e9:.1f} GB"
    )
    disk = Storage("disk")
    folder = _folder(disk)
    n_partitions = _enough_partitions(graph, instance, memory)
    why_not = _refusal(folder, disk_bytes(graph, instance, n_partitions))
    if not why_not and _file_system(folder) in _IN_MEMORY:
        why_not = f"the folder {folder} is in memory itself"
    if not why_not:
        logger.warning(
            "%s: tables go to disk (storage='disk'), which takes longer, and neighbors count a "
            "part at a time.",
            short,
        )
        return disk
    if needed > memory:
        raise InvalidParameterError(
            f"{short}, but tables cannot go to disk either: {why_not}. Give a folder on a disk "
            f"({_WITH_FOLDER}), lower dim, or learn from fewer label types."
        )
    logger.warning(
        "%s. Tables stay in memory: %s. To keep them on disk, give a folder: %s.",
        short,
        why_not,
        _WITH_FOLDER,
    )
    return Storage("memory")


def disk_bytes(graph: Graph, instance: Instance, n_partitions: int) -> int:
    """Return the size of all files: vectors, direction and root, and h where it is not a table."""
    types, n_relations = instance.label_types, instance.n_relations
    in_all = 0
    for name, one in types.items():
        n_vectors = learned_labels(graph, name).n_vectors
        n_parts, width = _parts(one.dim)
        # Ids in partitions are read from tables into parts in memory; others are in parts all the
        # time, beside the start vectors and, in the end, those learned.
        partitioned = name == "node" and n_partitions > 2
        whole = partitioned or (n_parts, width) == (1, one.dim)
        n_columns = 3 * one.dim if whole else 2 * one.dim + 3 * n_parts * width
        # With relations, the start vectors are copied to a table that has room for these too.
        in_all += n_columns * (n_vectors + n_relations) + (one.dim * n_vectors * bool(n_relations))
        # The vectors of ids are their h.
        in_all += graph.n_nodes * one.dim * ((name != "node") + (len(types) > 1))
    return 4 * in_all


def _parts(dim: int) -> tuple[int, int]:
    """Return number and width of the parts of vectors, for all threads that there are."""
    from embedprop.methods.epb.engines.threads import available_threads

    return part_sizes(dim, available_threads())


def physical_memory() -> int | None:
    """Return the bytes of memory of this machine or container; None where nobody tells."""
    found = _container_limits()
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(found, default=None)


def _container_limits() -> list[int]:
    """Return the limits of this process's control groups, of both versions, and of those above."""
    files = [_CGROUPS / "memory.max", _CGROUPS / "memory/memory.limit_in_bytes"]
    with suppress(OSError):
        for line in _OWN_CGROUPS.read_text(encoding="utf-8", errors="replace").splitlines():
            _, controllers, place = [*line.split(":", 2), "", ""][:3]
            steps = [step for step in place.split("/") if step]
            above = ["/".join(steps[:n]) for n in range(1, len(steps) + 1)]
            if not controllers:
                files += [_CGROUPS / group / "memory.max" for group in above]
            elif "memory" in controllers.split(","):
                files += [_CGROUPS / "memory" / group / "memory.limit_in_bytes" for group in above]
    limits = []
    for file in files:
        with suppress(ValueError, OSError):  # "max": as much as the machine has
            limits.append(int(file.read_text()))
    return limits


def _enough_partitions(graph: Graph, instance: Instance, memory: int | None) -> int:
    """Return how many partitions there must be for a pair to fit; only ids are partitioned."""
    if "node" not in instance.label_types or memory is None:
        return 2
    n_parts, width = _parts(instance.label_types["node"].dim)
    size = 12 * graph.n_nodes * n_parts * width
    n_pairs = -(-size // int(PAIR_SHARE * memory))
    return 2 * min(n_pairs, graph.n_nodes // 2)


def _folder(storage: Storage) -> Path:
    given = storage.folder
    return Path(tempfile.gettempdir() if given is None else given).expanduser()


def _require_folder(folder: Path, size: int = 0) -> None:
    refusal = _refusal(folder, size)
    if refusal:
        raise InvalidParameterError(
            f"storage='disk': {refusal}. Give another folder: {_WITH_FOLDER}."
        )


def _refusal(folder: Path, size: int) -> str:
    """Return why a folder cannot take tables of that size, "" if it can."""
    if not folder.is_dir():
        return f"the folder {folder} does not exist"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"the folder {folder} cannot be written to"
    free = shutil.disk_usage(folder).free
    if size > free:
        return (
            f"tables with these dimensions need about {size / 1e9:.1f} GB, but the folder "
            f"{folder} has {free / 1e9:.1f} GB free"
        )
    return ""


def _file_system(folder: Path) -> str:
    """Return the kind of file system that a folder is on, "" where nobody tells."""
    best, kind = -1, ""
    with suppress(OSError):
        place = folder.resolve()
        for line in _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
            _, mounted, name = [*line.split(), "", "", ""][:3]
            if mounted and place.is_relative_to(mounted) and len(mounted) >= best:
                best, kind = len(mounted), name
    return kind

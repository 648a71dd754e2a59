"""Where tables go: what is asked for, what fits into memory, and in how many partitions."""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from embedprop.errors import InvalidParameterError
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.epb import EPBInstance
from embedprop.instance.require import require_count, require_one_of
from embedprop.methods.epb.neighborhoods import Partitions
from embedprop.methods.epb.tables.storage import MEMORY, DiskTables, Tables, part_sizes
from embedprop.methods.method import physical_memory
from embedprop.model.notices import Notice

StorageKind = Literal["auto", "memory", "disk"]
# Above this share of the machine's memory, tables go to disk: the rest of it has users too.
SAFE_SHARE = 0.75
# Of the machine's memory, for the tables of a pair of partitions: the graph is there too, and the
# system keeps what it has still to write.
PAIR_SHARE = 0.125
_IN_MEMORY = ("tmpfs", "ramfs")
_WITH_FOLDER = "engine=\"fused(storage='disk', folder='...')\""
_MOUNTS = Path("/proc/mounts")


def check_storage(storage: str, partitions: int | None, folder: str | None) -> None:
    """Refuse what cannot be asked for: where, in how many partitions, in which folder."""
    require_one_of("storage", storage, get_args(StorageKind))
    if storage != "disk" and (partitions is not None or folder is not None):
        raise InvalidParameterError(
            f"storage={storage!r} takes neither partitions nor a folder, which are for tables on "
            f"disk. Set storage='disk', or leave them out."
        )
    if partitions is not None and require_count("partitions", partitions, 2) % 2:
        raise InvalidParameterError(
            f"partitions={partitions}: expected an even number, because partitions are learned "
            f"in pairs, got {partitions}."
        )
    if folder is not None and not isinstance(folder, str):
        raise InvalidParameterError(f"folder={folder!r}: expected a path in quotes.")
    if storage == "disk":
        _require_folder(_path_of(folder))


def _path_of(folder: str | None) -> Path:
    return Path(tempfile.gettempdir() if folder is None else folder).expanduser()


class Place(NamedTuple):
    """Where tables go, in how many partitions nodes are learned, and what to say about it."""

    tables: Tables = MEMORY
    n_partitions: int = 2
    notice: Notice | None = None


def choose_place(
    storage: str,
    partitions: int | None,
    folder: str | None,
    graph: LearnableGraph,
    instance: EPBInstance,
) -> Place:
    """Return where the tables of a run go; with "auto" on disk if memory does not hold them.

    partitions, folder: those that were asked for; None: our choice.
    """
    memory = physical_memory()
    if storage == "auto" and memory is not None:
        return _decided(graph, instance, memory)
    if storage != "disk":
        return Place()
    n_nodes, path = graph.graph.n_nodes, _path_of(folder)
    n_partitions = partitions or _enough_partitions(n_nodes, instance, memory)
    Partitions(n_nodes, n_partitions)  # refuses too many
    _require_folder(path, disk_bytes(graph, instance, n_partitions))
    notice = Notice(f"Tables are in {path}, nodes in {n_partitions} partitions.", is_warning=False)
    if _file_system(path) in _IN_MEMORY:
        notice = Notice(
            f"The folder {path} is in memory itself, so that nothing is gained. Give one on a "
            f"disk: {_WITH_FOLDER}."
        )
    return Place(DiskTables(path), n_partitions, notice)


def _decided(graph: LearnableGraph, instance: EPBInstance, memory: int) -> Place:
    """Return what "auto" means here: disk where memory is short and the disk is not."""
    needed = needed_memory(graph, instance)
    if needed <= SAFE_SHARE * memory:
        return Place()
    short = (
        f"Learning needs about {needed / 1e9:.1f} GB, and this machine has {memory / 1e9:.1f} GB"
    )
    folder = _path_of(None)
    n_partitions = _enough_partitions(graph.graph.n_nodes, instance, memory)
    why_not = _refusal(folder, disk_bytes(graph, instance, n_partitions))
    if not why_not and _file_system(folder) in _IN_MEMORY:
        why_not = f"the folder {folder} is in memory itself"
    if not why_not:
        to_disk = Notice(
            f"{short}: tables go to disk (storage='disk') in {n_partitions} partitions, which "
            f"takes longer, and each epoch uses only some of a node's neighbors."
        )
        return Place(DiskTables(folder), n_partitions, to_disk)
    if needed > memory:
        raise InvalidParameterError(
            f"{short}, but the tables cannot go to disk either: {why_not}. Give a folder on a disk "
            f"({_WITH_FOLDER}), lower dim, or learn from fewer label types."
        )
    kept = Notice(
        f"{short}. Tables stay in memory: {why_not}. To keep them on disk, give a folder: "
        f"{_WITH_FOLDER}."
    )
    return Place(notice=kept)


def needed_memory(graph: LearnableGraph, instance: EPBInstance, n_partitions: int = 2) -> int:
    """Return the bytes that EP-B needs in memory; with more partitions a pair of them is there."""
    numbers, n_nodes = 0, graph.graph.n_nodes
    for name, one in instance.label_types.items():
        n_parts, width = _parts(one.dim)
        # Start of each label; vectors, direction and root in parts; per part two steps, and
        # two numbers for who is in a batch and who receives something.
        per_label = one.dim + n_parts * (3 * width + 4)
        numbers += per_label * graph.labels(name).n_vectors
        numbers += one.dim * n_nodes  # h
        if name != "node":  # whose labels are the nodes
            numbers += n_parts * n_nodes
        elif n_partitions > 2:
            at_home = (2 * one.dim + 3 * n_parts * width) * n_nodes
            numbers -= at_home * (n_partitions - 2) // n_partitions
    return 4 * numbers


def disk_bytes(graph: LearnableGraph, instance: EPBInstance, n_partitions: int) -> int:
    """Return the size of all files: vectors, direction and root, and h where it is not a table."""
    types, n_relations = instance.label_types, instance.n_relations
    in_all = 0
    for name, one in types.items():
        n_vectors = graph.labels(name).n_vectors
        n_parts, width = _parts(one.dim)
        # Ids in partitions are read from tables into parts in memory; others are in parts all the
        # time, beside the start vectors and, in the end, those learned.
        partitioned = name == "node" and n_partitions > 2
        whole = partitioned or (n_parts, width) == (1, one.dim)
        n_columns = 3 * one.dim if whole else 2 * one.dim + 3 * n_parts * width
        # With relations, the start vectors are copied to a table that has room for these too.
        in_all += n_columns * (n_vectors + n_relations) + (one.dim * n_vectors * bool(n_relations))
        # The vectors of ids are their h.
        in_all += graph.graph.n_nodes * one.dim * ((name != "node") + (len(types) > 1))
    return 4 * in_all


def _parts(dim: int) -> tuple[int, int]:
    """Return number and width of the parts of vectors, for all threads that there are."""
    from embedprop.methods.epb.engines.threads import available_threads

    return part_sizes(dim, available_threads())


def _enough_partitions(n_nodes: int, instance: EPBInstance, memory: int | None) -> int:
    """Return how many partitions there must be for a pair to fit; only ids are partitioned."""
    if "node" not in instance.label_types or memory is None:
        return 2
    n_parts, width = _parts(instance.label_types["node"].dim)
    size = 12 * n_nodes * n_parts * width
    n_pairs = -(-size // int(PAIR_SHARE * memory))
    return 2 * min(n_pairs, n_nodes // 2)


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

"""A name → original files → a data set in the cache; and the list of what is known and there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from embedprop.datasets.folder import META, cache_folder, found_folders, read_json
from embedprop.datasets.sources import Source, find_source, sources
from embedprop.errors import InvalidGraphError, InvalidParameterError

if TYPE_CHECKING:
    from embedprop.datasets.converters import Converted
    from embedprop.datasets.download import Report


def get_dataset(
    name: str,
    *,
    mirror: str | None = None,
    files: str | Path | None = None,
    force: bool = False,
    report: Report | None = None,
) -> Path:
    """Fetch the original files of a data set, convert them, and return the folder in the cache.

    What is fetched is checked against known checksums. The data set appears in the cache when it
    is complete, and not before.

    Parameters
    ----------
    name
        A data set that `embedprop data list` shows.
    mirror
        The address of a server that has the original files, instead of the published one.
    files
        A folder that has the original files; nothing is fetched then.
    force
        Whether to make the data set again if it is there.
    report
        Called as bytes arrive, with the file's name and how much of it has come.

    Raises
    ------
    InvalidParameterError
        The name is not known, or its original files cannot be fetched or converted.
    DownloadError
        A file cannot be fetched, or is not the published one.
    InvalidGraphError
        A file cannot be converted.
    """
    source = find_source(name)
    if not source.format:
        raise InvalidParameterError(
            f"{name} cannot be fetched: {source.obstacle}. If you have it as a folder with "
            f"edges.csv.gz and meta.json, name the folder above it in EMBEDPROP_DATA."
        )
    target = cache_folder() / "data" / name
    # A folder appears as a whole: with meta.json, all of it is there.
    if (target / META).is_file() and not force:
        return target
    if files is None and source.obstacle:
        raise InvalidParameterError(f"{name} cannot be fetched: {source.obstacle}.")
    originals = _originals(source, mirror, files, report)
    data = _converted(source, originals)
    # Files given with files= may have no known checksum: then the counts must do.
    found = (data.n_nodes, len(data.edges), len(data.class_names))
    if found != source.counts:
        sizes = "{:,} nodes, {:,} edges and {} classes".format(*source.counts)
        raise InvalidGraphError(
            f"{name}: expected {sizes}, but the original files have {found[0]:,}, {found[1]:,} and "
            f"{found[2]}. Other files of that name exist; get the published ones."
        )
    from embedprop.datasets.folder_writer import write_folder

    write_folder(data, source, target, cache_folder() / "unfinished")
    return target


def _originals(
    source: Source, mirror: str | None, files: str | Path | None, report: Report | None
) -> dict[str, Path]:
    """Return kind → path of every original file, each checked."""
    from embedprop.datasets.download import check_file, download

    originals = {}
    for file in source.files:
        if files is None:
            folder = cache_folder() / "originals" / source.format
            originals[file.kind] = download(file, folder, mirror=mirror, report=report)
        else:
            originals[file.kind] = Path(files) / file.name
            check_file(file, originals[file.kind])
    return originals


def _converted(source: Source, originals: dict[str, Path]) -> Converted:
    """Return the data set that the original files hold."""
    # Imported here, because `load_dataset` needs none of them.
    from embedprop.datasets.converters import convert_linqs, convert_mat
    from embedprop.datasets.planetoid import convert_planetoid

    if source.format == "planetoid":
        return convert_planetoid(originals, source.class_names)
    if source.format == "linqs":
        return convert_linqs(originals["content"], originals["cites"])
    return convert_mat(originals["mat"])


def overview() -> list[tuple[str, tuple[int, ...], str]]:
    """Return what `load_dataset` finds, and what is known but not there.

    Of each data set the name, its nodes, edges and classes, and its folder, or how to get it.
    """
    entries: dict[str, tuple[tuple[int, ...], str]] = {}
    for folder in found_folders():
        # What is found first is what is loaded.
        if folder.name not in entries:
            meta = read_json(folder / META)
            counts = [int(meta.get(f"n_{key}", 0)) for key in ("nodes", "edges", "classes")]
            entries[folder.name] = tuple(counts), str(folder)
    known = sources()
    for name, source in known.items():
        how = f"embedprop data get {name}"
        if not source.format or source.obstacle:
            how = f"cannot be fetched, '{how}' says why"
        entries.setdefault(name, (source.counts, f"not here: {how}"))
    # Those of the list in its order, then the user's own by name.
    names = *known, *sorted(entries.keys() - known.keys())
    return [(name, *entries[name]) for name in names]

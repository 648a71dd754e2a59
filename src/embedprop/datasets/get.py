"""A name → original files → a data set in the cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from embedprop.datasets.cache import cache_folder, cached_data
from embedprop.datasets.sources import Source, find_source
from embedprop.errors import InvalidGraphError, InvalidParameterError

if TYPE_CHECKING:
    from embedprop.datasets.converted import Converted
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
    target = cached_data() / name
    # A folder appears as a whole: with meta.json, all of it is there.
    if (target / "meta.json").is_file() and not force:
        return target
    if files is None and source.obstacle:
        raise InvalidParameterError(f"{name} cannot be fetched: {source.obstacle}.")
    originals = _originals(source, mirror, files, report)
    data = _convert(source, originals)
    # Files given with files= may have no known checksum: then the counts must do.
    _check_counts(source, data)
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


def _convert(source: Source, originals: dict[str, Path]) -> Converted:
    # Imported here, because `load_dataset` needs none of them.
    if source.format == "planetoid":
        from embedprop.datasets.planetoid import convert_planetoid

        return convert_planetoid(originals, source.class_names)
    if source.format == "linqs":
        from embedprop.datasets.linqs import convert_linqs

        return convert_linqs(originals["content"], originals["cites"])
    from embedprop.datasets.mat import convert_mat

    return convert_mat(originals["mat"])


def _check_counts(source: Source, data: Converted) -> None:
    expected = (source.n_nodes, source.n_edges, source.n_classes)
    found = (data.n_nodes, len(data.edges), len(data.class_names))
    if found != expected:
        raise InvalidGraphError(
            f"{source.name}: expected {expected[0]:,} nodes, {expected[1]:,} edges and "
            f"{expected[2]} classes, but the original files have {found[0]:,}, {found[1]:,} and "
            f"{found[2]}. Other files of that name exist; get the published ones."
        )

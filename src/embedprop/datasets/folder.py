"""A folder of data sets (edges.csv.gz, classes.csv.gz, words.npz, ...) → Graph and targets."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embedprop.datasets.sources import sources
from embedprop.errors import InvalidGraphError, InvalidParameterError, did_you_mean

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from embedprop.graph import Graph

CACHE_VARIABLE = "EMBEDPROP_CACHE"
DATA_VARIABLE = "EMBEDPROP_DATA"
META = "meta.json"
PARTS = ("train", "val", "test")


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph, and what is to be predicted for its nodes.

    Parameters
    ----------
    graph
        Its nodes are 0, 1, 2, ..., so that row i of every array belongs to node i.
    targets
        (n_nodes, n_classes) bool: the classes of each node, one, several or none. No column if the
        data set has no classes.
    class_names
        The name of each column of `targets`.
    splits
        Fixed splits that were published with the data: ``train``, ``val``, ``test`` → nodes.
    meta
        Where the data come from, their license, and their counts.
    """

    graph: Graph
    targets: csr_array[np.bool_]
    class_names: tuple[str, ...]
    meta: Mapping[str, Any]
    splits: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)

    def __repr__(self) -> str:
        name = self.meta.get("name", "unnamed")
        return f"Dataset({name}: {self.graph!r}, {len(self.class_names)} classes)"


def load_dataset(
    name: str,
    *,
    directed: bool = False,
    weighted: bool = True,
    label_weights: bool = True,
    self_loops: str = "drop",
    label_types: Sequence[str] | None = None,
    split: str = "train",
    data_dir: str | Path | None = None,
) -> Dataset:
    """Load a data set: from a folder that you name, or from the cache.

    ``embedprop data get NAME`` fetches the paper's graphs into the cache.

    Parameters
    ----------
    name
        The name of its folder, such as ``"cora"``.
    directed
        Whether edges keep their direction. Default: False, as the paper's graphs are undirected.
        Citation graphs made of Planetoid's files have lost it, and are refused.
    weighted
        Whether edge weights are used where there are any.
    label_weights
        Whether labels keep their weights, such as the TF-IDF values of Pubmed's words.
    self_loops
        ``"drop"`` or ``"keep"``, as in `Graph.from_edges`.
    label_types
        Which label types to load besides ``node``, which every graph has. Default: all.
    split
        Which edges of a multi-relational graph to take: ``"train"`` (so that nothing is learned
        from the edges that are to be predicted), ``"valid"``, ``"test"`` or ``"all"``.
    data_dir
        The folder of data sets. Default: what the variable ``EMBEDPROP_DATA`` names, if it is
        set, and then the cache (``EMBEDPROP_CACHE``, or the usual place of the platform).

    Raises
    ------
    InvalidParameterError
        The folder, the data set or a label type does not exist, or the edges have no direction.
    InvalidGraphError
        A file of the data set is missing or damaged.
    """
    # Imported here: the list of data sets and their download need no reader of tables.
    from embedprop.datasets import folder_files as files
    from embedprop.graph import Vocabulary
    from embedprop.graph.build import build_graph

    folder = _folder_of(name, data_dir)
    meta = read_json(folder / META)
    if directed and meta.get("directions_known") is False:
        other = f"{name}-linqs"
        hint = f" LINQS's files do: see 'embedprop data get {other}'."
        raise InvalidParameterError(
            f"directed: {folder} was made from Planetoid's files, which do not say which paper "
            f"cites which.{hint if other in sources() else ''} Load it with directed=False."
        )
    n_nodes = int(meta["n_nodes"])
    edges = files.read_edges(folder, n_nodes, weighted=weighted, split=split)
    labels = files.read_labels(folder, n_nodes, meta, weighted=label_weights)
    for label_type in label_types or ():
        if label_type not in labels:
            raise InvalidParameterError(
                f"label_types: data set {name!r} has no label type {label_type!r}."
                f"{did_you_mean(label_type, labels)} It has: {', '.join(labels) or 'none'}."
            )
    if label_types is not None:
        labels = {label_type: labels[label_type] for label_type in label_types}
    nodes = Vocabulary.trusted(range(n_nodes))
    graph = build_graph(nodes, edges, labels, directed=directed, self_loops=self_loops)
    targets, class_names = files.read_classes(folder, n_nodes, meta)
    return Dataset(graph, targets, class_names, meta, _splits(folder))


def found_folders(data_dir: str | Path | None = None) -> list[Path]:
    """Return the folders of all data sets that `load_dataset` finds, the first place first."""
    return [path.parent for place in data_folders(data_dir) for path in place.glob(f"*/{META}")]


def data_folders(data_dir: str | Path | None = None) -> list[Path]:
    """Return where `load_dataset` looks for data sets, the first place first.

    If the caller names a folder, only there; else in ``EMBEDPROP_DATA``, then in the cache.
    """
    if data_dir is not None:
        return [_existing(data_dir, "data_dir")]
    # Set but empty counts as not set.
    given = os.environ.get(DATA_VARIABLE)
    return [*([_existing(given, DATA_VARIABLE)] if given else []), cache_folder() / "data"]


def _existing(given: str | Path, source: str) -> Path:
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise InvalidParameterError(f"{source}: the folder {folder} does not exist.")
    return folder


def cache_folder() -> Path:
    """Return the cache: what EMBEDPROP_CACHE names, or the usual place of the platform.

    It holds ``data`` (finished data sets), ``originals`` (files as they were published) and
    ``unfinished`` (what is being written). It is not made by asking for it.
    """
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).expanduser().absolute()
    # The places that each platform asks programs to use.
    if sys.platform == "win32":
        return _usual("LOCALAPPDATA", "~/AppData/Local") / "embedprop" / "Cache"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/embedprop").expanduser()
    return _usual("XDG_CACHE_HOME", "~/.cache") / "embedprop"


def _usual(variable: str, otherwise: str) -> Path:
    """Return the folder that `variable` names; a relative one does not count, says XDG."""
    given = Path(os.environ.get(variable, ""))
    return given if given.is_absolute() else Path(otherwise).expanduser()


def _folder_of(name: str, data_dir: str | Path | None) -> Path:
    found = found_folders(data_dir)
    for folder in found:
        if folder.name == name:
            return folder
    remedy = f"See 'embedprop data list', or name a folder with data_dir= or in {DATA_VARIABLE}."
    if data_dir is not None:
        remedy = "Name another folder, or leave data_dir out to use the cache."
    elif name in sources():
        remedy = f"Get it with 'embedprop data get {name}', or name a folder in {DATA_VARIABLE}."
    names = sorted({folder.name for folder in found})
    raise InvalidParameterError(
        f"No data set {name!r} in {' or '.join(map(str, data_folders(data_dir)))}."
        f"{did_you_mean(name, names)} Available: {', '.join(names) or 'none'}. {remedy}"
    )


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidGraphError(f"{path} cannot be read ({error}). Get the data again.") from error
    if not isinstance(content, dict):
        raise InvalidGraphError(f"{path}: expected a JSON object. Get the data again.")
    return content


def _splits(folder: Path) -> dict[str, NDArray[np.int64]]:
    path = folder / "split_planetoid.json"
    if not path.exists():
        return {}
    content = read_json(path)
    missing = [part for part in PARTS if not isinstance(content.get(part), list)]
    if missing:
        raise InvalidGraphError(f"{path}: expected a list of nodes under {', '.join(missing)}.")
    return {part: np.asarray(content[part], dtype=np.int64) for part in PARTS}

"""A converted data set → a folder that `load_dataset` reads; whole or not there at all."""

import csv
import gzip
import hashlib
import io
import json
import secrets
import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, save_npz
from scipy.sparse.csgraph import connected_components

from embedprop import __version__
from embedprop.datasets.converters import Converted, undirected_rows
from embedprop.datasets.sources import Source
from embedprop.files.atomic import sync

# What is older than this, no process is still writing.
_DAY = 24 * 60 * 60.0
_SPLIT = "Planetoid public fixed split: 20 training nodes per class, 500 validation, 1000 test"


def write_folder(data: Converted, source: Source, target: Path, unfinished: Path) -> None:
    """Write `data` below `unfinished` and then move it to `target`, replacing what was there.

    Both must lie on one disk. Whatever stops it before the last step leaves `target` as it was.
    """
    _remove_forgotten(unfinished)
    # A name of its own: two processes may convert the same data set.
    own = unfinished / f"{source.name}-{secrets.token_hex(8)}"
    new, old = own / "new", own / "old"
    new.mkdir(parents=True)
    try:
        _write_files(data, source, new)
        target.parent.mkdir(parents=True, exist_ok=True)
        # A folder cannot be replaced in one step: the old one steps aside, and back if need be.
        if target.exists():
            target.rename(old)
        try:
            new.rename(target)
        except BaseException:
            if old.exists():
                old.rename(target)
            raise
        sync(target.parent)
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _write_files(data: Converted, source: Source, folder: Path) -> None:
    """Write all files; meta.json comes last, because it names the others."""
    edges: list[Iterable[object]] = data.edges.T.tolist()
    if data.weights is not None:
        edges.append(data.weights.tolist())
    columns = ("source", "target", "weight")[: len(edges)]
    _write_table(folder / "edges.csv.gz", columns, zip(*edges, strict=True))
    class_rows = ((node, data.class_names[column]) for node, column in data.class_rows.tolist())
    _write_table(folder / "classes.csv.gz", ("node", "class"), class_rows)
    if data.words is not None:
        save_npz(folder / "words.npz", csr_matrix(data.words))
    if data.split is not None:
        split = {part: nodes.tolist() for part, nodes in data.split.items()}
        text = json.dumps({"description": _SPLIT, **split})
        (folder / "split_planetoid.json").write_text(text, encoding="utf-8")
    if data.original_ids is not None:
        rows = enumerate(data.original_ids)
        _write_table(folder / "nodes.csv.gz", ("node", "original_id"), rows)
    files = {}
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        files[path.name] = {"bytes": len(content), "sha256": digest}
    text = json.dumps(_meta(data, source) | {"files": files}, indent=1, ensure_ascii=False)
    (folder / "meta.json").write_text(text + "\n", encoding="utf-8")
    for path in (*folder.iterdir(), folder):
        sync(path)


def _write_table(path: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    # No time and no name in the header: the same data are the same bytes.
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def _meta(data: Converted, source: Source) -> dict[str, Any]:
    """Return what is known of the data set, with its counts."""
    of_classes = class_statistics(data)
    meta: dict[str, Any] = {
        "name": source.name,
        "title": source.title,
        "n_nodes": data.n_nodes,
        "n_edges": len(data.edges),
        "directed": data.directed,
        "weighted": data.weights is not None,
        "multi_relational": False,
        "n_classes": len(data.class_names),
        "multi_label": of_classes["max_classes_per_node"] > 1,
        "label_types": _label_types(data),
        "nodes_without_words": data.nodes_without_words,
        "edge_statistics": edge_statistics(data),
        "class_statistics": of_classes,
        "sources": [
            {"repository": f"github.com/{file.repository}", "path": file.path}
            | {"commit": file.commit, "git_blob_sha1": file.git_blob}
            for file in source.files
            if file.git_blob is not None
        ],
        # The key is spelled as in the folders that exist.
        "licence": source.license,
        "notes": list(source.notes),
        "made_by": f"embedprop {__version__}",
    }
    if data.directed:
        meta["edge_meaning"] = "source cites target"
    if source.format == "planetoid":
        meta["directions_known"] = False
        indices = {name: index for index, name in enumerate(data.class_names)}
        meta["class_index_in_planetoid_files"] = indices
    return meta


def _label_types(data: Converted) -> Mapping[str, Any]:
    if data.words is None:
        return {"identity": "no attributes: each node is its own label"}
    weighted = bool((data.words.data != 1).any())
    return {
        "words": {
            "kind": "set of words with a weight each" if weighted else "set of words (binary)",
            "file": "words.npz",
            "n_values": data.words.shape[1],
            "nonzeros": int(data.words.nnz),
            "mean_per_node": round(data.words.nnz / data.n_nodes, 2),
        }
    }


def _remove_forgotten(unfinished: Path) -> None:
    """Remove what a killed process left, once it is too old to be in work."""
    for path in unfinished.glob("*"):
        with suppress(OSError):  # another process may do the same
            if path.stat().st_mtime < time.time() - _DAY:
                shutil.rmtree(path, ignore_errors=True)


def edge_statistics(data: Converted) -> dict[str, int]:
    """Return the counts of edges that meta.json states."""
    sources, targets = data.edges.T
    loops = sources == targets
    # A citation and its opposite are one pair, and one more reciprocal pair.
    pairs = undirected_rows(sources[~loops], targets[~loops])
    touched = np.bincount(data.edges.ravel(), minlength=data.n_nodes) > 0
    accompanied = np.bincount(pairs.ravel(), minlength=data.n_nodes) > 0
    ones = np.ones(len(pairs), dtype=np.int8)
    adjacency = csr_array((ones, tuple(pairs.T)), shape=(data.n_nodes, data.n_nodes))
    n_components, component = connected_components(adjacency, directed=False)
    counts = {
        "rows": len(data.edges),
        "distinct_rows": len(np.unique(data.edges, axis=0)),
        "self_loops": int(loops.sum()),
        "distinct_undirected_pairs_without_self_loops": len(pairs),
        "nodes_without_any_edge": int((~touched).sum()),
        "nodes_without_neighbour_other_than_themselves": int((~accompanied).sum()),
        "connected_components": int(n_components),
        "largest_component": int(np.bincount(component).max()),
    }
    if data.directed:
        counts["reciprocal_pairs"] = int((~loops).sum()) - len(pairs)
    return counts


def class_statistics(data: Converted) -> dict[str, int]:
    """Return the counts of classes that meta.json states."""
    per_node = np.bincount(data.class_rows[:, 0], minlength=data.n_nodes)
    per_class = np.bincount(data.class_rows[:, 1], minlength=len(data.class_names))
    return {
        "rows": len(data.class_rows),
        "labelled_nodes": int((per_node > 0).sum()),
        "unlabelled_nodes": int((per_node == 0).sum()),
        "max_classes_per_node": int(per_node.max()),
        "smallest_class": int(per_class.min()),
        "largest_class": int(per_class.max()),
        "classes_with_fewer_than_10_nodes": int((per_class < 10).sum()),
    }

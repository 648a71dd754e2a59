"""Vectors of each method and records of figures, computed once; vectors lie beside the results."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.node2vec import PUBLISHED_PQ
from embedprop.baselines.registry import BASELINES
from embedprop.evaluation.provenance import provenance
from embedprop.evaluation.records import append_record, read_records
from embedprop.files.atomic import replaced
from embedprop.graph import Graph
from embedprop.paper.rows import ROWS, base_method, estimator
from embedprop.paper.units import Unit

Vectors = NDArray[np.float32]


def embed(
    method: str, dataset: str, full: Graph, known: Graph | None, margin: float, seed: int
) -> Vectors:
    """Return vectors for all nodes of `full`, learned from `known` alone if it is given."""
    row, base = ROWS[method], base_method(method)
    if row.estimator is not None:
        model = estimator(method, margin, random_state=seed).fit(known or full)
        return model.transform(full, row.new_nodes_from) if known else model.node_embeddings_
    extra = dict(row.settings)
    if base == "node2vec":
        extra["p"], extra["q"] = PUBLISHED_PQ.get(dataset, (1.0, 1.0))
    if base == "bow" and any(sets.weights is not None for sets in full.labels.values()):
        extra["words"] = "weighted"
    embedder: Any = BASELINES[base](random_state=seed, n_threads=1, **extra)
    found = embedder.fit_transform_inductive(known, full) if known else embedder.fit_transform(full)
    return np.asarray(found, np.float32)


class Cache(NamedTuple):
    """Arrays on disk under a name made of what they depend on; written atomically."""

    folder: Path

    def get_or_compute(
        self, compute: Callable[[], NDArray[Any]], **depends_on: Any
    ) -> tuple[NDArray[Any], float]:
        """Return the array and the CPU seconds that it took."""
        text = json.dumps(depends_on, sort_keys=True)
        path = self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.npz"
        self.folder.mkdir(parents=True, exist_ok=True)
        with _locked(path.with_suffix(".lock")):
            if not path.exists():
                start = time.process_time()
                vectors = compute()
                seconds = time.process_time() - start
                with replaced(path) as [file]:
                    np.savez(file, vectors=vectors, seconds=seconds)
        with np.load(path) as stored:
            return stored["vectors"], float(stored["seconds"])


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one of two processes that want the same array compute it while the other waits."""
    with path.open("w") as stream:
        if os.name == "posix":  # elsewhere both compute, and the result is the same
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


class Place(NamedTuple):
    """Where records, vectors and pictures of a figure go, and what prints a line of text.

    Records are a JSONL file; vectors are kept in a folder ``vectors`` beside it. The folder of the
    pictures is made if need be.
    """

    results: Path
    figures: Path
    say: Callable[[str], None] = lambda _: None

    @property
    def cache(self) -> Cache:
        """Vectors that were learned before."""
        return Cache(self.results.parent / "vectors")

    def measured(self, unit: Unit, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the record of a unit; one without a record is measured and recorded."""
        found = [record for record in read_records(self.results) if Unit.of(record) == unit]
        if found:
            return found[-1]
        record = unit.to_dict() | measure() | provenance()
        append_record(self.results, record)
        shown = ("silhouette", "final_loss", "full_loss", "cpu_seconds_per_epoch")
        numbers = ", ".join(f"{name} {record[name]:.4f}" for name in shown if name in record)
        self.say(f"{unit}: {numbers}")
        return record

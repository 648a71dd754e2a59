"""Vectors of each method on a data set, computed once and kept beside the results."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.node2vec import PUBLISHED_PQ
from embedprop.baselines.registry import BASELINES
from embedprop.files.atomic import replaced
from embedprop.graph import Graph
from embedprop.paper.ours import NEW_NODES_FROM, OURS, estimator
from embedprop.paper.units import DENSE_LINE, SHORT_LINE, base_method

Vectors = NDArray[np.float32]

# Where a reading differs from its baseline's defaults.
BASELINE_SETTINGS: dict[str, dict[str, Any]] = {
    DENSE_LINE: {"densify_to": 100},
    SHORT_LINE: {"n_samples": 3_000_000},
}


def embed(
    method: str, dataset: str, full: Graph, known: Graph | None, margin: float, seed: int
) -> Vectors:
    """Return vectors for all nodes of `full`, learned from `known` alone if it is given."""
    if method in OURS:
        model = estimator(method, margin, random_state=seed).fit(known or full)
        if known is None:
            return model.node_embeddings_
        return model.transform(full, NEW_NODES_FROM.get(method, "reconstruction"))
    extra, base = dict(BASELINE_SETTINGS.get(method, {})), base_method(method)
    if base == "node2vec":
        extra["p"], extra["q"] = PUBLISHED_PQ.get(dataset, (1.0, 1.0))
    if base == "bow" and any(sets.weights is not None for sets in full.labels.values()):
        extra["words"] = "weighted"
    embedder: Any = BASELINES[base](random_state=seed, n_threads=1, **extra)
    if known is None:
        return np.asarray(embedder.fit_transform(full), np.float32)
    return np.asarray(embedder.fit_transform_inductive(known, full), np.float32)


class Cache:
    """Arrays on disk under a name made of what they depend on; written atomically."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get_or_compute(
        self, compute: Callable[[], NDArray[Any]], **depends_on: Any
    ) -> tuple[NDArray[Any], float]:
        """Return the array and the CPU seconds that it took."""
        text = json.dumps(depends_on, sort_keys=True)
        path = self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.npz"
        self._folder.mkdir(parents=True, exist_ok=True)
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

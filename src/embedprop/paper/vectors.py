"""Vectors of each method on a data set, computed once and kept beside the results."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.baselines.node2vec import PUBLISHED_PQ
from embedprop.baselines.registry import BASELINES
from embedprop.estimators import EmbeddingPropagation
from embedprop.graph import Graph
from embedprop.paper.units import BOTH, DEGREE, DENSE_LINE, SHORT_LINE, base_method

Vectors = NDArray[np.float32]

# The paper's EP-B draws one u uniformly; a variant draws five by degree. The paper says that d is
# the Euclidean distance; its numbers on graphs without attributes agree with the square of it.
OURS: dict[str, dict[str, Any]] = {
    "epb": {},
    "epb-squared": {"distance": "squared_euclidean"},
    BOTH: {},
    DEGREE: {"negatives": "degree", "n_negatives": 5},
    # The closed form has no margin: it gets 0.
    "eps": {"instance": "eps"},
}
# Where it is not EP-B's default.
NEW_NODES_FROM = {BOTH: "both"}
# Where a reading differs from its baseline's defaults.
BASELINE_SETTINGS: dict[str, dict[str, Any]] = {
    DENSE_LINE: {"densify_to": 100},
    SHORT_LINE: {"n_samples": 3_000_000},
}
MARGINS = (1.0, 5.0, 10.0, 20.0)


def embed(
    method: str, dataset: str, full: Graph, known: Graph | None, margin: float, seed: int
) -> Vectors:
    """Return vectors for all nodes of `full`, learned from `known` alone if it is given."""
    trained_on = known or full
    if method in OURS:
        own = OURS[method] | ({"margin": margin} if margin else {})
        model = EmbeddingPropagation(random_state=seed, n_threads=1, verbose=False, **own).fit(
            trained_on
        )
        if known is None:
            return model.node_embeddings_
        return model.transform(full, NEW_NODES_FROM.get(method))
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
        with FileLock(path.with_suffix(".lock")):
            if not path.exists():
                self._compute(path, compute)
        with np.load(path) as stored:
            return stored["vectors"], float(stored["seconds"])

    def _compute(self, path: Path, compute: Callable[[], NDArray[Any]]) -> None:
        start = time.process_time()
        vectors = compute()
        seconds = time.process_time() - start
        handle, draft = tempfile.mkstemp(dir=self._folder, suffix=".draft")
        with os.fdopen(handle, "wb") as stream:
            np.savez(stream, vectors=vectors, seconds=seconds)
        Path(draft).replace(path)


class FileLock:
    """Two processes that want the same array: one computes it, the other waits."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        self._stream = self._path.open("w")
        if os.name == "posix":  # elsewhere both compute, and the result is the same
            import fcntl

            fcntl.flock(self._stream, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._stream.close()

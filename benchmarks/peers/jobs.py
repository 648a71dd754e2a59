"""One job: a worker learns vectors in a process of its own, on one thread."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop import Graph

from .environments import python_of
from .methods import Method

WORKERS = Path(__file__).parent / "workers"
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)

Vectors = NDArray[np.float32]


def learned(
    folder: Path | None, name: str, learn: Callable[[], tuple[Vectors, dict[str, Any]]]
) -> tuple[Vectors, dict[str, Any]]:
    """Return what `folder` keeps under `name`, or else learn it and keep it there, if anywhere."""
    if folder is None:
        return learn()
    path, costs_path = folder / f"{name}.npy", folder / f"{name}.json"
    if not costs_path.is_file():
        vectors, costs = learn()
        folder.mkdir(parents=True, exist_ok=True)
        np.save(path, vectors)
        costs_path.write_text(json.dumps(costs))  # last: half a result has none
    return np.load(path), json.loads(costs_path.read_text())


def run_job(
    method: Method, graph: Graph, seed: int, prefix: Sequence[str], limit: int
) -> tuple[Vectors, dict[str, Any]]:
    """Return the vectors and what they cost; `prefix` goes before the worker's command.

    `limit`: CPU seconds after which the worker is ended, which is an error.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "graph.npz", n_nodes=graph.n_nodes, pairs=pairs_of(graph))
        (folder / "settings.json").write_text(json.dumps(method.settings_with(seed)))
        worker = str(WORKERS / f"{method.worker}.py")
        command = [*prefix, str(python_of(method.environment)), worker, name]
        subprocess.run(
            command,
            check=True,
            env=environment_variables(),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        )
        costs = json.loads((folder / "costs.json").read_text())
        return np.load(folder / "vectors.npy"), costs


def environment_variables() -> dict[str, str]:
    """Return this process's variables, with one thread, one seed of hashes and no paths of ours."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | dict.fromkeys(THREADS, "1") | {"PYTHONHASHSEED": "0"}


def pairs_of(graph: Graph) -> NDArray[np.int64]:
    """Return each undirected edge once, as (n_edges, 2)."""
    owners = np.repeat(np.arange(graph.n_nodes), graph.neighbors.sizes)
    both = np.stack([owners, graph.neighbors.ids.astype(np.int64)], axis=1)
    return np.ascontiguousarray(both[both[:, 0] < both[:, 1]])

"""What every worker does: read an edge list, learn on the clock, write vectors and costs.

Called as `python WORKER.py FOLDER` by the Python of the peer's own environment, hence NumPy and
SciPy alone. FOLDER has `graph.npz` and `settings.json`; `vectors.npy` and `costs.json` are added.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Settings = Mapping[str, Any]
N_WARM_UP_NODES = 300  # more than twice the dimensions: spectral methods refuse fewer
MB = 2**20


@dataclass(frozen=True, eq=False)
class EdgeList:
    """An undirected graph: each pair of nodes once, no self-loops."""

    n_nodes: int
    pairs: NDArray[np.int64]  # (n_edges, 2)

    def adjacency(self) -> Any:
        """Return the symmetric matrix of ones; the peers take `csr_matrix` but not `csr_array`."""
        from scipy.sparse import csr_matrix

        both = np.concatenate([self.pairs, self.pairs[:, ::-1]])
        shape = (self.n_nodes, self.n_nodes)
        matrix = csr_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=shape)
        matrix.sort_indices()
        return matrix


def run(
    load: Callable[[EdgeList], Any],
    embed: Callable[[Any, Settings], NDArray[Any]],
    packages: tuple[str, ...],
    warm_up: Settings,
) -> None:
    """Do one job: `load` makes the peer's own graph, off the clock; `embed` is what is measured.

    `warm_up` replaces settings for a first call on a small graph, which loads and compiles what
    is loaded and compiled when first used. What Numba compiles later is not counted either.
    """
    folder = Path(sys.argv[1])
    settings = json.loads((folder / "settings.json").read_text())
    stored = np.load(folder / "graph.npz")
    edges = EdgeList(int(stored["n_nodes"]), stored["pairs"])
    clock = CompileClock()
    embed(load(small_graph()), settings | dict(warm_up))
    graph = load(edges)
    compiled, start = clock.seconds, time.process_time()
    vectors = embed(graph, settings)
    cpu_seconds = time.process_time() - start - (clock.seconds - compiled)
    np.save(folder / "vectors.npy", np.asarray(vectors, np.float32))
    costs = {
        "cpu_seconds": cpu_seconds,
        "compile_cpu_seconds": clock.seconds,
        "process_cpu_seconds": process_seconds(),
        "peak_rss_mb": peak_rss() / MB,
        "version": ", ".join(f"{package} {version(package)}" for package in packages),
    }
    (folder / "costs.json").write_text(json.dumps(costs))


def small_graph() -> EdgeList:
    """Return a ring with chords, connected."""
    nodes = np.arange(N_WARM_UP_NODES)
    steps = [np.stack([nodes, (nodes + step) % N_WARM_UP_NODES], axis=1) for step in (1, 7, 40)]
    return EdgeList(N_WARM_UP_NODES, np.concatenate(steps).astype(np.int64))


def process_seconds() -> float:
    """Return user and system seconds of this process and of the children it waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_rss() -> int:
    """Return the most bytes that were in memory at once.

    From Linux, if it is there: `ru_maxrss` also knows the size of the process that started us.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


class CompileClock:
    """CPU seconds that Numba has spent compiling; 0 where there is no Numba."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._start = 0.0
        try:
            from numba.core import event
        except ImportError:
            return

        clock = self

        class Listener(event.Listener):
            def on_start(self, event: Any) -> None:  # noqa: ARG002
                # What one kernel compiles for itself is nested in its own event.
                if clock._depth == 0:
                    clock._start = time.process_time()
                clock._depth += 1

            def on_end(self, event: Any) -> None:  # noqa: ARG002
                clock._depth -= 1
                if clock._depth == 0:
                    clock.seconds += time.process_time() - clock._start

        event.register("numba:compile", Listener())

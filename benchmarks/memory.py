"""The most memory that learning takes, against the tables that it cannot do without.

    export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
    python benchmarks/memory.py            # 1 million nodes, 10 million edges
    python benchmarks/memory.py --trace    # and which lines take it

A power-law graph, ids, 128 dimensions, full neighborhoods. A process of its own reads the edges
from a file, makes the graph, and learns. Its peak is all the memory that it has had at once, as the
system counts it (VmHWM: Python, libraries, machine code, edges, graph and learning), and may be

    allowed = 1.3 (vectors + both moments + CSR) + the output + 0.5 GB

where vectors, moments and output take 4 dim n_nodes bytes each, and the CSR of the neighbors
8 (n_nodes + 1) + 4 (2 n_edges). Exit code 1 if it is more. Tables on disk are another benchmark:
`larger_than_memory.py`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

DIM = 128
GB = 1e9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--trace", action="store_true", help="also print where memory grew")
    parser.add_argument("--out", type=Path, help="a file of JSON lines to append to")
    parser.add_argument("--learn-from", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.learn_from:
        print(json.dumps(learn(options)))
        return 0
    import numpy as np
    from power_law import power_law_edges

    from embedprop.evaluation.provenance import publish

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "edges.npy"
        np.save(file, power_law_edges(options.nodes, options.edges))
        command = [sys.executable, *sys.argv, "--learn-from", str(file)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    record = compared(options, json.loads(done.stdout))
    publish(record, options.out)
    return 0 if record["within"] else 1


def compared(options: argparse.Namespace, measured: dict[str, float]) -> dict[str, Any]:
    """Return a record of what was measured and what is allowed."""
    table = 4 * DIM * options.nodes
    csr = 8 * (options.nodes + 1) + 4 * 2 * options.edges
    allowed = 1.3 * (3 * table + csr) + table + 0.5 * GB
    sizes = {"table_gb": table, "csr_gb": csr, **measured, "allowed_gb": allowed}
    return {
        "benchmark": "memory",
        "graph": "power-law",
        "n_nodes": options.nodes,
        "n_edges": options.edges,
        "epochs": options.epochs,
        **{name: round(size / GB, 3) for name, size in sizes.items()},
        "within": measured["peak_gb"] <= allowed,
    }


def learn(options: argparse.Namespace) -> dict[str, float]:
    """Make the graph and learn; return the peaks in bytes: of imports, graph, learning, and all."""
    import numpy as np

    from embedprop import Graph
    from embedprop.evaluation.provenance import forget_peak, peak_memory
    from embedprop.methods.epb.engines import fused as fused_engine  # noqa: F401  what fit imports belongs to imports
    from estimators import epb

    imported = peak_memory()
    with traced() if options.trace else nullcontext():
        graph = Graph.from_edges(np.load(options.learn_from), nodes=range(options.nodes))
        building = peak_memory()
        forget_peak()
        epb(dim=DIM, epochs=options.epochs, storage="memory").fit(graph)
        learning = peak_memory()
    if imported is None or building is None or learning is None:
        raise SystemExit("This system does not report the peak memory of a process.")
    return {
        "imports_gb": imported,
        "graph_peak_gb": building,
        "fit_peak_gb": learning,
        "peak_gb": max(building, learning),
    }


@contextmanager
def traced() -> Iterator[None]:
    """Look at the memory fifty times a second; print at which lines it rose and fell."""
    done, main_thread = threading.Event(), threading.get_ident()
    seen, lines = [anonymous_memory()], [""]

    def watch() -> None:
        while not done.wait(0.02):
            lines.append(line_of(sys._current_frames()[main_thread]))
            seen.append(anonymous_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        print_growth(seen, lines)


def print_growth(seen: Sequence[int], lines: Sequence[str]) -> None:
    """Print the lines at which memory rose and fell most, and where it was highest."""
    growth: Counter[str] = Counter()
    for line, before, now in zip(lines[1:], seen, seen[1:], strict=False):
        growth[line] += now - before
    for line, size in sorted(growth.items(), key=lambda pair: -abs(pair[1]))[:25]:
        print(f"{size / GB:+.3f} GB  {line}", file=sys.stderr)
    print(f"{max(seen) / GB:.3f} GB at most, at {lines[seen.index(max(seen))]}", file=sys.stderr)


def anonymous_memory() -> int:
    """Return the memory of this process that is not a page of a file, in bytes; Linux only."""
    status = Path("/proc/self/status")
    found = re.search(r"^RssAnon:\s+(\d+) kB", status.read_text(), re.MULTILINE)
    return 1024 * int(found[1]) if found else 0


def line_of(frame: FrameType | None) -> str:
    """Return the lines of embedprop that are being executed, the innermost first."""
    lines = []
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if "embedprop" in path.parts:
            lines.append(f"{path.name}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(lines[:3]) or "benchmark"


if __name__ == "__main__":
    sys.exit(main())

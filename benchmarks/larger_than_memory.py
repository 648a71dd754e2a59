"""A graph whose tables do not fit: time and anonymous memory of an epoch with storage="disk".

    python benchmarks/larger_than_memory.py [--nodes 10110000] [--edges 50000000] [--dim 128] \
        [--max-neighbors 10] [--epochs 1] [--storage disk] [--read] [--save FOLDER] [--out FILE]

A power-law graph is made and written by another process, as .npy or with --read as a text file,
which this one reads. Memory is looked at 50 times a second: anonymous memory (RssAnon of
/proc/self/status) is what only this process can hold; pages of mapped files the system takes back
when it needs them, and they do not count. The record has the peaks of each step.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import embedprop.estimators
from embedprop import Graph
from embedprop.evaluation.provenance import publish
from estimators import epb

GB = 1e9


def main() -> None:
    options = parsed()
    publish(measured(options), options.out)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=10_110_000, help="1 %% get no edge")
    parser.add_argument("--edges", type=int, default=50_000_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--max-neighbors", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--storage", default="disk")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--read", action="store_true", help="from a text file")
    parser.add_argument("--save", type=Path, help="save the model too")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return seconds and peaks of making the graph, fitting, asking and saving."""
    watch = Watch()
    seconds: dict[str, float] = {}
    with watch:
        with timed(seconds, watch, "graph"):
            graph = make_graph(options)
        record: dict[str, Any] = {
            "benchmark": "larger_than_memory",
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "dim": options.dim,
            "max_neighbors": options.max_neighbors,
            "epochs": options.epochs,
            "storage": options.storage,
            "threads": options.threads,
            "from": "text" if options.read else "array",
            "tables GB": round(3 * 4 * graph.n_nodes * options.dim / GB, 2),
        }
        clock = Clock()
        embedprop.estimators.progress_bar = clock.progress_bar
        model = epb(
            dim=options.dim, max_neighbors=options.max_neighbors, epochs=options.epochs,
            storage=options.storage, n_threads=options.threads, verbose=True,
        )  # fmt: skip
        with timed(seconds, watch, "fit"):
            model.fit(graph)
        record["epoch seconds"] = clock.seconds_per_epoch()
        record["loss"] = model.loss_history_["node"]
        with timed(seconds, watch, "similar"):
            model.similar(graph.nodes[0])
        if options.save:
            with timed(seconds, watch, "save"):
                model.save(options.save)
    record["seconds"], record["anonymous GB of each step"] = seconds, watch.steps
    record["peak anonymous GB"] = round(watch.anonymous / GB, 2)
    record["peak resident GB"] = round(watch.resident / GB, 2)
    return record


def make_graph(options: argparse.Namespace) -> Graph:
    """Return the graph, read from a file that another process has made."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("edges.tsv" if options.read else "edges.npy")
        script = Path(__file__).with_name("power_law.py")
        size = ["--nodes", str(options.nodes), "--edges", str(options.edges)]
        subprocess.run([sys.executable, script, *size, "--out", path], check=True)
        if options.read:
            return Graph.read(path)
        return Graph.from_edges(np.load(path, mmap_mode="r"))


@contextlib.contextmanager
def timed(seconds: dict[str, float], watch: Watch, step: str):
    start = time.perf_counter()
    watch.begin(step)
    yield
    seconds[step] = round(time.perf_counter() - start, 1)


class Clock:
    """Hears of progress in place of the progress bar, and notes when epochs begin and end."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, float]] = []

    @contextlib.contextmanager
    def progress_bar(self, *_: object):
        yield lambda epoch, share, _: self.heard.append((epoch + share, time.perf_counter()))

    def seconds_per_epoch(self) -> float:
        (done, first), (end, last) = self.heard[0], self.heard[-1]
        return round((last - first) / (end - done), 1)


class Watch:
    """The most memory that this process has had since a step began."""

    def __init__(self) -> None:
        self.anonymous = self.resident = self._of_step = 0
        self.steps: dict[str, float] = {}
        self._step, self._ended = "", threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def begin(self, step: str) -> None:
        self._step, self._of_step = step, 0

    def _look(self) -> None:
        status = Path("/proc/self/status")
        while not self._ended.wait(0.02):
            text = status.read_text()
            anonymous, resident = (
                1024 * int(re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)[1])
                for name in ("RssAnon", "VmRSS")
            )
            self.anonymous = max(self.anonymous, anonymous)
            self.resident = max(self.resident, resident)
            if self._step and anonymous > self._of_step:
                self._of_step = anonymous
                self.steps[self._step] = round(anonymous / GB, 2)


if __name__ == "__main__":
    main()

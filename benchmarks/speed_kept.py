"""Whether this code is as fast as that of e33ba8e: both by turns, each turn in new processes.

    export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 EMBEDPROP_DATA=...
    python benchmarks/speed_kept.py [--old DIR/src] [--new DIR/src] [--turns 9] [--out FILE]

CPU seconds of: epochs of EP-B on BlogCatalog's ids and on Pubmed's words (128 dimensions, one
thread; kernels are compiled before), the closed form on both, and `transform_node` for new nodes
with 10 neighbors in Cora. The ratio is the median over the turns of new / old, so that an hour in
which the machine is slow counts for both; it must not be above 1.03. On a machine that does other
work the ratios of the turns, which are recorded, lie too far apart to tell.

Then, of today's code: wall seconds of `import embedprop` alone, at most 0.03, and CPU seconds of a
whole process that loads a model of Cora and asks for one `similar`, at most 0.8. Exit code 1:
something is above its limit.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from same_bytes import OLD_COMMIT, extracted

HERE = Path(__file__).resolve()
MOST = 1.03
LIMITS = {"import_seconds": 0.03, "load_and_similar_cpu_seconds": 0.8}
N_CALLS = 20_000
# A job is repeated this often in a process, and the least counts: what else the machine does can
# only add.
REPEATS = 5
# Nothing but the interpreter is there before these.
STARTUPS = {
    "import_seconds": """
import time
start = time.perf_counter()
import embedprop
print(time.perf_counter() - start)
""",
    "load_and_similar_cpu_seconds": """
import sys, time
import embedprop
load = getattr(embedprop, "load", None) or embedprop.EmbeddingPropagation.load
load(sys.argv[1] + "/model").similar(0)
print(time.process_time())
""",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", type=Path, help=f"the src folder of {OLD_COMMIT}")
    parser.add_argument("--new", type=Path, default=HERE.parents[1] / "src")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--jobs", nargs="*", choices=JOBS, default=list(JOBS))
    parser.add_argument("--out", type=Path, help="a file of JSON lines to append to")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        name, folder = options.worker
        print(json.dumps(WORKERS[name](Path(folder))))
        return
    from embedprop.evaluation.provenance import publish

    with tempfile.TemporaryDirectory() as name:
        old = (options.old or extracted(Path(name))).resolve()
        record = measured(old, options.new.resolve(), Path(name), options)
    publish(record, options.out)
    sys.exit(1 if record["above_limit"] else 0)


def measured(old: Path, new: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Return all figures of both versions."""
    versions = {"old": old, "new": new}
    for version, src in versions.items():
        run(src, "save", folder / version)
    record: dict[str, Any] = {"benchmark": "speed_kept", "old": OLD_COMMIT, "turns": options.turns}
    ratios, startup = {}, {}
    for name in options.jobs:
        seconds = by_turns(versions, name, folder, options.turns)
        pairs = zip(seconds["new"], seconds["old"], strict=True)
        of_turns = sorted(round(new / old, 3) for new, old in pairs)
        ratios[name] = statistics.median(of_turns)
        record[name] = {**medians(seconds), "ratios_of_turns": of_turns}
        print(f"{name}: ratio {ratios[name]}, CPU seconds {record[name]}", flush=True)
    for name in LIMITS:
        startup[name] = medians(by_turns(versions, name, folder, options.turns))
        print(f"{name}: {startup[name]}, at most {LIMITS[name]}", flush=True)
    above = [name for name, ratio in ratios.items() if ratio > MOST]
    above += [name for name, found in startup.items() if found["new"] > LIMITS[name]]
    return {**record, "ratios": ratios, **startup, "above_limit": above}


def by_turns(versions: dict[str, Path], name: str, folder: Path, n: int) -> dict[str, list[float]]:
    """Return the seconds of each version; who comes first changes from turn to turn."""
    seconds: dict[str, list[float]] = {version: [] for version in versions}
    for turn in range(n):
        for version in sorted(versions, reverse=bool(turn % 2)):
            seconds[version].append(run(versions[version], name, folder / version))
    return seconds


def run(src: Path, name: str, folder: Path) -> float:
    """Return what a process of its own measures of one version."""
    words = [str(HERE), "--worker", name] if name in WORKERS else ["-c", STARTUPS[name]]
    environment = os.environ | {"PYTHONPATH": str(src)}
    command = [sys.executable, *words, str(folder)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def medians(seconds: dict[str, list[float]]) -> dict[str, float]:
    return {version: round(statistics.median(several), 4) for version, several in seconds.items()}


def epochs(data: str, label_types: list[str], n: int) -> Callable[[Path], float]:
    """Return a job: the CPU seconds of n epochs of EP-B."""

    def job(folder: Path) -> float:
        del folder
        from embedprop import EmbeddingPropagation, load_dataset

        graph = load_dataset(data).graph
        given = {"label_types": label_types, "n_threads": 1, "verbose": False}
        EmbeddingPropagation(epochs=0, **given).fit(graph)  # compiles
        return cpu_seconds(EmbeddingPropagation(epochs=n, **given).fit, graph)

    return job


def closed_form(data: str, label_types: list[str]) -> Callable[[Path], float]:
    """Return a job: the CPU seconds of the closed form."""

    def job(folder: Path) -> float:
        del folder
        import embedprop

        graph = embedprop.load_dataset(data, label_types=label_types).graph
        given = {"verbose": False}
        if hasattr(embedprop, "ClosedForm"):
            make = embedprop.ClosedForm
        else:
            make, given = embedprop.EmbeddingPropagation, {**given, "instance": "eps"}
        make(**{**given, "dim": 2}).fit(graph)  # loads the libraries
        return cpu_seconds(make(**given).fit, graph)

    return job


def transform_node(folder: Path) -> float:
    """Return the CPU seconds of many calls for new nodes with 10 neighbors."""
    import numpy as np

    import embedprop

    load = getattr(embedprop, "load", None) or embedprop.EmbeddingPropagation.load
    model = load(folder / "model")
    rng = np.random.default_rng(0)
    neighborhoods = [rng.choice(2708, 10, replace=False).tolist() for _ in range(N_CALLS)]
    model.transform_node(neighborhoods[0])
    return cpu_seconds(lambda: [model.transform_node(neighbors) for neighbors in neighborhoods])


def cpu_seconds(call: Callable[..., object], *arguments: Any) -> float:
    """Return the CPU seconds of a call, the least of several."""
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        call(*arguments)
        seconds.append(time.process_time() - start)
    return min(seconds)


def save(folder: Path) -> float:
    """Save a model of Cora with ids and words."""
    from embedprop import EmbeddingPropagation, load_dataset

    graph = load_dataset("cora", label_types=["word"]).graph
    EmbeddingPropagation(epochs=1, verbose=False).fit(graph).save(folder / "model")
    return 0.0


JOBS: dict[str, Callable[[Path], float]] = {
    "epochs_of_ids": epochs("blogcatalog", ["node"], 20),
    "epochs_of_words": epochs("pubmed", ["word"], 8),
    "closed_form_of_ids": closed_form("blogcatalog", []),
    "closed_form_of_words": closed_form("pubmed", ["word"]),
    "transform_node": transform_node,
}
WORKERS = {**JOBS, "save": save}

if __name__ == "__main__":
    main()

"""The command: which measurements are missing, and making them."""

from __future__ import annotations

import argparse
import hashlib
import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path
from typing import Any

from embedprop.datasets import load_dataset
from embedprop.evaluation.provenance import busy_machine, commit, date
from embedprop.evaluation.records import append_record, read_records

from .jobs import Vectors, learned, run_job
from .methods import METHODS
from .quality import quality
from .records import KIND, Record, missing

ROOT = Path(__file__).resolve().parents[2]
GRAPHS = ("blogcatalog", "ppi", "pos")


def main() -> int:
    options = parsed()
    wanted = list(measurements(options.graphs, options.methods, options.seeds, options.shares))
    todo = missing(read_records(options.out), wanted, options.again)
    print(f"{len(todo)} of {len(wanted)} measurements to do", flush=True)
    failed = []
    for (graph, method, seed), group in groupby(todo, key=itemgetter("graph", "method", "seed")):
        try:
            for record in measured(list(group), options):
                append_record(options.out, record)
                print(line(record), flush=True)
        except subprocess.CalledProcessError as error:
            failed.append(f"{method} on {graph}, seed {seed}")
            print(f"{failed[-1]}: the worker ended with {error.returncode}", flush=True)
    return 1 if failed else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Whole jobs of EP and its peers.")
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--shares", nargs="+", type=float, default=[0.1])
    parser.add_argument("--splits", type=int, default=10, help="0: learn only, into --vectors")
    parser.add_argument("--vectors", type=Path, help="folder that keeps what was learned")
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "benchmarks.jsonl")
    parser.add_argument("--again", action="store_true", help="also what the file has")
    parser.add_argument(
        "--limit", type=int, default=480, help="CPU seconds of a job, after which it is ended"
    )
    parser.add_argument(
        "--prefix", type=shlex.split, default=[], help="put before each job, as 'taskset -c 0'"
    )
    return parser.parse_args()


def measurements(
    graphs: Sequence[str], methods: Sequence[str], seeds: Sequence[int], shares: Sequence[float]
) -> Iterator[Record]:
    """Yield the start of each record; a method without chance has one seed."""
    for graph, name, seed, share in product(graphs, methods, seeds, shares):
        method = METHODS[name]
        if method.seeds_matter or seed == seeds[0]:
            yield {
                "benchmark": KIND,
                "graph": graph,
                "method": name,
                "settings": dict(method.settings),
                "seed": seed,
                "train_share": share,
            }


def measured(starts: Sequence[Record], options: argparse.Namespace) -> Iterator[Record]:
    """Learn once, and yield a record for each share."""
    start = starts[0]
    graph, seed, method = start["graph"], start["seed"], METHODS[start["method"]]
    data = load_dataset(graph, weighted=False)

    def learn() -> tuple[Vectors, dict[str, Any]]:
        vectors, costs = run_job(method, data.graph, seed, options.prefix, options.limit)
        return vectors, {**costs, "machine": busy_machine(), "commit": commit("+"), "date": date()}

    name = f"{graph}-{start['method']}-{seed}-{fingerprint(start['settings'])}"
    vectors, costs = learned(options.vectors, name, learn)
    for one in starts if options.splits else ():
        yield {**one, **quality(vectors, data, one["train_share"], options.splits), **costs}


def fingerprint(settings: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]


def line(record: Record) -> str:
    return (
        f"{record['graph']:12} {record['method']:10} seed {record['seed']} "
        f"{record['cpu_seconds']:8.2f} CPU s  micro {record['micro']:.2f}  "
        f"macro {record['macro']:.2f}  scaled {record['micro_scaled']:.2f}/"
        f"{record['macro_scaled']:.2f}  {record['peak_rss_mb']:.0f} MB"
    )

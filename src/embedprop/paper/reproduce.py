"""Run units in parallel processes; every result is a line, and what has a line is not run again."""

from __future__ import annotations

import logging
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from embedprop.errors import UnknownComponentError
from embedprop.evaluation.provenance import provenance
from embedprop.evaluation.records import append_record, read_records
from embedprop.paper.units import Unit, protocol, record_key, units

logger = logging.getLogger(__name__)

Told = Callable[[int, int, str], None]


def reproduce(
    experiments: Sequence[str],
    results: Path,
    *,
    quick: bool = False,
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    n_processes: int | None = None,
    told: Told | None = None,
) -> list[Unit]:
    """Run what is not in `results` yet; return the units that failed.

    Parameters
    ----------
    experiments
        Names of tables, for example ``["table3"]``.
    results
        A JSONL file; vectors are kept in a folder ``vectors`` beside it, to be used again.
    quick
        Two runs on the two smallest graphs instead of everything.
    methods, datasets
        Only these; None: all.
    n_processes
        Units at a time; None: one per core. Each uses one thread.
    told
        Called after each unit with (done, total, what it gave).
    """
    finished = {record_key(record) for record in read_records(results)}
    every = units(experiments, quick)
    _require_known("methods", methods, {unit.method for unit in every})
    _require_known("datasets", datasets, {unit.dataset for unit in every})
    wanted = [
        unit
        for unit in every
        if (methods is None or unit.method in methods)
        and (datasets is None or unit.dataset in datasets)
    ]
    todo = [unit for unit in wanted if unit.key not in finished]
    n_done = len(wanted) - len(todo)
    failed: list[Unit] = []
    workers = n_processes or os.cpu_count() or 1
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_quiet_worker) as pool:
        running: dict[Future[dict[str, Any]], Unit] = {
            pool.submit(run_unit, unit, results.parent / "vectors"): unit for unit in todo
        }
        for future in as_completed(running):
            n_done += 1
            unit = running[future]
            try:
                record = future.result()
            except Exception as error:
                logger.error(
                    "%s failed and will be tried again next time: %s: %s",
                    unit,
                    type(error).__name__,
                    error,
                )
                failed.append(unit)
                if told is not None:
                    told(n_done, len(wanted), f"{' '.join(map(str, unit.key))}: failed")
                continue
            append_record(results, record)
            if told is not None:
                told(n_done, len(wanted), _line(record))
    return failed


def _require_known(what: str, asked: Sequence[str] | None, known: set[str]) -> None:
    for name in asked or ():
        if name not in known:
            raise UnknownComponentError(
                f"{what}: {name!r} is not in these experiments. Choose of: "
                f"{', '.join(map(repr, sorted(known)))}."
            )


def run_unit(unit: Unit, cache_folder: Path) -> dict[str, Any]:
    """Measure one unit and return its record."""
    from embedprop.paper.experiments import measure
    from embedprop.paper.vectors import Cache

    cpu, wall = time.process_time(), time.perf_counter()
    metrics = measure(unit, Cache(cache_folder))
    return (
        unit.to_dict()
        | {"protocol": protocol(unit), "seed": unit.run}
        | metrics
        | {
            "cpu_seconds": round(time.process_time() - cpu, 2),
            "wall_seconds": round(time.perf_counter() - wall, 2),
        }
        | provenance()
    )


def _quiet_worker() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    logging.getLogger("embedprop").setLevel(logging.ERROR)


def _line(record: dict[str, Any]) -> str:
    shown = [f"{name} {100 * record[name]:.2f}" for name in METRICS if name in record]
    what = " ".join(str(record[name]) for name in ("experiment", "dataset", "method", "setting"))
    return f"{what} run {record['run']}: {', '.join(shown)} ({record['wall_seconds']:.0f} s)"


METRICS = ("accuracy", "micro", "macro")

"""Run units in parallel, and make figures: every result is a line, and none is measured twice."""

import itertools
import logging
import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from embedprop.datasets import load_dataset
from embedprop.evaluation.provenance import provenance
from embedprop.evaluation.records import append_record, read_records
from embedprop.instance.require import require_one_of
from embedprop.paper.figure_kappa import kappa_figure
from embedprop.paper.figure_tsne import tsne_figure
from embedprop.paper.units import Unit, protocol, units
from embedprop.paper.vectors import Cache, Place

logger = logging.getLogger(__name__)

Report = Callable[[int, int, str], None]
METRICS = ("accuracy", "micro", "macro")
FIGURES = ("figure-tsne", "figure-kappa")


def reproduce(
    experiments: Sequence[str],
    results: Path,
    *,
    quick: bool = False,
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    n_processes: int | None = None,
    report: Report = lambda *_: None,
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
    report
        Called after each unit with (done, total, its metrics as text).
    """
    wanted = every = units(experiments, quick)
    for what, names in (("method", methods), ("dataset", datasets)):
        known = sorted({getattr(unit, what) for unit in every})
        chosen = {require_one_of(what, name, known) for name in (known if names is None else names)}
        wanted = [unit for unit in wanted if getattr(unit, what) in chosen]
    finished = {Unit.of(record) for record in read_records(results)}
    todo = [unit for unit in wanted if unit not in finished]
    done = itertools.count(len(wanted) - len(todo) + 1)
    failed: list[Unit] = []
    # Forked, a process would inherit the threads of torch and Numba in whatever state they are.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_processes or None, context, initializer=_quiet_worker) as pool:
        running = {pool.submit(run_unit, unit, results.parent / "vectors"): unit for unit in todo}
        for future in as_completed(running):
            try:
                record = future.result()
            except Exception as error:
                failed.append(running[future])
                text = "%s failed and will be tried again next time: %s: %s"
                logger.error(text, failed[-1], type(error).__name__, error)
                report(next(done), len(wanted), f"{failed[-1]}: failed")
            else:
                append_record(results, record)
                report(next(done), len(wanted), _line(record))
    return failed


def make_figure(name: str, place: Place, *, quick: bool = False) -> Path:
    """Measure what has no record yet, draw the figure, and return its path.

    Parameters
    ----------
    name
        ``"figure-tsne"`` or ``"figure-kappa"``.
    place
        Where records, vectors and the picture go.
    quick
        Only the maps that are drawn; κ for 20 epochs on PPI.
    """
    if require_one_of("figure", name, FIGURES) == "figure-tsne":
        cora = load_dataset("cora", directed=False, weighted=False)
        return tsne_figure("cora", cora, place, quick=quick)
    dataset, epochs = ("ppi", 20) if quick else ("blogcatalog", 200)
    graph = load_dataset(dataset, directed=False, weighted=False).graph
    return kappa_figure(dataset, graph, place, epochs)


def run_unit(unit: Unit, cache_folder: Path) -> dict[str, Any]:
    """Measure one unit and return its record."""
    from embedprop.paper.experiments import measure

    cpu, wall = time.process_time(), time.perf_counter()
    metrics = measure(unit, Cache(cache_folder))
    seconds = {
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "wall_seconds": round(time.perf_counter() - wall, 2),
    }
    head = unit.to_dict() | {"protocol": protocol(unit), "seed": unit.run}
    return head | metrics | seconds | provenance()


def _quiet_worker() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    logging.getLogger("embedprop").setLevel(logging.ERROR)


def _line(record: dict[str, Any]) -> str:
    shown = [f"{name} {100 * record[name]:.2f}" for name in METRICS if name in record]
    return f"{Unit.of(record)}: {', '.join(shown)} ({record['wall_seconds']:.0f} s)"

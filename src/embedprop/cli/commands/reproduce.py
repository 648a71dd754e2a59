"""`embedprop reproduce`: run the paper's experiments and write the report."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from embedprop.cli.options import listed, option
from embedprop.errors import EmbedpropError

ExperimentsArgument = Annotated[
    list[str],
    typer.Argument(
        help="table1, table3, table4, table5, figure-tsne, figure-kappa or all.",
        show_default=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Run:
    """What is run, and where the results go."""

    results: Path = option(
        Path("experiments/results.jsonl"),
        "JSONL file of results; those it already holds are not run again.",
    )
    report: Path = option(Path("experiments/reproduction.md"), "Markdown report to write.")
    figures: Path = option(
        Path("experiments/figures"), "Where to write the figures as PNG.", "FOLDER"
    )
    quick: bool = option(False, "Two runs on two small graphs.")
    methods: str | None = option(None, "Only these methods, for example epb,deepwalk.")
    datasets: str | None = option(None, "Only these data sets, for example ppi,cora.")
    n_processes: int | None = option(None, "Units to run at a time. Default: one per core.")


def reproduce(experiments: ExperimentsArgument, run: Run) -> None:
    """Reproduce the paper's tables and figures.

    The report sets our numbers beside the published ones. The data sets are read from the folder
    that EMBEDPROP_DATA names. A stopped run resumes where it stopped.
    """
    from embedprop.evaluation.records import read_records
    from embedprop.instance.require import require_one_of
    from embedprop.methods.progress import counted_progress
    from embedprop.paper.report import report as made_report
    from embedprop.paper.reproduce import FIGURES, make_figure
    from embedprop.paper.reproduce import reproduce as run_tables
    from embedprop.paper.table1 import add_table1
    from embedprop.paper.units import EXPERIMENTS
    from embedprop.paper.vectors import Place

    known = ("table1", *FIGURES, *EXPERIMENTS, "all")
    for name in experiments:
        require_one_of("experiment", name, known)  # before any work
    wanted = known if "all" in experiments else experiments
    if "table1" in wanted:
        typer.echo(add_table1(run.results, quick=run.quick))
    place = Place(run.results, run.figures, typer.echo)
    for name in FIGURES:
        if name in wanted:
            typer.echo(f"Figure: {make_figure(name, place, quick=run.quick)}")
    failed, tables = [], [name for name in wanted if name in EXPERIMENTS]
    if tables:
        with counted_progress(typer.echo) as report:
            failed = run_tables(
                tables,
                run.results,
                quick=run.quick,
                methods=listed("--methods", run.methods),
                datasets=listed("--datasets", run.datasets),
                n_processes=run.n_processes,
                report=report,
            )
    run.report.parent.mkdir(parents=True, exist_ok=True)
    text = made_report(read_records(run.results), _pictures(run.figures, run.report.parent))
    run.report.write_text(text, encoding="utf-8")
    typer.echo(f"Report: {run.report}")
    if failed:
        raise EmbedpropError(f"{len(failed)} units failed. Run the same command to try them again.")


def _pictures(figures: Path, seen_from: Path) -> dict[str, str]:
    """Return where the figures that are there lie, as links from another folder."""
    return {
        path.stem: Path(os.path.relpath(path, seen_from)).as_posix()
        for path in sorted(figures.glob("figure-*.png"))
    }

"""`embedprop reproduce`: run the paper's experiments and write the report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from embedprop.errors import EmbedpropError


def reproduce(
    experiments: Annotated[
        list[str],
        typer.Argument(
            help="table1, table3, table4, table5, figure-tsne, figure-kappa or all.",
            show_default=False,
        ),
    ],
    results: Annotated[
        Path, typer.Option(help="JSONL file of results; what it holds is not run again.")
    ] = Path("experiments/results.jsonl"),
    report: Annotated[Path, typer.Option(help="Markdown report to write.")] = Path(
        "experiments/reproduction.md"
    ),
    figures: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where to write the figures as PNG.")
    ] = Path("experiments/figures"),
    quick: Annotated[bool, typer.Option("--quick", help="Two runs on two small graphs.")] = False,
    methods: Annotated[
        str | None, typer.Option(help="Only these methods, for example epb,deepwalk.")
    ] = None,
    datasets: Annotated[
        str | None, typer.Option(help="Only these data sets, for example ppi,cora.")
    ] = None,
    n_processes: Annotated[
        int | None, typer.Option(help="Units at a time; one per core by default.")
    ] = None,
) -> None:
    """Run the paper's tables and figures, and set our numbers beside the published.

    The data sets are read from the folder that EMBEDPROP_DATA names. A stopped run goes on where
    it was.
    """
    from embedprop.evaluation.records import read_records
    from embedprop.instance.require import require_one_of
    from embedprop.methods.progress import counted_progress
    from embedprop.paper.report import report as made_report
    from embedprop.paper.reproduce import FIGURES, make_figure
    from embedprop.paper.reproduce import reproduce as run
    from embedprop.paper.table1 import add_table1
    from embedprop.paper.units import EXPERIMENTS
    from embedprop.paper.vectors import Place

    known = ("table1", *FIGURES, *EXPERIMENTS, "all")
    for name in experiments:
        require_one_of("experiment", name, known)  # before any work
    wanted = known if "all" in experiments else experiments
    names = None if methods is None else methods.split(",")
    places = None if datasets is None else datasets.split(",")

    if "table1" in wanted:
        typer.echo(add_table1(results, quick=quick))
    for name in FIGURES:
        if name in wanted:
            place = Place(results, figures, typer.echo)
            typer.echo(f"Figure: {make_figure(name, place, quick=quick)}")
    tables = [name for name in wanted if name in EXPERIMENTS]
    failed = []
    if tables:
        with counted_progress(typer.echo) as told:
            failed = run(
                tables,
                results,
                quick=quick,
                methods=names,
                datasets=places,
                n_processes=n_processes,
                report=told,
            )
    report.parent.mkdir(parents=True, exist_ok=True)
    text = made_report(read_records(results), _pictures(figures, report.parent))
    report.write_text(text, encoding="utf-8")
    typer.echo(f"Report: {report}")
    if failed:
        raise EmbedpropError(f"{len(failed)} units failed; run the same command to try them again.")


def _pictures(figures: Path, seen_from: Path) -> dict[str, str]:
    """Return where the figures that are there lie, as links from another folder."""
    return {
        path.stem: Path(os.path.relpath(path, seen_from)).as_posix()
        for path in sorted(figures.glob("figure-*.png"))
    }

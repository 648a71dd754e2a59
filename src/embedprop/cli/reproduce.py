"""`embedprop reproduce`: run the paper's experiments and write the report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from embedprop.errors import EmbedpropError


def reproduce(
    experiments: Annotated[
        list[str], typer.Argument(help="table3, table4, table5 or all.", show_default=False)
    ],
    results: Annotated[
        Path, typer.Option(help="JSONL file of results; what it holds is not run again.")
    ] = Path("experiments/results.jsonl"),
    report: Annotated[Path, typer.Option(help="Markdown report to write.")] = Path(
        "experiments/reproduction.md"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Two runs on two small graphs.")] = False,
    methods: Annotated[
        str | None, typer.Option(help="Only these methods, for example epb,deepwalk.")
    ] = None,
    n_processes: Annotated[
        int | None, typer.Option(help="Units at a time; one per core by default.")
    ] = None,
) -> None:
    """Run the paper's tables with every method, and set our numbers beside the published.

    The data sets are read from the folder that EMBEDPROP_DATA names. A stopped run goes on where
    it was.
    """
    from embedprop.evaluation.records import read_records
    from embedprop.paper.report import report as made_report
    from embedprop.paper.reproduce import reproduce as run
    from embedprop.paper.units import EXPERIMENTS

    wanted = list(EXPERIMENTS) if "all" in experiments else experiments
    names = None if methods is None else methods.split(",")

    def told(done: int, total: int, text: str) -> None:
        typer.echo(f"[{done}/{total}] {text}")

    failed = run(wanted, results, quick=quick, methods=names, n_processes=n_processes, told=told)
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(made_report(read_records(results)), encoding="utf-8")
    typer.echo(f"Report: {report}")
    if failed:
        raise EmbedpropError(f"{len(failed)} units failed; run the same command to try them again.")

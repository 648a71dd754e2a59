"""`embedprop data list|get`: the paper's graphs, and where they are."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from embedprop.cli.console import show_table, speaker
from embedprop.cli.options import QuietOption, option, with_options

data = typer.Typer(
    add_completion=False, rich_markup_mode=None, help="List data sets, or download one by name."
)


@data.callback(invoke_without_command=True)
def options(context: typer.Context) -> None:
    """List data sets, or download one by name."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@data.command("list")
def list_() -> None:
    """Show the known data sets, their sizes, and where they are."""
    from embedprop.datasets.get import overview

    rows = [["name", "nodes", "edges", "classes", "where"]]
    rows += [[name, *(f"{n:,}" for n in numbers), where] for name, numbers, where in overview()]
    show_table(rows, right=[1, 2, 3])


@dataclass(frozen=True, kw_only=True)
class Fetching:
    """Where the original files come from."""

    mirror: str | None = option(None, "A server to use instead of the published one.", "ADDRESS")
    files: Path | None = option(
        None, "Use the original files in this folder; download nothing.", "FOLDER"
    )
    force: bool = option(False, "Convert the data set again if it is already there.")


@data.command()
@with_options
def get(
    name: Annotated[str, typer.Argument(help="A data set, such as cora.", show_default=False)],
    wanted: Fetching,
    quiet: QuietOption = False,
) -> None:
    """Download the original files of a data set, check them and convert them."""
    from embedprop.datasets.download import download_bar
    from embedprop.datasets.get import get_dataset
    from embedprop.datasets.sources import find_source

    say = speaker(quiet)
    with download_bar(verbose=not quiet) as report:
        folder = get_dataset(name, **asdict(wanted), report=report)
    source = find_source(name)
    say(f"{source.title}: {source.n_nodes:,} nodes, {source.n_edges:,} edges, in {folder}")
    for note in source.notes:
        say(note)

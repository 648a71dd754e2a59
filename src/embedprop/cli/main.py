"""`embedprop COMMAND ...`: the commands, and what a mistake leads to (one line, exit code 2)."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from embedprop import __version__
from embedprop.cli.commands.compare import compare
from embedprop.cli.commands.data import data
from embedprop.cli.commands.demo import demo
from embedprop.cli.commands.evaluate import evaluate
from embedprop.cli.commands.export import export
from embedprop.cli.commands.fit import fit
from embedprop.cli.commands.parts import parts
from embedprop.cli.commands.predict import predict
from embedprop.cli.commands.reproduce import reproduce
from embedprop.cli.commands.similar import similar
from embedprop.cli.commands.tails import tails
from embedprop.cli.commands.transform import transform
from embedprop.cli.console import StoppedError, complain, console, reason
from embedprop.cli.method_options import parameter_options
from embedprop.cli.options import with_options
from embedprop.errors import EmbedpropError

# Where it lives depends on the version of typer; its public child does not.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]
INTERRUPTED = 130

# Plain help: rich would double the time it takes to show.
app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Vectors for the nodes and labels of any graph, without supervision, on an ordinary CPU.",
    epilog="Start with: embedprop demo",
)
COMMANDS = (
    demo, fit, transform, similar, tails, predict, export, evaluate, compare, reproduce, parts,
)  # fmt: skip
PARAMETER_OPTIONS = {name: one.annotation for name, one in parameter_options().items()}
for command in COMMANDS:
    app.command()(with_options(command, PARAMETER_OPTIONS))
app.add_typer(data, name="data")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"embedprop {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 (its callback does the work)
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version),
    ] = False,
) -> None:
    """Show the help if no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code: 0, 2 for a mistake or a failure, 130 after Ctrl-C."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        return _run(given)
    except KeyboardInterrupt:  # once more, while the first was being answered
        return INTERRUPTED


def _run(given: Sequence[str]) -> int:
    with console():
        try:
            code = typer.main.get_command(app)(given, prog_name="embedprop", standalone_mode=False)
            sys.stdout.flush()
        except UsageError as error:
            complain(_usage_message(error))
        except StoppedError as stop:
            complain(str(stop))
            return INTERRUPTED
        except (typer.Abort, KeyboardInterrupt):
            complain("Stopped.")
            return INTERRUPTED
        except EmbedpropError as error:
            complain(str(error))
        except BrokenPipeError:  # nobody reads our output any more
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except OSError as error:
            complain(reason(error))
        else:
            if code == INTERRUPTED:  # Ctrl-C, in newer versions of typer
                complain("Stopped.")
            return code if isinstance(code, int) else 0
    return 2


def _usage_message(error: Exception) -> str:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    command = "embedprop" if context is None else context.command_path
    end = "" if message.endswith(("?", ".")) else "."
    return f"{message}{end} Try '{command} --help'."

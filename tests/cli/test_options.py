"""Groups of options: what typer sees of a dataclass, and what the command gets."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer

from embedprop.cli.options import QuietOption, option, with_options


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A group."""

    fast: bool = option(False, "Hurry.")
    train_share: float = option(0.5, "How much.", "X")
    out: str = option(..., "Where to.", "FILE")
    header: bool | None = option(None, "Whether there is one.", flags="--header/--no-header")


def command(name: str, wanted: Wanted, quiet: QuietOption = False, **given: str | None) -> None:
    """Do it."""
    print(name, wanted, quiet, sorted(given.items()))  # noqa: T201 (what the tests look at)


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]):
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    more = {"loss": Annotated[str | None, typer.Option("--loss")]}
    app.command()(with_options(command, more))

    def run(*arguments: str) -> str:
        typer.main.get_command(app)(arguments, prog_name="x", standalone_mode=False)
        return capsys.readouterr().out.strip()

    return run


def test_a_command_gets_its_group_whole_and_the_further_options_by_name(shown) -> None:
    wanted = Wanted(out="f", fast=True, train_share=0.2, header=False)
    arguments = ["a", "--out", "f", "--fast", "--train-share", "0.2", "--no-header", "--loss", "l"]
    assert shown(*arguments) == f"a {wanted} False [('loss', 'l')]"


def test_what_is_not_given_has_its_default(shown) -> None:
    assert shown("a", "--out", "f", "--quiet") == f"a {Wanted(out='f')} True [('loss', None)]"


def test_what_is_required_stands_first() -> None:
    parameters = inspect.signature(with_options(command)).parameters
    assert list(parameters) == ["name", "out", "fast", "train_share", "header", "quiet"]


def test_a_switch_has_no_opposite_unless_it_is_named(shown) -> None:
    text = shown("--help")
    assert "--no-fast" not in text
    assert "--header / --no-header" in text
    assert "--train-share X" in text

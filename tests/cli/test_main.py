"""What all commands share: help, version, errors, silence, speed of the start."""

from __future__ import annotations

import errno
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Shell, assert_refused

from embedprop import __version__
from embedprop.cli.console import complain

COMMANDS = ("demo", "fit", "transform", "similar", "export", "evaluate", "compare")
HEAVY = ("numpy", "numba", "polars", "pyarrow", "sklearn", "scipy", "matplotlib", "rich")


def test_without_a_command_the_help_is_shown(shell: Shell) -> None:
    answer = shell()
    assert answer.code == 0
    assert answer.out == shell("--help").out
    for command in COMMANDS:
        assert f"\n  {command} " in answer.out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(shell: Shell, command: str) -> None:
    answer = shell(command, "--help")
    assert answer.code == 0
    assert answer.out.startswith(f"Usage: embedprop {command} ")
    assert "--quiet" in answer.out


def test_version(shell: Shell) -> None:
    assert shell("--version") == (0, f"embedprop {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["nonsense"], "No such command 'nonsense'. Try 'embedprop --help'."),
        (["--nonsense"], "No such option: --nonsense. Try 'embedprop --help'."),
        (["fit", "edges.csv"], "Missing option '--out'. Try 'embedprop fit --help'."),
        (["fit"], "Missing argument"),
        (["fit", "edges.csv", "--out", "m", "--nonsense"], "No such option: --nonsense"),
        (["fit", "edges.csv", "--out", "m", "--fast", "--epochs", "many"], "value for --epochs"),
        (["fit", "edges.csv", "--out"], "'--out' requires an argument"),
    ],
)
def test_a_mistake_of_usage_gets_one_line_with_a_hint(
    shell: Shell, arguments: list[str], part: str
) -> None:
    assert_refused(shell(*arguments), part, "--help'.")


def test_a_message_of_many_lines_or_odd_characters_becomes_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    complain("first\nsecond\r\nthird\x1b[31m\x00 Ünïcode")
    assert capsys.readouterr().err == "first second third\\x1b[31m\\x00 Ünïcode\n"


def test_what_the_system_refuses_gets_one_line(
    shell: Shell, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "secret.csv")

    monkeypatch.setattr("embedprop.model.codec.load_model", refuse)
    assert_refused(shell("similar", model, "ann"), "secret.csv: Permission denied.")


def test_a_bug_is_not_hidden(shell: Shell, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("embedprop.model.codec.load_model", fail)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        shell("similar", model, "ann")


def test_ctrl_c_gives_130(shell: Shell, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("embedprop.model.codec.load_model", interrupt)
    assert shell("similar", model, "ann") == (130, "", "Stopped.\n")


def test_the_library_logs_as_before_after_a_command(shell: Shell) -> None:
    logger = logging.getLogger("embedprop")
    before = logger.level, list(logger.handlers)
    shell("fit", "missing.csv", "--out", "m")
    assert (logger.level, list(logger.handlers)) == before


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from embedprop.cli.main import main; main(['--help']); "
        f"sys.exit(' '.join(sorted(set({HEAVY!r}) & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
    assert "Usage: embedprop" in done.stdout


def test_a_closed_pipe_is_silent(model: Path) -> None:
    arguments = ["similar", str(model), "ann"]
    code = f"from embedprop.cli.main import main; raise SystemExit(main({arguments!r}))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as errors:
        assert errors.read() == ""
    assert process.wait() == 1


def test_as_a_module_it_has_the_same_exit_code() -> None:
    command = [sys.executable, "-m", "embedprop", "similar", "no-model", "ann"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr

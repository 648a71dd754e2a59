"""Ctrl-C pressed by another process: the first press stops, the second one keeps the model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import embedprop

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are sent in another way there")

# Says when it learns and when it finishes, and takes its time there: a person is not faster.
SLOWLY = """
import contextlib, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import embedprop.estimators
from embedprop.methods.epb import method

finish = method.model_of

@contextlib.contextmanager
def said_once(verbose):
    said = []
    def report(*_):
        if not said:
            said.append(True)
            print("learning", flush=True)
    yield report

def finish_slowly(*given):
    print("finishing", flush=True)
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        time.sleep(0.02)
    return finish(*given)

embedprop.estimators.progress_bar = said_once
method.model_of = finish_slowly
"""
IN_PYTHON = """
from embedprop import EmbeddingPropagation, Graph
model = EmbeddingPropagation(dim=4, epochs=10**7, n_threads=1)
try:
    model.fit(Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")]))
except KeyboardInterrupt as stop:
    print("stopped:", stop)
print("kept" if hasattr(model, "model_") else "lost")
if hasattr(model, "model_"):
    model.save(sys.argv[1])
"""
IN_THE_SHELL = """
from pathlib import Path
from embedprop.cli.main import main
edges = Path(sys.argv[1]).with_name("edges.csv")
edges.write_text("source,target\\na,b\\nb,c\\nc,d\\n")
how = ["--method", "epb", "--dim", "4", "--epochs", "10000000", "--n-threads", "1"]
sys.exit(main(["fit", str(edges), "--out", sys.argv[1], *how]))
"""


def pressed(code: str, out: Path, *, while_finishing: int) -> subprocess.CompletedProcess[str]:
    """Run code; press once while it learns, and so many times while it finishes."""
    process = subprocess.Popen(
        [sys.executable, "-c", SLOWLY + code, str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    shown = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            shown.append(line)
            if line == "learning\n" or (line == "finishing\n" and while_finishing == 1):
                process.send_signal(signal.SIGINT)
            elif line == "finishing\n" and while_finishing == 2:
                process.send_signal(signal.SIGINT)
                # Two of the same signal that wait are one: the first must have been heard.
                assert process.stderr is not None
                while "once more" not in shown[-1]:
                    shown.append(process.stderr.readline())
                process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    return subprocess.CompletedProcess([], process.returncode, "".join(shown), errors)


@pytest.mark.parametrize("while_finishing", [0, 1])
@pytest.mark.parametrize(("code", "returned"), [(IN_PYTHON, 0), (IN_THE_SHELL, 130)])
def test_a_second_press_does_not_lose_the_model(
    code: str, returned: int, while_finishing: int, tmp_path: Path
) -> None:
    result = pressed(code, tmp_path / "model", while_finishing=while_finishing)
    assert result.returncode == returned, result.stderr
    said = result.stdout + result.stderr
    assert "epochs; the model holds what was learned." in said
    assert ("Ctrl-C once more loses it and stops at once." in said) == bool(while_finishing)
    model = embedprop.load(tmp_path / "model", verify=True)
    assert list(model) == ["a", "b", "c", "d"]
    assert len(model.learning.loss_history["node"]) > 0


@pytest.mark.parametrize(("code", "returned"), [(IN_PYTHON, 0), (IN_THE_SHELL, 130)])
def test_a_third_press_stops_at_once(code: str, returned: int, tmp_path: Path) -> None:
    result = pressed(code, tmp_path / "model", while_finishing=2)
    assert result.returncode == returned, result.stderr
    assert not (tmp_path / "model").exists()
    assert "the model holds" not in result.stdout + result.stderr
    lost = "lost" if code == IN_PYTHON else "Stopped before there was a model: nothing was written"
    assert lost in result.stdout + result.stderr

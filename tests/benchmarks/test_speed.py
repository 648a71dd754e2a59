"""The benchmarks of speed and memory run, and their figures are what they say."""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests import toy_graphs

import benchmarks
from embedprop import Graph
from embedprop.graph.changes.learnable import learned_labels
from embedprop.model.representations import embeddings

FOLDER = Path(next(iter(benchmarks.__path__)))


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import a script as its own folder sees it."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module(name)


def record_of(name: str, out: Path, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments, "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (line,) = out.read_text().splitlines()
    record: dict[str, Any] = json.loads(line)
    assert record["benchmark"] == name
    assert {"machine", "commit", "date"} <= record.keys()
    return record


@pytest.mark.slow
def test_an_epoch_is_measured_against_its_products(tmp_path: Path) -> None:
    record = record_of(
        "epoch",
        tmp_path / "out.jsonl",
        *("--data", "power-law", "--nodes", "3000", "--edges", "30000"),
        *("--epochs", "3", "--repeats", "1"),
    )
    turns = record["wall_seconds_by_turns"]
    assert {name: len(seconds) for name, seconds in turns.items()} == {
        "1 thread": 1,
        "2 threads": 1,
        "2 processes": 1,
    }
    assert record["speed_up_of_2_threads"] > 0
    assert record["speed_up_of_2_processes"] > 0
    products = record["product_cpu_seconds"]
    assert set(products) == {"node: A X", "node: A' X"}
    expected = record["cpu_seconds"] / 3 / sum(products.values())
    assert record["ratio"] == pytest.approx(expected, rel=0.02)


def test_the_products_of_words_are_those_of_an_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = toy_graphs.messy(weighted_labels=True, weighted_edges=True, missing=True)
    factors = {
        name: (matrix, columns)
        for name, matrix, columns in script("epoch", monkeypatch).products(graph, ["word"])
    }
    assert set(factors) == {"word: L X", "word: L' X", "word: A X", "word: A' X"}
    matrix, columns = factors["word: L X"]
    h, _ = embeddings(learned_labels(graph, "word").sets, columns)
    np.testing.assert_allclose(matrix @ columns, h, rtol=1e-5)
    for name, (matrix, columns) in factors.items():
        assert columns.shape == (matrix.shape[1], 128)
        assert {matrix.dtype, columns.dtype} == {np.dtype(np.float32)}
        if "'" in name:
            assert (factors[name.replace("'", "")][0] != matrix.T).nnz == 0


@pytest.mark.slow
def test_memory_is_measured_in_a_process_of_its_own(tmp_path: Path) -> None:
    record = record_of("memory", tmp_path / "out.jsonl", "--nodes", "2000", "--edges", "9000")
    assert record["within"]
    assert 0.05 < record["imports_gb"] <= record["peak_gb"] < record["allowed_gb"]


@pytest.mark.parametrize(("peak", "within"), [(3.12e9, True), (3.13e9, False)])
def test_what_memory_is_allowed(monkeypatch: pytest.MonkeyPatch, peak: float, within: bool) -> None:
    options = argparse.Namespace(nodes=1_000_000, edges=10_000_000, epochs=1)
    record = script("memory", monkeypatch).compared(options, {"peak_gb": peak})
    table, csr = 0.512, 0.088
    assert record["allowed_gb"] == pytest.approx(1.3 * (3 * table + csr) + table + 0.5, abs=1e-3)
    assert record["within"] is within


@pytest.mark.slow
def test_growth_is_measured_and_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "scale.png"
    record = record_of(
        "scale",
        tmp_path / "out.jsonl",
        *("--edges", "1000", "4000", "--seconds", "0.1", "--plot", str(picture)),
    )
    assert [point["n_edges"] for point in record["points"]] == [1000, 4000]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_rows_of_an_epoch_are_those_of_its_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of two batches on a star, one has its center, which hears all, and one half of the leaves.
    star = Graph.from_edges([(0, leaf) for leaf in range(1, 100)])
    measure = script("scale", monkeypatch)
    monkeypatch.setattr(measure, "BATCH_SIZE", 100)
    assert measure.distinct_rows(star) == 100
    monkeypatch.setattr(measure, "BATCH_SIZE", 50)
    assert 100 + 50 + 1 <= measure.distinct_rows(star) <= 200


def test_the_slope_is_that_of_the_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [{"n_edges": 10**k, "cpu_seconds": 2e-6 * 10 ** (1.5 * k)} for k in (4, 5, 7)]
    slope, offset = script("scale", monkeypatch).line(points)
    assert slope == pytest.approx(1.5)
    assert 10**offset == pytest.approx(2e-6)


COMMANDS = [
    path.stem
    for path in sorted(FOLDER.glob("*.py"))
    if "argparse.ArgumentParser" in path.read_text()
]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_benchmark_explains_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit, match=r"^0$"):
        script(name, monkeypatch).main()
    assert "--help" in capsys.readouterr().out

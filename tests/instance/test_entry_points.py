"""A package of its own registers parts by entry points: `tests/parts_package`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

import embedprop
from embedprop.errors import UnknownComponentError

PACKAGE = Path(__file__).parents[1] / "parts_package"
EDGES = "source,target\nann,bob\nbob,cid\ncid,ann\ncid,dan\n"
FIT = (
    *("-m", "embedprop", "fit", "edges.csv", "--method", "epb", "--out", "model"),
    *("--dim", "4", "--epochs", "2", "--quiet"),
)
CHOSEN = ("--aggregator", "midrange", "--distance", "manhattan", "--loss", "squared_ranking")
FIT_BY_NAME = """
import json
from embedprop import EmbeddingPropagation, Graph, Parts

graph = Graph.read("edges.csv")
parts = Parts(
    aggregator="midrange", reconstruction="midrange", distance="manhattan",
    loss="squared_ranking(margin=0.5)",
)
model = EmbeddingPropagation(dim=4, epochs=2, parts=parts, engine="torch").fit(graph).model_
one = model.instance.label_types["node"]
print(json.dumps({
    "parts": [one.aggregator, one.reconstruction, one.distance, one.loss, one.margin],
    "ann": model["ann"].tolist(),
    "cid": model["cid"].tolist(),
    "score": model.score_edge("ann", "cid"),
    "tails": model.predict_tails("ann", k=3),
}))
"""

Python = Callable[..., CompletedProcess[str]]


def install(site: Path, name: str, points: Mapping[str, str]) -> None:
    """Write what an installer leaves behind of a package that has these entry points."""
    info = site / f"{name}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    lines = [f"{key} = {value}\n" for key, value in points.items()]
    (info / "entry_points.txt").write_text("[embedprop.parts]\n" + "".join(lines))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with edges.csv, and site/ where the package and a broken one are installed."""
    folder = tmp_path_factory.mktemp("entry_points")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    install(folder / "site", "more_parts", project["entry-points"]["embedprop.parts"])
    install(folder / "site", "broken_parts", {"loss.broken": "no_such_module:Loss"})
    shutil.copy(PACKAGE / "more_parts.py", folder / "site")
    (folder / "edges.csv").write_text(EDGES)
    return folder


@pytest.fixture(scope="module")
def python(folder: Path) -> Python:
    """Run Python in that folder, with what is installed there."""
    source = Path(embedprop.__file__).parents[1]
    path = os.pathsep.join([str(folder / "site"), str(source), os.environ.get("PYTHONPATH", "")])

    def run(*words: str) -> CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            env=os.environ | {"PYTHONPATH": path},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture(scope="module")
def model(python: Python, folder: Path) -> Path:
    """A model that the shell has learned with parts of the package."""
    done = python(*FIT, *CHOSEN)
    assert done.returncode == 0, done.stderr
    return folder / "model"


def test_parts_of_a_package_are_listed_and_broken_ones_named(python: Python) -> None:
    done = python("-m", "embedprop", "parts")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "  squared_ranking(margin=1.0)" in lines[lines.index("loss") :]
    assert "  midrange" in lines[lines.index("aggregator") :]
    after = lines[lines.index("distance") :]
    description = after[after.index("  manhattan") + 1].strip()
    assert description == "The sum of the differences of all dimensions, each without its sign."
    assert "no_such_module:Loss" in done.stdout


def test_parts_of_a_package_are_learned_with_and_score_edges(python: Python) -> None:
    done = python("-c", FIT_BY_NAME)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["parts"] == ["midrange", "midrange", "manhattan", "squared_ranking", 0.5]
    expected = -np.abs(np.subtract(found["ann"], found["cid"])).sum()
    assert found["score"] == pytest.approx(expected, rel=1e-5)
    assert dict(found["tails"])["cid"] == pytest.approx(expected, rel=1e-5)


def test_parts_of_a_package_are_chosen_in_the_shell(model: Path) -> None:
    settings = json.loads((model / "manifest.json").read_text(encoding="utf-8"))["settings"]
    one = settings["instance"]["label_types"]["node"]
    assert (one["aggregator"], one["distance"]) == ("midrange", "manhattan")
    assert one["loss"] == "squared_ranking"


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        (("--distance", "manhatan"), "Did you mean 'manhattan'?"),
        (("--loss", "broken"), "No module named 'no_such_module'"),
    ],
)
def test_a_part_that_cannot_be_found_is_refused(
    python: Python, wanted: tuple[str, str], answer: str
) -> None:
    done = python(*FIT, *wanted)
    assert done.returncode == 2
    assert answer in " ".join(done.stderr.split())


def test_a_model_keeps_its_vectors_where_the_package_is_not_installed(model: Path) -> None:
    loaded = embedprop.load(model)
    assert len(loaded.similar("ann", k=2)) == 2
    with pytest.raises(UnknownComponentError, match=r"'(manhattan|midrange)' is not known"):
        loaded.score_edge("ann", "cid")

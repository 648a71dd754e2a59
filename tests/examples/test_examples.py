"""The examples run as their pages say, and learning from all label types is the best."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

pytest.importorskip("torch")

FOLDER = Path(__file__).parents[2] / "examples"
# The promise is 2 minutes on 2 cores; CPU seconds do not depend on what else runs.
MOST_CPU_SECONDS = 120


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table(output: str, names: list[str]) -> dict[str, float]:
    """Return the first number of the line of each name."""
    lines = output.splitlines()
    return {
        name: float(line.removeprefix(name).split()[0])
        for name in names
        for line in lines
        if line.startswith(name) and line.removeprefix(name).lstrip()[:2] == "0."
    }


def run(name: str) -> tuple[str, float]:
    """Return what an example prints, and its CPU seconds."""
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py"], capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_every_example_can_be_imported_and_says_how_to_run_it(name: str) -> None:
    module = load(name)
    assert callable(module.main)
    assert f"python examples/{name}.py" in (module.__doc__ or "")


def test_captions_say_where_the_hole_is_and_what_is_empty() -> None:
    example = load("images_and_text")
    ring = np.zeros((8, 8))
    ring[4:8, 2:6] = 16
    ring[5:7, 3:5] = 0
    assert example.caption(ring) == (
        "thin strokes, narrow, one hole below, a bar at the bottom, "
        "empty upper left, empty upper right"
    )
    assert example.holes(np.zeros((8, 8), bool)) == "no hole"


def test_edges_of_new_digits_lead_to_known_ones_that_have_gaps() -> None:
    example = load("images_and_text")
    images = example.load_digits().images[: example.N_NEW + 300]
    known, new = example.make_graphs(images)
    assert known.n_nodes == 300
    assert list(new.nodes)[: example.N_NEW] == list(range(300, 300 + example.N_NEW))
    for label_type in ("picture", "caption"):
        assert 0.1 < 1 - known.has_labels(label_type).mean() < 0.4
        assert new.has_labels(label_type)[: example.N_NEW].all()
        assert not new.has_labels(label_type)[example.N_NEW :].any()
    assert (new.neighbors.ids[: new.neighbors.ptr[example.N_NEW]] >= example.N_NEW).all()


@pytest.mark.slow
def test_pictures_and_captions_together_are_better_than_either_alone() -> None:
    output, seconds = run("images_and_text")
    found = table(output, ["picture", "caption", "picture + caption"])
    assert len(found) == 3
    assert found["picture + caption"] > max(found["picture"], found["caption"]) + 0.005
    recognized = int(output.split(" are recognized")[0].split()[-1])
    assert recognized >= 75
    assert seconds < MOST_CPU_SECONDS


@pytest.mark.slow
def test_all_labels_of_streamers_together_are_better_than_the_best_type_alone() -> None:
    data = os.environ.get("EMBEDPROP_DATA")
    if not data or not (Path(data) / "twitch_engb").is_dir():
        pytest.skip("needs twitch_engb in the folder that EMBEDPROP_DATA names")
    output, seconds = run("mixed_labels")
    found = table(output, ["node", "feature", "days", "partner", "views", "all"])
    assert len(found) == 6
    together = found.pop("all")
    assert together > max(found.values()) + 0.003
    assert seconds < MOST_CPU_SECONDS

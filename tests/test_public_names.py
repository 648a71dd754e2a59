"""The public names, and what importing, loading and asking cost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import embedprop
from embedprop import ClosedForm, EmbeddingPropagation, Graph

HEAVY = ["matplotlib", "numba", "numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn", "torch"]
PUBLIC = [
    "ClosedForm", "EmbeddingPropagation", "Graph", "Model", "Parts", "__version__", "errors",
    "load", "load_dataset",
]  # fmt: skip


def imported_by(code: str) -> list[str]:
    """Return the heavy libraries that a new process has after some code, which may print."""
    shown = f"\nimport sys\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code + shown],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()[-1].split()


def test_importing_the_package_imports_no_heavy_library() -> None:
    assert imported_by("import embedprop") == []


@pytest.mark.parametrize("name", embedprop.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(embedprop, name) is not None
    assert name in dir(embedprop)


def test_dir_shows_the_public_names_and_nothing_else() -> None:
    assert dir(embedprop) == PUBLIC == embedprop.__all__
    fresh = (
        "import embedprop\n"
        "before = dir(embedprop)\n"
        "from embedprop import *\n"
        "import embedprop.cli.main\n"
        f"assert before == dir(embedprop) == {PUBLIC}\n"
    )
    imported_by(fresh)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'embedprop' has no attribute 'Grpah'"):
        _ = embedprop.Grpah


@pytest.fixture(scope="module", params=["epb", "closed-form"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    graph = Graph.from_edges(
        [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")],
        labels={"word": {"a": ["x"], "b": ["x", "y"], "d": ["y", "z"]}},
    )
    estimators = {
        "epb": EmbeddingPropagation(dim=2, epochs=1, n_threads=1),
        "closed-form": ClosedForm(dim=2),
    }
    out = tmp_path_factory.mktemp("models") / "model"
    estimators[request.param].fit(graph).save(out)
    return out


QUESTIONS = """
model.similar("a", 2), model.similar_labels("word", "x", 1), model["a"], model[["a", "b"]]
model.score_edge("a", "b"), model.predict_tails("a", k=1), model.predict_heads(None, "a", k=1)
model.transform_node(["a"], {"word": ["x"]})
model.transform(embedprop.Graph.from_edges([("new", "a")]))
model.save(OUT)
"""


def test_asking_a_saved_model_imports_neither_scikit_learn_nor_torch(
    folder: Path, tmp_path: Path
) -> None:
    questions = QUESTIONS.replace("OUT", repr(str(tmp_path / "again")))
    found = imported_by(
        f"import embedprop\nmodel = embedprop.load({str(folder)!r}){questions}print(len(model))"
    )
    assert {"sklearn", "torch"}.isdisjoint(found)


def test_nor_does_asking_it_in_the_shell(folder: Path) -> None:
    commands = [["similar", str(folder), "a"], ["tails", str(folder), "a"]]
    found = imported_by(
        f"from embedprop.cli.main import main\nassert [main(one) for one in {commands}] == [0, 0]"
    )
    assert {"sklearn", "torch"}.isdisjoint(found)

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from embedprop import ClosedForm
from embedprop.cli.main import main
from embedprop.demo.run import ESTIMATORS, FIRST, DemoResult, Score, few_examples_scores, run_demo
from embedprop.errors import InvalidParameterError


class Demo:
    """A small demo, run once; its folder, its text and its result."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        said: list[str] = []
        self.result: DemoResult = run_demo(folder, said.append, n_digits=400, n_new=50)
        self.text = "\n".join(said)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return Demo(tmp_path_factory.mktemp("demo") / "out")


def test_vectors_teach_a_classifier_better_than_pixels(demo: Demo) -> None:
    known_from_pixels, _ = demo.result.scores["pixels"]
    for title in ESTIMATORS:
        known_from_vectors, new_from_vectors = demo.result.scores[title]
        assert known_from_vectors.mean > known_from_pixels.mean
        assert new_from_vectors.mean > 0.85  # these are too few here for a comparison


@pytest.mark.slow
def test_on_all_digits_the_gain_is_large_also_for_new_ones(tmp_path: Path) -> None:
    result = run_demo(tmp_path, lambda _: None)
    for title in ESTIMATORS:
        scores = zip(result.scores["pixels"], result.scores[title], strict=True)
        for from_pixels, from_vectors in scores:
            assert from_vectors.mean > from_pixels.mean + 0.04
    assert 30_000 < (tmp_path / "map.png").stat().st_size < 400_000


def test_the_text_tells_what_was_measured(demo: Demo) -> None:
    assert list(demo.result.scores) == ["pixels", *ESTIMATORS]
    for title, scores in demo.result.scores.items():
        assert title in demo.text
        assert all(str(score) in demo.text for score in scores)
    assert "250 known digits" in demo.text
    assert "50 new digits, never seen in training" in demo.text
    assert "nodes             350, 0 of them isolated" in demo.text
    [(n_touching, n_pixels)] = re.findall(r"for (\d+) of the (\d+) pixels", demo.text)
    assert int(n_pixels) == len(demo.result.models[FIRST].labels_["pixel"])
    assert int(n_touching) > int(n_pixels) / 3


def test_the_model_is_that_of_the_first_method_and_knows_the_first_digits_only(
    demo: Demo,
) -> None:
    model = ClosedForm.load(demo.folder / "model")
    assert len(model.nodes_) == 350
    assert list(model.label_embeddings_) == ["node", "pixel"]
    first = demo.result.models[FIRST]
    np.testing.assert_array_equal(model.node_embeddings_, first.node_embeddings_)


def test_the_map_is_a_light_png(demo: Demo) -> None:
    content = (demo.folder / "map.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert 20_000 < len(content) < 400_000


def test_the_commands_that_it_proposes_work(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = re.findall(r"^  embedprop (.*)$", demo.text, re.MULTILINE)
    assert [shlex.split(command)[0] for command in commands] == [
        "similar", "similar", "transform", "export", "fit",
    ]  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for command in commands[:-1]:
        assert main(shlex.split(command)) == 0
    assert (tmp_path / "new.parquet").exists()


def test_it_runs_again_in_the_same_folder_but_not_over_other_things(
    demo: Demo, tmp_path: Path
) -> None:
    with pytest.raises(InvalidParameterError, match="is a file"):
        run_demo(demo.folder / "map.png", print)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "thesis.txt").touch()
    with pytest.raises(InvalidParameterError, match="neither empty nor an earlier demo's"):
        run_demo(tmp_path, print)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_vectors_that_tell_the_classes_apart_score_full_marks_and_others_do_not() -> None:
    targets = np.arange(300) % 3
    perfect = np.eye(3)[targets] * 10
    assert few_examples_scores(perfect, targets, n_known=240) == (Score(1, 0), Score(1, 0))
    noise = np.random.default_rng(0).normal(size=(300, 3))
    known, new = few_examples_scores(noise, targets, n_known=240)
    assert abs(known.mean - 1 / 3) < 0.1
    assert abs(new.mean - 1 / 3) < 0.15


def test_new_digits_are_scored_apart_from_known_ones() -> None:
    targets = np.arange(300) % 3
    vectors = np.eye(3)[targets] * 10
    vectors[240:] = np.roll(vectors[240:], 1, axis=1)  # the new ones look like another class
    assert few_examples_scores(vectors, targets, n_known=240) == (Score(1, 0), Score(0, 0))


def test_a_score_is_shown_in_percent() -> None:
    assert str(Score(0.9561, 0.0104)) == "95.6 ± 1.0 %"

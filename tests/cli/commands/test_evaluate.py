"""`embedprop evaluate`: numbers with their protocol, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Shell, assert_refused
from tests.toy_graphs import TwoCliques

from embedprop import EmbeddingPropagation, Graph


@pytest.fixture(scope="session")
def cliques(two_cliques: TwoCliques, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of two cliques and classes: one per node, and several."""
    folder = tmp_path_factory.mktemp("cliques")
    model = EmbeddingPropagation(dim=8, epochs=60, batch_size=4, learning_rate=0.05, n_threads=1)
    model.fit(two_cliques.graph).save(folder / "model")
    single = [f"{node},{clique}" for node, clique in two_cliques.clique_of.items()]
    everyone = [f"{node},everyone" for node in two_cliques.clique_of]
    (folder / "classes.csv").write_text("\n".join(["node,class", *single, ""]))
    (folder / "several.csv").write_text("\n".join(["node,class", *single, *everyone, ""]))
    return folder


def test_two_cliques_are_told_apart(shell: Shell, cliques: Path) -> None:
    arguments = ["--targets", cliques / "classes.csv", "--train-share", "0.5", "--runs", 3]
    answer = shell("evaluate", cliques / "model", *arguments)
    assert answer.code == 0, answer.err
    assert "12 nodes, 2 classes, one class per node." in answer.out
    assert "10 by 3-fold cross-validation on the training nodes" in answer.out
    assert answer.out.endswith(
        "protocol\tmetric\tpercent\ntrain 50 %, 3 runs\taccuracy\t100.00 ± 0.00\n"
    )


def test_several_classes_per_node_are_scored_both_ways(shell: Shell, cliques: Path) -> None:
    arguments = ["--targets", cliques / "several.csv", "--train-share", "0.5,0.6", "--runs", 2]
    answer = shell("evaluate", cliques / "model", *arguments, "--json", "r.json", "--quiet")
    assert answer.code == 0, answer.err
    header, *rows = (line.split("\t") for line in answer.out.splitlines())
    assert header == ["protocol", "metric", "percent"]
    names = [f"{kind}-F1 {way}" for way in ("given", "predicted") for kind in ("micro", "macro")]
    assert [row[1] for row in rows] == 2 * names
    assert {row[2] for row in rows} == {"100.00 ± 0.00"}
    stored = json.loads(Path("r.json").read_text())
    assert [one["runs"] for one in stored["results"]] == 8 * [[1.0, 1.0]]
    assert any("predicted: it finds the classes itself" in note for note in stored["notes"])


def test_nodes_that_are_numbers_are_found(shell: Shell, tmp_path: Path) -> None:
    graph = Graph.from_edges([(i, (i + 1) % 8) for i in range(8)])
    EmbeddingPropagation(dim=4, epochs=2, n_threads=1).fit(graph).save(tmp_path / "numbers")
    rows = [f"{i},{'low' if i < 4 else 'high'}" for i in range(8)]
    Path("c.csv").write_text("\n".join(["node,class", *rows, ""]))
    answer = shell("evaluate", "numbers", "--targets", "c.csv", "--per-class", 2, "--runs", 1)
    assert answer.code == 0, answer.err
    assert "train 2 per class, 1 run\taccuracy\t" in answer.out


def test_unknown_nodes_are_an_error_or_ignored(shell: Shell, cliques: Path) -> None:
    text = (cliques / "classes.csv").read_text()
    Path("c.csv").write_text(text + "ghost,a\n")
    command = ["evaluate", cliques / "model", "--targets", "c.csv", "--per-class", 3, "--runs", 1]
    assert_refused(shell(*command), "c.csv", "'ghost'", "--unknown-nodes ignore")
    answer = shell(*command, "--unknown-nodes", "ignore")
    assert answer.code == 0
    assert "12 nodes, 2 classes" in answer.out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--train-share", "0.5", "--per-class", "2"], "either this or --train-share"),
        (["--train-share", "half"], "expected a number"),
        (["--train-share", "1.5"], "between 0 and 1"),
        (["--runs", "0"], "n_runs must be positive"),
        (["--per-class", "7"], "got 6 of class 'a'"),
        (["--json", "nowhere/r.json"], "does not exist. Create it first."),
        (["--unknown-nodes", "add"], "unknown_nodes='add'"),
    ],
)
def test_what_cannot_be_done_is_refused(
    shell: Shell, cliques: Path, arguments: list[str], part: str
) -> None:
    command = ["evaluate", cliques / "model", "--targets", cliques / "classes.csv"]
    assert_refused(shell(*command, *arguments), part)

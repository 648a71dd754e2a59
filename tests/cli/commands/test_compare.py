"""`embedprop compare`: methods side by side on the user's files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Shell, assert_refused
from tests.toy_graphs import TwoCliques

from embedprop.errors import InvalidParameterError
from embedprop.evaluation import comparison
from embedprop.evaluation.comparison import Task, compare, run_method
from embedprop.evaluation.protocols import Protocol
from embedprop.evaluation.provenance import peak_memory
from embedprop.evaluation.targets import Targets, targets_of

PROTOCOL = Protocol(train_share=0.5, n_runs=2)


@pytest.fixture
def files(shell: Shell, two_cliques: TwoCliques) -> None:  # noqa: ARG001 (it chooses the folder)
    graph = two_cliques.graph
    edges = {tuple(sorted((v, int(u)))) for v in range(12) for u in graph.neighbors.of(v)}
    rows = [f"{graph.nodes[v]},{graph.nodes[u]}" for v, u in sorted(edges)]
    Path("cliques.csv").write_text("\n".join(["source,target", *rows, ""]))
    classes = [f"{node},{clique}" for node, clique in two_cliques.clique_of.items()]
    Path("classes.csv").write_text("\n".join(["node,class", *classes, ""]))


@pytest.fixture
def targets(two_cliques: TwoCliques) -> Targets:
    return targets_of(two_cliques.clique_of.items(), two_cliques.graph.nodes.names)


@pytest.fixture
def task(two_cliques: TwoCliques, targets: Targets) -> Task:
    return Task(two_cliques.graph, targets, [PROTOCOL], [PROTOCOL.splits(targets)], True)


@pytest.mark.usefixtures("files")
def test_each_method_has_a_row_with_quality_time_and_memory(shell: Shell) -> None:
    command = ["compare", "cliques.csv", "--targets", "classes.csv", "--methods", "wvrn,bow"]
    options = ["--train-share", "0.5", "--runs", 2, "--json", "r.json"]
    answer = shell(*command, *options)
    assert answer.code == 2
    assert answer.err == "1 of 2 methods could not run: bow. See the table for the reasons.\n"
    assert "12, 0 of them isolated" in answer.out
    header, first, second = (line.split("\t") for line in answer.out.splitlines()[-3:])
    assert header == ["method", "protocol", "accuracy", "CPU s", "memory MB"]
    assert first[:3] == ["wvrn", "train 50 %, 2 runs", "100.00 ± 0.00"]
    assert float(first[3]) < 5
    assert 20 < int(first[4]) < 2000
    # The files have no words: the method says so, and the others run all the same.
    assert second[0] == "bow"
    assert "needs labels" in second[1]
    methods = json.loads(Path("r.json").read_text())["methods"]
    assert methods[0]["results"][0]["runs"] == [1.0, 1.0]
    assert "needs labels" in methods[1]["error"]


@pytest.mark.usefixtures("files")
def test_if_all_methods_run_the_command_succeeds(shell: Shell) -> None:
    command = ["compare", "cliques.csv", "--targets", "classes.csv", "--methods", "wvrn,majority"]
    answer = shell(*command, "--train-share", "0.5", "--runs", 1, "--quiet")
    assert (answer.code, answer.err) == (0, "")
    assert [row.split("\t")[0] for row in answer.out.splitlines()[1:]] == ["wvrn", "majority"]


def test_vectors_and_classifiers_are_measured_on_the_same_splits(task: Task) -> None:
    quick = {"epochs": 60, "dim": 8, "batch_size": 4, "learning_rate": 0.05, "n_threads": 1}
    for method, settings in (("epb", quick), ("bow", {}), ("wvrn", {})):
        (result,) = run_method(method, settings, task)["results"]
        assert result["runs"] == [1.0, 1.0], method
    (result,) = run_method("majority", {}, task)["results"]
    expected = []
    for split in task.splits[0]:
        counts = task.targets.values[split.train].sum(axis=0)
        expected.append((task.targets.classes[split.test] == counts.argmax()).mean())
    assert result["runs"] == pytest.approx(expected)


def test_a_missing_extra_is_told_with_the_command(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedprop.baselines.registry.find_spec", lambda _: None)
    record = run_method("deepwalk", {}, task)
    command = "pip install 'embedprop[baselines]'"
    assert record == {"error": f"baseline 'deepwalk' needs gensim: {command}"}


def test_a_process_that_dies_or_fails_does_not_stop_the_others(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pool:
        """A pool whose first call dies, whose second fails and whose third works."""

        calls = iter([comparison.BrokenProcessPool(), RuntimeError("odd"), None])

        def __init__(self, *_: object, **__: object) -> None: ...
        def __enter__(self) -> Pool:
            return self

        def __exit__(self, *_: object) -> None: ...
        def submit(self, *arguments: object) -> Pool:
            self.arguments = arguments
            return self

        def result(self) -> object:
            problem = next(self.calls)
            if problem is not None:
                raise problem
            function, *rest = self.arguments
            return function(*rest)  # type: ignore[operator]

    monkeypatch.setattr(comparison, "ProcessPoolExecutor", Pool)
    seen: list[str] = []
    records = compare(
        task.graph,
        task.targets,
        ["bow", "wvrn", "majority"],
        [PROTOCOL],
        report=lambda record: seen.append(record["method"]),
    )
    assert "memory ran out" in records[0]["error"]
    assert records[1]["error"] == "RuntimeError: odd"
    assert "results" in records[2]
    assert seen == ["bow", "wvrn", "majority"]


def test_peak_memory_grows_with_what_is_held() -> None:
    before = peak_memory()
    if before is None:
        pytest.skip("this system does not count it")
    held = bytearray(before)
    held[::4096] = b"x" * len(held[::4096])
    assert (peak_memory() or 0) > 1.5 * before


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (
            ["--methods", "epb,nonsense"],
            "method='nonsense' is not known. Choose among: closed-form, ",
        ),
        (["--methods", "wvrn,wvrn"], "given twice"),
        (["--methods", "wvrn", "--set", "epb.epochs=2"], "'epb', which is not compared"),
        (["--methods", "epb", "--set", "epb.speed=2"], "no setting 'speed'. It has: batch_size"),
        (["--methods", "epb", "--set", "epochs=2"], "expected METHOD.NAME=VALUE"),
        (["--methods", "eps"], "method='eps' is not known."),
        (["--unknown-nodes", "sometimes"], "unknown_nodes"),
    ],
)
@pytest.mark.usefixtures("files")
def test_mistakes_are_refused_before_the_work(
    shell: Shell, arguments: list[str], part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def worked(*_: object, **__: object) -> None:
        raise InvalidParameterError("work has begun")

    monkeypatch.setattr(comparison, "_in_own_process", worked)
    assert_refused(shell("compare", "cliques.csv", "--targets", "classes.csv", *arguments), part)


@pytest.mark.usefixtures("files")
def test_a_class_of_an_unknown_node_is_an_error(shell: Shell) -> None:
    with Path("classes.csv").open("a") as stream:
        stream.write("ghost,a\n")
    answer = shell("compare", "cliques.csv", "--targets", "classes.csv")
    assert_refused(answer, "classes.csv", "'ghost'")


@pytest.mark.usefixtures("files")
def test_if_no_method_runs_that_is_an_error(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_in_own_process", lambda *_: {"error": "no\nluck"})
    command = ["compare", "cliques.csv", "--targets", "classes.csv", "--methods", "epb"]
    answer = shell(*command, "--train-share", "0.5", "--quiet")
    assert_refused(answer, "1 of 1 methods could not run: epb. See the table for the reasons.")
    assert answer.out.splitlines()[1:] == ["epb\tno luck"]

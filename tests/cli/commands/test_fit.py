"""`embedprop fit`."""

from __future__ import annotations

import errno
import math
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import QUICK, Shell, assert_refused

from embedprop import ClosedForm, EmbeddingPropagation, Graph, Parts, load
from embedprop.estimators import ESTIMATORS

# A value other than the default for each parameter of EP-B, as typed (None: a switch) and as the
# estimator gets it.
OF_EPB: dict[str, tuple[str | None, Any]] = {
    "dim": ("node=8,word=16", {"node": 8, "word": 16}),
    "margin": ("node=0.5,word=2", {"node": 0.5, "word": 2.0}),
    "epochs": ("7", 7),
    "batch_size": ("5", 5),
    "learning_rate": ("0.01", 0.01),
    "label_types": ("word,node", ["word", "node"]),
    "max_neighbors": ("3", 3),
    "n_negatives": ("2", 2),
    "negatives": ("degree", "degree"),
    "neighborhood": ("other", "other"),
    "schedule": ("linear", "linear"),
    "pretrained": ("word=words.vec", {"word": "words.vec"}),
    "engine": ("fused(storage='disk')", "fused(storage='disk')"),
    "n_threads": ("1", 1),
    "random_state": ("none", None),
}
OF_PARTS: dict[str, tuple[str | None, Any]] = {
    "label_embedding": ("face=cnn(channels=4),age=mlp", {"face": "cnn(channels=4)", "age": "mlp"}),
    "aggregator": ("max", "max"),
    "reconstruction": ("node=sum,word=attention", {"node": "sum", "word": "attention"}),
    "distance": ("cosine", "cosine"),
    "loss": ("softmax(temperature=0.2)", "softmax(temperature=0.2)"),
    "representation": ("pagerank(restart=0.3)", "pagerank(restart=0.3)"),
    "refine": (None, False),
    "label_dropout": ("node=0,word=0.3", {"node": 0.0, "word": 0.3}),
}
OF_CLOSED_FORM: dict[str, tuple[str | None, Any]] = {
    "dim": ("node=8,word=16", {"node": 8, "word": 16}),
    "regularization": ("node=0.5,word=2", {"node": 0.5, "word": 2.0}),
    "restart": ("0.3", 0.3),
    "label_types": ("word,node", ["word", "node"]),
    "random_state": ("7", 7),
}


class ReachedError(Exception):
    """Training would begin now."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The estimators that commands make; nothing is trained."""
    seen: list[Any] = []

    def stop(model: Any, *_: object, **__: object) -> None:
        seen.append(model)
        raise ReachedError

    for estimator in ESTIMATORS.values():
        monkeypatch.setattr(estimator, "check", stop)
    return seen


def words_of(values: Mapping[str, tuple[str | None, Any]]) -> list[str]:
    words = []
    for name, (text, value) in values.items():
        option = name.replace("_", "-")
        words += [f"--no-{option}" if value is False else f"--{option}"]
        words += [] if text is None else [text]
    return words


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ClosedForm()),
        (["--method", "closed-form"], ClosedForm()),
        (["--method", "epb"], EmbeddingPropagation()),
        (["--fast"], EmbeddingPropagation.fast()),
        (["--fast", "--epochs", "7"], EmbeddingPropagation.fast(epochs=7)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_without_options_an_estimator_has_its_defaults(
    shell: Shell, asked: list[Any], options: list[str], expected: Any
) -> None:
    with pytest.raises(ReachedError):
        shell("fit", "edges.csv", "--out", "model", *options)
    [estimator] = asked
    assert type(estimator) is type(expected)
    assert estimator.get_params() == expected.get_params()


def test_edges_with_relations_are_learned_by_epb(shell: Shell, asked: list[Any]) -> None:
    Path("triples.csv").write_text("source,relation,target\nann,likes,bob\nbob,likes,cid\n")
    for words in ([], ["--columns", "source=source,target=target"]):
        with pytest.raises(ReachedError):
            shell("fit", "triples.csv", "--out", "model", *words)
    assert [type(one) for one in asked] == [EmbeddingPropagation, EmbeddingPropagation]


def test_that_is_said(shell: Shell) -> None:
    Path("triples.csv").write_text("source,relation,target\nann,likes,bob\nbob,likes,cid\n")
    answer = shell("fit", "triples.csv", "--out", "model", "--epochs", "2", "--n-threads", "1")
    assert "The edges have relations, so --method epb is used.\n" in answer.out


@pytest.mark.parametrize(
    ("method", "own", "parts"),
    [("epb", OF_EPB, OF_PARTS), ("closed-form", OF_CLOSED_FORM, {})],
    ids=["epb", "closed-form"],
)
def test_every_parameter_has_an_option(
    shell: Shell,
    asked: list[Any],
    method: str,
    own: dict[str, tuple[str | None, Any]],
    parts: dict[str, tuple[str | None, Any]],
) -> None:
    defaults = ESTIMATORS[method]().get_params(deep=False)
    # --quiet stands for verbose, and parts have options of their own.
    assert set(own) | {"verbose"} == set(defaults) - {"parts"}
    assert set(parts) == ({field.name for field in fields(Parts)} if parts else set())
    words = words_of({**own, **parts})
    with pytest.raises(ReachedError):
        shell("fit", "edges.csv", "--out", "model", "--quiet", "--method", method, *words)
    expected = {name: value for name, (_, value) in own.items()} | {"verbose": False}
    if parts:
        expected["parts"] = {name: value for name, (_, value) in parts.items()}
    [estimator] = asked
    assert estimator.get_params(deep=False) == expected
    assert not [name for name, value in expected.items() if value == defaults[name]]


@pytest.mark.parametrize(
    ("words", "flag", "method"),
    [
        (["--epochs", "3"], "--epochs", "epb"),
        (["--loss", "softmax"], "--loss", "epb"),
        (["--no-refine"], "--refine", "epb"),
        (["--targets", "classes.csv"], "--targets", "epb"),
        (["--method", "closed-form", "--fast"], "--fast", "epb"),
        (["--fast", "--restart", "0.3"], "--restart", "closed-form"),
        (["--method", "epb", "--regularization", "1"], "--regularization", "closed-form"),
    ],
)
def test_an_option_of_the_other_method_is_refused_with_the_method_to_add(
    shell: Shell, words: list[str], flag: str, method: str
) -> None:
    answer = shell("fit", "edges.csv", "--out", "m", *words)
    assert_refused(answer, f"{flag} is an option of method '{method}'", f"--method {method}")


def test_every_option_is_explained(shell: Shell) -> None:
    shown = " ".join(shell("fit", "--help").out.split())
    assert "--epochs N [epb] Passes over all nodes, 200 as in the paper. Default: 200." in shown
    assert "--restart X [closed-form] Weight of a node's own labels" in shown
    assert "None" not in shown


def test_fit_saves_what_the_estimator_learns(shell: Shell) -> None:
    graph = Graph.read("edges.csv", {"word": "words.csv"})
    expected = EmbeddingPropagation(dim=4, epochs=2, n_threads=1).fit(graph)  # compiles
    answer = shell("fit", "edges.csv", "--label", "word=words.csv", "--out", "new/model", *QUICK)
    assert answer.code == 0
    assert answer.err == ""
    loaded = EmbeddingPropagation.load("new/model")
    np.testing.assert_array_equal(loaded.node_embeddings_, expected.node_embeddings_)
    assert loaded.get_params() == expected.get_params()


def test_fit_tells_what_it_understood_where_the_model_is_and_what_to_try(shell: Shell) -> None:
    Path("edges.csv").write_text("source,target\ntwo words,b\nb,b\n")
    answer = shell("fit", "edges.csv", "--out", "a model", *QUICK)
    assert "dropped          1 self-loop" in answer.out
    assert "edges            1 undirected\n" in answer.out
    assert "The model is in a model." in answer.out
    assert "embedprop similar 'a model' 'two words'\n" in answer.out
    assert shell("similar", "a model", "two words").code == 0


def test_quiet_prints_nothing(shell: Shell) -> None:
    Path("edges.csv").write_text("source,target\na,b\nb,b\n")
    assert shell("fit", "edges.csv", "--out", "m", "--quiet", *QUICK) == (0, "", "")


def test_the_options_of_reading_reach_the_reader(shell: Shell) -> None:
    Path("arcs.txt").write_text("bob;likes;ann\nann;likes;ann\n")
    Path("nodes.csv").write_text("node\neve\n")
    Path("words.csv").write_text("node,label\nbob,tea\nzoe,jam\n")
    answer = shell(
        "fit", "arcs.txt", "--out", "m", "--directed", "--no-header", "--separator", ";",
        "--columns", "source=1,target=3", "--nodes", "nodes.csv", "--self-loops", "keep",
        "--label", "word=words.csv", "--unknown-nodes", "add", *QUICK,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert "edges            2 directed" in answer.out
    assert EmbeddingPropagation.load("m").nodes_ == ("eve", "bob", "ann", "zoe")


@pytest.mark.parametrize(
    "dims", [["--dim", "word=4"], ["--dim", "4", "--regularization", "word=2"]]
)
def test_the_closed_form_wants_settings_of_the_types_that_it_learns(
    shell: Shell, dims: list[str]
) -> None:
    command = ["fit", "edges.csv", "--label", "word=words.csv", "--method", "closed-form"]
    answer = shell(*command, "--out", "m", *dims)
    assert answer.code == 0, answer.err
    assert list(load("m").vocabularies) == ["word"]


@pytest.mark.parametrize("given", [["--dim", "node=4,word=4"], ["--regularization", "node=1"]])
def test_settings_of_ids_that_the_closed_form_leaves_aside_are_refused_before_reading(
    shell: Shell, given: list[str]
) -> None:
    command = ["fit", "missing.csv", "--label", "word=words.csv", "--method", "closed-form"]
    assert_refused(shell(*command, "--out", "m", *given), "learned", "'word'.")


def test_a_batch_larger_than_the_graph_is_one_batch(shell: Shell) -> None:
    assert shell("fit", "edges.csv", "--out", "m", "--batch-size", "999", *QUICK).code == 0


@pytest.mark.parametrize(
    ("out", "part"),
    [
        ("words.csv", "words.csv: this is a file"),
        ("words.csv/model", "is a file, so no folder can be made in it"),
        (".", "neither empty nor an embedprop model"),
        ("x" * 300, "no model can be saved there"),
        ("new/" + "x" * 300, "no model can be saved there"),
        pytest.param(
            "/proc/model",
            "no model can be saved there",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="a file system of Linux"),
        ),
    ],
)
def test_a_place_that_takes_no_model_is_refused_before_training(
    shell: Shell, asked: list[Any], out: str, part: str
) -> None:
    assert_refused(shell("fit", "edges.csv", "--out", out), part)
    assert asked == []


def test_a_full_disk_leaves_the_old_model(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("fit", "edges.csv", "--out", "m", *QUICK)
    old = EmbeddingPropagation.load("m", verify=True).node_embeddings_.copy()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("embedprop.files.folder.save.sync", full)
    answer = shell("fit", "edges.csv", "--out", "m", *QUICK, "--random-state", "1")
    assert_refused(answer, "m: the model could not be saved (No space left on device)")
    assert "[Errno" not in answer.err
    np.testing.assert_array_equal(EmbeddingPropagation.load("m", verify=True).node_embeddings_, old)


AGES = "node,value\nann,31\nbob,54\ncid,20\n"
TITLES = "node,text\nann,a rose is a rose\ndan,the sea\n"


@pytest.mark.parametrize(
    "words",
    [
        ["--loss", "softmax(temperature=0.2)", "--n-negatives", "2"],
        ["--distance", "node=cosine,word=squared_euclidean"],
        ["--aggregator", "max", "--reconstruction", "attention"],
        ["--representation", "both", "--neighborhood", "walks"],
        ["--label", "age:numeric=ages.csv", "--label-embedding", "age=mlp(hidden=8)"],
        ["--label", "title:text=titles.csv", "--label-embedding", "title=gru"],
        ["--label", "title:text=titles.csv"],
        ["--pretrained", "word=words.vec", "--no-refine"],
        ["--label-dropout", "0.5", "--schedule", "linear", "--engine", "torch(device='cpu')"],
    ],
    ids=lambda words: words[0] + words[1].partition("=")[0],
)
def test_parts_are_chosen_by_name(shell: Shell, words: list[str]) -> None:
    Path("ages.csv").write_text(AGES)
    Path("titles.csv").write_text(TITLES)
    Path("words.vec").write_text("tea 1 2 3 4\njam 5 6 7 8\n")
    command = ["fit", "edges.csv", "--label", "word=words.csv", *words, "--out", "m", *QUICK]
    answer = shell(*command)
    assert (answer.code, answer.err) == (0, "")
    model = EmbeddingPropagation.load("m", verify=True)
    assert np.isfinite(model.node_embeddings_).all()
    if "--pretrained" in words:
        tea, jam = (model.labels_["word"].index(word) for word in ("tea", "jam"))
        rows = model.label_embeddings_["word"][[tea, jam]].tolist()
        assert rows == [[1, 2, 3, 4], [5, 6, 7, 8]]
    Path("new.csv").write_text("source,target\nnew,ann\nnew,dan\n")
    new = shell("transform", "m", "--edges", "new.csv", "--out", "v.parquet")
    assert new.code == 0, new.err


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--loss", "hinge"], ["loss='hinge' is not known.", "'margin_ranking', 'softmax'"]),
        (["--loss", "word=hinge"], ["loss['word']='hinge' is not known."]),
        (["--loss", "wrod=softmax"], ["loss has an entry for 'wrod'", "'node', 'word'"]),
        (["--loss", "word=softmax(temperature=1"], ["--loss: expected a closing parenthesis"]),
        (["--loss", "softmax(heat=1)"], ["'softmax' has no parameter 'heat'"]),
        (["--aggregator", "min"], ["aggregator='min' is not known.", "'mean', 'weighted_mean'"]),
        (["--distance", "far"], ["distance='far' is not known."]),
        (["--representation", "nope"], ["representation='nope' is not known."]),
        (["--representation", "pagerank(restart=2)"], ["expected a restart above 0 and at most 1"]),
        (
            ["--representation", "mean", "--dim", "node=3,word=4"],
            ["needs the same dim for all label types"],
        ),
        (["--label-embedding", "word=cnn"], ["cannot read label type 'word'", "'lookup'"]),
        (["--engine", "fused", "--loss", "logistic"], ["engine='fused' computes only EP-B"]),
        (["--label-dropout", "1"], ["label_dropout=1.0: expected"]),
        (["--schedule", "never"], ["schedule='never' is not known."]),
    ],
)
def test_parts_that_cannot_be_are_refused_before_reading(
    shell: Shell, words: list[str], parts: list[str]
) -> None:
    command = [
        "fit",
        "missing.csv",
        "--label",
        "word=words.csv",
        "--out",
        "m",
        "--method",
        "epb",
        *words,
    ]
    assert_refused(shell(*command, *words), *parts)
    assert not Path("m").exists()


@pytest.mark.parametrize(
    ("words", "content", "parts"),
    [
        (["--pretrained", "word=v.vec"], "tea 1 2 3 4\njam 5 6\n", ["v.vec, line 2"]),
        (["--pretrained", "word=v.vec"], "tea 1 2\n", ["Label type 'word': the pretrained", "2"]),
        (["--pretrained", "word=no.vec"], "", ["no.vec"]),
        (["--pretrained", "wrod=v.vec"], "tea 1 2 3 4\n", ["lookup table ('node', 'word')"]),
        (["--targets", "v.vec"], "node,class\nann,x\neve,y\n", ["targets names the node 'eve'"]),
        (["--targets", "v.vec"], "node,class\nann,x\nann,y\n", ["'ann' has several classes"]),
        (
            ["--targets", "v.vec"],
            "node,class\nann,x\n",
            ["expected at least 2 different classes, got 1"],
        ),
        (["--engine", "torch(device='gpu')"], "", ["device='gpu' cannot be used here"]),
        (["--inverse-relations"], "", ["needs a directed graph with relations"]),
        (["--loss", "softmax(temperature=0)"], "", ["temperature=0: expected"]),
    ],
)
def test_a_mistake_leaves_nothing_half_written(
    shell: Shell, words: list[str], content: str, parts: list[str]
) -> None:
    Path("v.vec").write_text(content)
    before = sorted(path.name for path in Path().iterdir())
    command = ["fit", "edges.csv", "--label", "word=words.csv", "--out", "m", "--quiet", *QUICK]
    assert_refused(shell(*command, *words), *parts)
    assert sorted(path.name for path in Path().iterdir()) == before


def test_a_mistake_leaves_the_model_that_is_there(shell: Shell) -> None:
    shell("fit", "edges.csv", "--out", "m", *QUICK)
    before = {path.name: path.read_bytes() for path in Path("m").rglob("*") if path.is_file()}
    Path("v.vec").write_text("tea 1 2 3 4\njam 5 6\n")
    command = ["fit", "edges.csv", "--label", "word=words.csv", "--out", "m", *QUICK]
    assert shell(*command, "--pretrained", "word=v.vec").code == 2
    after = {path.name: path.read_bytes() for path in Path("m").rglob("*") if path.is_file()}
    assert after == before


LONG = ("--method", "epb", "--dim", "4", "--n-threads", "1", "--quiet")


@pytest.fixture
def ctrl_c(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """Press Ctrl-C when the epoch given by "epoch" has been computed."""
    when = {"epoch": 0}

    @contextmanager
    def progress_bar(*_: object) -> Iterator[Any]:
        def report(done: float, total: float | None, text: str) -> None:
            del total, text
            if math.ceil(done) - 1 == when["epoch"]:
                os.kill(os.getpid(), signal.SIGINT)

        yield report

    monkeypatch.setattr("embedprop.estimators.progress_bar", progress_bar)
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield when
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_saves_what_is_there(shell: Shell, ctrl_c: dict[str, int]) -> None:
    ctrl_c["epoch"] = 3
    answer = shell("fit", "edges.csv", "--out", "m", *LONG)
    assert answer.code == 130
    assert answer.err == (
        "Stopped after 4 of 200 epochs; the model holds what was learned. It is saved in m.\n"
    )
    assert len(EmbeddingPropagation.load("m").loss_history_["node"]) == 4


def test_ctrl_c_in_the_first_epoch_saves_what_is_there_too(
    shell: Shell, ctrl_c: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ctrl_c["epoch"] = 0
    # One batch of one node between two looks at the keyboard: the epoch is not over.
    monkeypatch.setattr("embedprop.methods.epb.engines.fused._WORK_PER_STEP", 1)
    answer = shell(
        "fit", "edges.csv", "--out", "m", "--method", "epb", "--dim", "4", "--n-threads", "1",
        "--batch-size", "1",
    )  # fmt: skip
    assert answer.code == 130
    assert "\nStopped after 0 of 200 epochs" in answer.err
    assert EmbeddingPropagation.load("m").node_embeddings_.shape[1] == 4


def test_ctrl_c_never_replaces_a_finished_model(shell: Shell, ctrl_c: dict[str, int]) -> None:
    arguments = ("fit", "edges.csv", "--out", "m", *LONG)
    ctrl_c["epoch"] = 99
    assert shell(*arguments, "--epochs", "5").code == 0
    ctrl_c["epoch"] = 1
    answer = shell(*arguments)
    assert answer.code == 130
    assert answer.err.endswith("It is saved in m-stopped (m holds a finished model).\n")
    assert len(EmbeddingPropagation.load("m").loss_history_["node"]) == 5
    assert len(EmbeddingPropagation.load("m-stopped").loss_history_["node"]) == 2


def test_labels_that_would_not_be_learned_are_refused_with_the_method_to_add(shell: Shell) -> None:
    Path("ages.csv").write_text(AGES)
    answer = shell("fit", "edges.csv", "--label", "age:numeric=ages.csv", "--out", "m")
    assert_refused(answer, "--label age:numeric: the closed form learns from sets", "--method epb")
    given = ["--label", "age:numeric=ages.csv", "--label-types", "node", "--out", "m"]
    assert shell("fit", "edges.csv", *given).code == 0


def test_a_model_that_will_be_replaced_is_named(shell: Shell) -> None:
    assert "holds a model" not in shell("fit", "edges.csv", "--out", "m").out
    assert (
        "m holds a model: the new one will replace it."
        in shell("fit", "edges.csv", "--out", "m").out
    )


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="pipes have no name there")
def test_edges_from_a_pipe_are_read_once_and_whole(shell: Shell) -> None:
    rows = "".join(f"{i} {(7 * i + 1) % 5000}\n" for i in range(5000))
    read, write = os.pipe()
    thread = threading.Thread(target=lambda: os.write(write, rows.encode()) and os.close(write))
    thread.start()
    answer = shell("fit", f"/dev/fd/{read}", "--no-header", "--out", "m", "--dim", "2")
    thread.join()
    os.close(read)
    assert answer.code == 0, answer.err
    assert "nodes            5,000" in answer.out


def test_a_weight_of_targets_without_targets_is_refused(shell: Shell) -> None:
    answer = shell("fit", "edges.csv", "--out", "m", *QUICK, "--target-weight", "2")
    assert_refused(answer, "--target-weight has no use without --targets")

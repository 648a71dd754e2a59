"""Parts as they are written, and as they are listed where torch is not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.instance.catalog import (
    LOSSES,
    REGISTRIES,
    Part,
    describe_part,
    parse_part,
    registry_of,
)


@pytest.mark.parametrize(
    ("kind", "text", "part"),
    [
        ("loss", "softmax", Part("softmax", {})),
        ("loss", "softmax()", Part("softmax", {})),
        ("loss", "softmax(temperature=0.2)", Part("softmax", {"temperature": 0.2})),
        ("loss", "margin_ranking( margin = 5 )", Part("margin_ranking", {"margin": 5})),
        ("label_embedding", "mlp(layers=2, hidden=8)", Part("mlp", {"layers": 2, "hidden": 8})),
        ("label_embedding", "gru(hidden=None)", Part("gru", {"hidden": None})),
        ("reconstruction", "max", Part("max", {})),
        ("loss['word']", "logistic", Part("logistic", {})),
        ("representation", "pagerank(restart=-1)", Part("pagerank", {"restart": -1})),
    ],
)
def test_a_part_is_read_with_its_parameters(kind: str, text: str, part: Part) -> None:
    assert parse_part(kind, text) == part


@pytest.mark.parametrize(
    "text",
    [
        "nope", "", " ", "softmax(", "softmax(0.2)", "softmax(temperature=open('x'))", "a.softmax",
        "softmax; softmax", "softmax[0]", "lambda: 0", None, 7, ["softmax"], "f()()",
        "softmax(temperature=__import__('os'))", "(" * 300, "\0",
    ],
)  # fmt: skip
def test_what_is_no_part_is_refused_with_the_known_ones(text: Any) -> None:
    with pytest.raises(UnknownComponentError) as caught:
        parse_part("loss", text)
    assert str(caught.value) == (
        f"loss={text!r} is not known. Choose one of: {', '.join(map(repr, LOSSES))}."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("logistic(t=1)", "'logistic(t=1)': 'logistic' has no parameter 't'. It has: 'margin'."),
        ("logistic(**{'t': 1})", "'logistic' has no parameter '**'. It has: 'margin'."),
    ],
)  # fmt: skip
def test_an_unknown_parameter_is_refused_with_the_known_ones(text: str, message: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        parse_part("loss", text)
    assert str(caught.value).endswith(message)


def test_g_tilde_is_chosen_among_the_aggregators() -> None:
    assert registry_of("reconstruction['word']").kind == "aggregator"
    with pytest.raises(UnknownComponentError, match=r"^reconstruction\['word'\]='min' is not"):
        parse_part("reconstruction['word']", "min")


@pytest.mark.parametrize(
    ("kind", "text", "meant"),
    [
        ("loss", "sofmax", "softmax"),
        ("distance['word']", "cosin(x=1)", "cosine"),
        ("engine", "fuse", "fused"),
        ("engine", "Auto", "auto"),
    ],
)
def test_the_nearest_name_is_proposed(kind: str, text: str, meant: str) -> None:
    with pytest.raises(UnknownComponentError, match=rf" Did you mean '{meant}'\?$"):
        parse_part(kind, text)


def test_the_nearest_parameter_is_proposed() -> None:
    with pytest.raises(InvalidParameterError, match=r"temprature.* Did you mean 'temperature'\?$"):
        parse_part("loss", "softmax(temprature=1)")


def test_parameters_of_an_engine_are_read_too() -> None:
    part = parse_part("engine", "fused(storage='disk', partitions=8)")
    assert (part.name, part.parameters) == ("fused", {"storage": "disk", "partitions": 8})
    with pytest.raises(InvalidParameterError, match=r"has no parameter 'device'\. It has: "):
        parse_part("engine", "fused(device='cuda')")


def test_a_description_is_the_first_line_and_the_parameters_with_defaults() -> None:
    try:

        @LOSSES.register("described here")
        class One:
            """First line.

            More.
            """

            plain = 3

            def __init__(self, shape: int, a: int = 1, *, b: int, c: str = "x") -> None: ...

        info = describe_part("loss", "described here")
        assert info.description == "First line."
        assert info.parameters == {"a": 1, "c": "x"}
    finally:
        LOSSES._parts.pop("described here", None)


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


# As where torch is not installed: it is not found, and importing it fails.
NO_TORCH = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Blocker())
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "torch" else find(name, *a)
if "embedprop.methods.epb.engines.choose" in sys.modules:
    sys.modules["embedprop.methods.epb.engines.choose"].find_spec = importlib.util.find_spec
"""


# What can be described without torch: its module does not import it.
WITHOUT_TORCH = ("negatives", "neighborhood", "representation", "engine")


def test_parts_are_listed_where_torch_is_not_installed() -> None:
    result = python(f"{NO_TORCH}\nfrom embedprop.cli.main import main\nsys.exit(main(['parts']))")
    assert result.returncode == 0, result.stderr
    shown = " ".join(result.stdout.split())
    for kind, registry in REGISTRIES.items():
        assert f"\n{kind}\n" in f"\n{result.stdout}"
        for name in registry:
            assert f"\n  {name}" in result.stdout
            if kind in WITHOUT_TORCH:
                assert describe_part(kind, name).description in shown
    assert "loss='softmax' needs torch, which is not installed. Install it with: pip" in shown


def test_epb_needs_no_torch_and_the_rest_says_what_to_install(tmp_path: Path) -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], labels={"age:numeric": {0: 1.0, 1: 2.0}})
    model = EmbeddingPropagation(dim=2, epochs=1, n_threads=1).fit(graph)
    model.save(tmp_path / "of torch")
    code = f"""
import sys
from embedprop import EmbeddingPropagation as EP, Graph
from embedprop.errors import InvalidParameterError
graph = Graph.from_edges([(0, 1), (1, 2)], relations=["a", "b"], directed=True,
                         labels={{"word": {{0: ["x"]}}, "title:text": {{1: "a b"}}}})
params = dict(dim=2, epochs=1, n_threads=1, parts=dict(representation="pagerank"))
model = EP(**params).fit(graph.with_inverses()).partial_fit(graph)
model.save({str(tmp_path / "epb")!r})
model = EP.load({str(tmp_path / "epb")!r})
model.predict_tails(0, "a")
model.transform_node([0], relations=["a"])
print("torch" in sys.modules)
{NO_TORCH}
model = EP.load({str(tmp_path / "of torch")!r})
print(model.n_parameters_, model[1].tolist(), model.similar(1, 1))
graph = Graph.from_edges([(0, 1), (1, 2)], labels={{"age:numeric": {{0: 1.0}}}})
print(EP(dim=2, epochs=1, n_threads=1).fit_transform(graph).shape)
try:
    EP(parts=dict(loss="softmax")).fit(graph)
except InvalidParameterError as error:
    print(error)
"""
    result = python(code, NUMBA_DISABLE_JIT="1")
    assert result.returncode == 0, result.stderr
    imported, loaded, shape, message = result.stdout.splitlines()
    assert imported == "False"
    assert loaded == f"{model.n_parameters_} {model[1].tolist()} {model.similar(1, 1)}"
    assert shape == "(3, 2)"
    assert "'torch' needs torch, which is not installed" in message
    assert "label type 'node' has loss='softmax'" in message
    assert "Not used: 'age' (that needs torch" in result.stderr

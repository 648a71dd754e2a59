"""Parts as they are written, and as they are found in the sources."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.instance.catalog import (
    Part,
    _info,
    _registrations,
    catalog,
    parse_part,
    registry_kind,
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
        f"loss={text!r} is not known. Choose one of: 'margin_ranking', 'softmax', 'logistic', "
        f"'decorrelation'."
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
    assert registry_kind("reconstruction['word']") == "aggregator"
    with pytest.raises(UnknownComponentError, match=r"^reconstruction\['word'\]='min' is not"):
        parse_part("reconstruction['word']", "min")


def info_of(source: str) -> Any:
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.ClassDef)
    return list(_registrations(node)), _info(node)


def test_a_class_is_read_with_its_line_parameters_and_constants() -> None:
    names, info = info_of(
        "@final\n@LOSSES.register('one')\n@LOSSES.register('two')\n@OTHERS.register(name)\n"
        "class One(Loss):\n"
        "    '''First line.\n\n    More.'''\n"
        "    kinds: ClassVar[tuple] = ('set',)\n"
        "    plain = 3\n"
        "    declared: int\n"
        "    def __init__(self, shape, a=1, *, b, c='x'): ...\n"
        "    def other(self, z=5): ...\n"
    )
    assert names == [("LOSSES", "one"), ("LOSSES", "two")]
    assert info.description == "First line."
    assert info.parameters == {"a": 1, "c": "x"}
    assert info.constants == {"kinds": ("set",), "plain": 3}


def test_a_class_without_anything_is_read_too() -> None:
    names, info = info_of("class One: ...")
    assert (names, info.description, info.parameters, info.constants) == ([], "", {}, {})


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


def test_parts_are_listed_where_torch_is_not_installed() -> None:
    result = python(f"{NO_TORCH}\nfrom embedprop.cli.main import main\nsys.exit(main(['parts']))")
    assert result.returncode == 0, result.stderr
    shown = " ".join(result.stdout.split())
    for kind, parts in catalog().items():
        assert f"\n{kind}\n" in f"\n{result.stdout}"
        for name, info in parts.items():
            assert f"\n  {name}" in result.stdout
            assert info.description in shown


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
params = dict(dim=2, epochs=1, n_threads=1, inverse_relations=True, representation="pagerank")
model = EP(**params).fit(graph).partial_fit(graph)
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
    EP(loss="softmax").fit(graph)
except InvalidParameterError as error:
    print(error)
"""
    result = python(code, NUMBA_DISABLE_JIT="1")
    assert result.returncode == 0, result.stderr
    imported, loaded, shape, message = result.stdout.splitlines()
    assert imported == "False"
    assert loaded == f"{model.n_parameters_} {model[1].tolist()} {model.similar(1, 1)}"
    assert shape == "(3, 2)"
    assert message.startswith("torch is not installed, but label type 'node' has loss='softmax'.")
    assert "Left aside (torch is not installed): 'age'" in result.stderr

"""Which engine computes: what a text names, what each refuses, and what "auto" takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.catalog import ENGINES
from embedprop.instance.epb import EPBInstance, TypeInstance
from embedprop.methods.epb.engines import choose
from embedprop.methods.epb.engines.choose import Fused, Torch, choose_engine
from embedprop.methods.epb.engines.fused import fused_learner
from embedprop.methods.epb.epochs import Learner
from embedprop.methods.epb.tables.place import Place
from embedprop.methods.epb.task import Task

EPB = EPBInstance({"node": TypeInstance(4)})


def beyond(**parts: Any) -> EPBInstance:
    return EPBInstance({"node": TypeInstance(4), "word": TypeInstance(4, **parts)})


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "find_spec", lambda _: None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fused", Fused()),
        ("fused(storage='memory')", Fused("memory")),
        ("fused(storage='disk', partitions=8)", Fused("disk", 8)),
        ("torch", Torch()),
        ("torch(device='cuda')", Torch("cuda")),
        ("auto", Fused()),
    ],
)
def test_an_engine_is_written_with_its_parameters(text: str, expected: object) -> None:
    assert choose_engine(text, EPB) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fuesd", r"^engine='fuesd' is not known\. Choose one of: 'auto', 'fused', 'torch'.* Did"),
        ("fused(8)", r"is not known"),
        (None, r"^engine=None is not known"),
        ("auto(storage='disk')", r"is not known"),
        ("fused(parts=8)", r"'fused' has no parameter 'parts'\. .* Did you mean 'partitions'\?"),
        ("torch(storage='disk')", r"'torch' has no parameter 'storage'\. It has: 'device'\.$"),
    ],
)
def test_what_cannot_be_read_is_refused(text: Any, message: str) -> None:
    with pytest.raises((UnknownComponentError, InvalidParameterError), match=message):
        choose_engine(text, EPB)


BEYOND: list[tuple[dict[str, Any], str]] = [
    ({"refine": False}, "refine=False"),
    ({"label_dropout": 0.25}, "label_dropout=0.25"),
    ({"label_embedding": "linear", "kind": "numeric"}, "label_embedding='linear'"),
    ({"aggregator": "max"}, "aggregator='max'"),
    ({"reconstruction": "attention"}, "reconstruction='attention'"),
    ({"distance": "cosine"}, "distance='cosine'"),
    ({"loss": "softmax(temperature=0.5)"}, "loss='softmax(temperature=0.5)'"),
]


@pytest.mark.parametrize(("parts", "said"), BEYOND, ids=[said for _, said in BEYOND])
def test_the_fused_engine_says_what_is_beyond_it_and_auto_takes_torch(
    parts: dict[str, Any], said: str
) -> None:
    instance = beyond(**parts)
    assert Fused().why_not(instance, False) == (
        f"computes only EP-B, but label type 'word' has {said}"
    )
    with pytest.raises(InvalidParameterError) as caught:
        choose_engine("fused", instance)
    assert str(caught.value).startswith("engine='fused' computes only EP-B, but label type 'word'")
    assert str(caught.value).endswith("Choose another, or 'auto', the first that can.")
    assert Torch().why_not(instance, False) is None
    assert choose_engine("auto", instance) == Torch()


def test_targets_are_beyond_the_fused_engine() -> None:
    said = "computes only EP-B, but targets are given"
    assert Fused().why_not(EPB, True) == said
    assert Fused().why_not(EPB, False) is None
    assert choose_engine("auto", EPB, supervised=True) == Torch()
    assert choose_engine("auto", EPB, supervised=False) == Fused()


def test_squared_distances_are_within_both() -> None:
    assert Fused().why_not(beyond(distance="squared_euclidean"), False) is None


@pytest.mark.usefixtures("without_torch")
def test_without_torch_the_torch_engine_says_how_to_get_it() -> None:
    assert choose_engine("auto", EPB) == Fused()
    needs = "needs torch, which is not installed"
    assert Torch().why_not(EPB, False) == f"{needs}: pip install 'embedprop[torch]'"
    assert Torch().why_not(EPB, True) == (
        f"{needs}, and targets are given, which needs it: pip install 'embedprop[torch]'"
    )


@pytest.mark.usefixtures("without_torch")
def test_where_no_engine_can_every_reason_is_given() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        choose_engine("auto", beyond(aggregator="max"))
    said = str(caught.value)
    assert said.startswith("No engine can compute this: 'fused' computes only EP-B, but ")
    assert "; 'torch' needs torch, which is not installed, and label type 'word' has aggr" in said
    assert said.endswith("pip install 'embedprop[torch]'.")


@dataclass(frozen=True)
class Ours:
    """An engine of somebody else's: it writes down that it was asked."""

    name: ClassVar[str] = "ours"
    asked: ClassVar[list[str]] = []

    speed: int = 1

    def why_not(self, instance: EPBInstance, supervised: bool) -> str | None:
        del instance, supervised
        self.asked.append(self.name)
        return None if self.speed else "does not move"

    def place(self, graph: LearnableGraph, instance: EPBInstance) -> Place:
        del graph, instance
        return Place()

    def learner(self, task: Task) -> AbstractContextManager[Learner]:
        return fused_learner(task)


@pytest.fixture
def registered() -> Iterator[None]:
    Ours.asked.clear()
    ENGINES.register("ours")(Ours)
    yield
    del ENGINES._parts["ours"]


@pytest.mark.usefixtures("registered")
def test_an_engine_that_was_registered_is_chosen_by_name(path: Graph) -> None:
    assert choose_engine("ours(speed=2)", EPB) == Ours(2)
    with pytest.raises(
        InvalidParameterError, match=r"^engine='ours\(speed=0\)' does not move\. Choose"
    ):
        choose_engine("ours(speed=0)", EPB)
    with pytest.raises(UnknownComponentError, match=r"'auto', 'fused', 'torch', 'ours'"):
        choose_engine("their", EPB)
    settings: dict[str, Any] = {"dim": 4, "epochs": 2, "n_threads": 1, "verbose": False}
    ours = EmbeddingPropagation(engine="ours", **settings).fit_transform(path)
    fused = EmbeddingPropagation(engine="fused", **settings).fit_transform(path)
    np.testing.assert_array_equal(ours, fused)


@pytest.mark.usefixtures("registered")
def test_auto_asks_a_registered_engine_last() -> None:
    assert list(ENGINES) == ["fused", "torch", "ours"]
    assert choose_engine("auto", EPB) == Fused()
    assert choose_engine("auto", beyond(aggregator="max")) == Torch()
    assert not Ours.asked


@pytest.mark.usefixtures("registered", "without_torch")
def test_a_registered_engine_computes_what_no_other_can() -> None:
    assert choose_engine("auto", beyond(aggregator="max")) == Ours()
    assert Ours.asked == ["ours"]

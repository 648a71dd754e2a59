"""What EP-B refuses before any work, and what it estimates."""

from __future__ import annotations

import os
import re
import signal
from typing import Any

import numpy as np
import pytest
from tests import toy_graphs

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.instance.parameters import EPBParameters
from embedprop.methods.epb.method import EPBMethod, WantedTargets
from embedprop.methods.method import Stopped
from embedprop.methods.random_streams import RandomStreams

SMALL: dict[str, Any] = {"dim": 4, "epochs": 2, "n_threads": 1, "verbose": False}


def method_of(graph: Graph, **params: Any) -> EPBMethod:
    n_relations = 0 if graph.relations is None else len(graph.relations)
    return EPBMethod.of(EPBParameters(**SMALL | params), graph.kinds, n_relations)


@pytest.mark.parametrize("engine", ["fused", "torch"])
def test_a_single_node_has_nobody_to_be_compared_with(engine: str) -> None:
    graph = Graph.from_edges([("a", "a")], self_loops="keep")
    with pytest.raises(InvalidGraphError, match="the graph needs at least 2 nodes, got 1"):
        method_of(graph, engine=engine).check(graph)
    with pytest.raises(InvalidGraphError, match="the graph needs at least 2 nodes, got 1"):
        EmbeddingPropagation(**SMALL, engine=engine).fit(graph)


@pytest.mark.parametrize("weight", [0, -1, None, "1"])
def test_the_weight_of_the_targets_is_a_checked_number(path: Graph, weight: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^target_weight=.*: expected"):
        EPBMethod.of(EPBParameters(), path.kinds, targets=WantedTargets({0: "x"}, weight))


def test_a_method_is_refused_by_the_kinds_of_label_types_alone() -> None:
    with pytest.raises(InvalidParameterError, match=r"label_types"):
        EPBMethod.of(EPBParameters(label_types=["word"]), {"node": "set"})


def test_the_learned_instance_is_known_before(messy: Graph) -> None:
    method = method_of(messy, dim={"node": 3, "word": 5}, parts={"distance": "cosine"})
    assert method.instance.dims == {"node": 3, "word": 5}
    assert method.engine.name == "torch"
    assert method.learn(messy, RandomStreams(0)).instance == method.instance


def test_more_dimensions_need_more_memory(messy: Graph) -> None:
    small, large = (method_of(messy, dim=dim).estimate(messy) for dim in (16, 160))
    assert 0 < 5 * small.needed < large.needed
    assert large.dims == {"node": 160, "word": 160}


def test_progress_is_told_in_epochs() -> None:
    told: list[tuple[float, float | None, str]] = []
    graph = toy_graphs.messy()
    method_of(graph).learn(graph, RandomStreams(0), lambda *one: told.append(one))
    assert [done for done, _, _ in told] == [1.0, 2.0]
    assert {total for _, total, _ in told} == {2}
    assert re.fullmatch(r"epoch 2/2, loss node \d\.\d{4}, word \d\.\d{4}", told[-1][2])


@pytest.mark.parametrize("engine", ["fused", "torch"])
def test_ctrl_c_raises_what_was_learned(engine: str) -> None:
    graph = toy_graphs.messy()

    def press(done: float, *_: object) -> None:
        if done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Stopped, match=r"^Stopped after 3 of 50 epochs; the model holds") as stop:
        method_of(graph, engine=engine, epochs=50).learn(graph, RandomStreams(0), press)
    three = method_of(graph, engine=engine, epochs=3).learn(graph, RandomStreams(0))
    np.testing.assert_array_equal(stop.value.model.vectors, three.vectors)

"""The solver goes through the label types one at a time, and can go on where another stopped."""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.closed_form.made import closed_form, made_graph

from embedprop import Graph
from embedprop.instance.closed_form import ClosedFormInstance, ClosedFormType
from embedprop.methods.closed_form import labels, spectrum
from embedprop.methods.closed_form.solve import Solver, needed_bytes
from embedprop.methods.random_streams import RandomStreams

TYPES = {"node": ClosedFormType(8, 0.3), "word": ClosedFormType(5, 5.0)}
INSTANCE = ClosedFormInstance(TYPES, 0.15)
ORDERS = [["node", "word"], ["word", "node"]]


@pytest.fixture(scope="module")
def graph() -> Graph:
    return made_graph(missing=True, weighted_labels=True)


@pytest.fixture(autouse=True)
def _no_dense_shortcuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first guess matter, as on large graphs."""
    monkeypatch.setattr(spectrum, "_SMALL", 0)
    monkeypatch.setattr(labels, "MAX_DENSE", 0)


def solver(graph: Graph) -> Solver:
    return Solver(graph, INSTANCE, RandomStreams(3))


def ignore(_: int) -> None:
    """Hear of progress, and say nothing."""


def bytes_of(solver: Solver) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in solver.state().items()}


def whole(graph: Graph) -> Solver:
    one = solver(graph)
    for name in one.missing():
        one.solve(name, ignore)
    return one


def test_what_is_missing_is_what_is_not_solved(graph: Graph) -> None:
    one = solver(graph)
    assert list(one.missing()) == ["node", "word"]
    one.solve("word", ignore)
    assert list(one.missing()) == ["node"]


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_a_restored_solver_ends_with_the_same_bytes(graph: Graph, order: list[str]) -> None:
    stopped, other = solver(graph), solver(graph)
    stopped.solve(order[0], ignore)
    other.restore({name: array.copy() for name, array in stopped.state().items()})
    assert list(other.missing()) == order[1:]
    for name in other.missing():
        other.solve(name, ignore)
    assert bytes_of(other) == bytes_of(whole(graph))


def test_a_state_is_arrays_that_a_file_can_hold(graph: Graph) -> None:
    state = whole(graph).state()
    assert sorted(state) == [
        "factors node", "factors word", "label_vectors word", "masses node", "masses word",
        "residual node", "residual word", "vectors node", "vectors word",
    ]  # fmt: skip
    assert all(type(array) is np.ndarray for array in state.values())
    assert state["vectors node"].shape == (graph.n_nodes, 8)
    assert state["label_vectors word"].shape == (len(graph.vocabulary("word")), 5)


def test_a_restored_state_is_the_same_state(graph: Graph) -> None:
    one, other = whole(graph), solver(graph)
    other.restore(one.state())
    assert list(other.missing()) == []
    assert bytes_of(other) == bytes_of(one)
    assert other.solved["word"].residual == one.solved["word"].residual
    assert other.solved["node"].label_vectors is None


def test_a_state_of_nothing_restores_nothing(graph: Graph) -> None:
    one = solver(graph)
    assert one.state() == {}
    one.restore({})
    assert list(one.missing()) == ["node", "word"]


def test_the_estimator_gives_what_the_solver_solves(graph: Graph) -> None:
    params = {"label_types": ["node", "word"], "random_state": 3}
    model = closed_form({"node": 8, "word": 5}, **params).fit(graph)
    found = whole(graph).state()
    np.testing.assert_array_equal(model.node_embeddings_[:, :8], found["vectors node"])
    np.testing.assert_array_equal(model.node_embeddings_[:, 8:], found["vectors word"])
    np.testing.assert_array_equal(model.label_embeddings_["word"], found["label_vectors word"])


def test_message_passes_are_told_as_they_are_made(graph: Graph) -> None:
    told: list[int] = []
    solver(graph).solve("word", told.append)
    assert told == list(range(1, len(told) + 1))
    assert told


def test_more_dimensions_need_more_memory(graph: Graph) -> None:
    wide = ClosedFormInstance({"word": ClosedFormType(50, 5.0)}, 0.15)
    narrow = ClosedFormInstance({"word": ClosedFormType(5, 5.0)}, 0.15)
    assert 0 < needed_bytes(graph, narrow) < needed_bytes(graph, wide)

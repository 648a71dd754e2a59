"""Targets: what is read of y, and the head that learns it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tests.toy_graphs import TwoCliques

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError
from embedprop.framework.heads import Head
from embedprop.graph.vocabulary import Vocabulary
from embedprop.model.heads import LearnedHead, Targets, log_softmax

NODES = Vocabulary.trusted(["a", "b", "c"])
SMALL: dict[str, Any] = {"dim": 4, "epochs": 2, "n_threads": 1, "verbose": False}


@pytest.mark.parametrize(
    ("y", "classes", "names"),
    [
        ({"c": "red", "a": "blue"}, [0, -1, 1], ("blue", "red")),
        (["red", None, "blue"], [0, -1, 1], ("red", "blue")),
        (("x", "y", "x"), [0, 1, 0], ("x", "y")),
        (np.array([3, 1, 3]), [0, 1, 0], (3, 1)),
        (np.array([0.0, np.nan, 1.0]), [0, -1, 1], (0.0, 1.0)),
        (pd.Series(["x", None, "y"]), [0, -1, 1], ("x", "y")),
        ({"a": np.nan, "b": 1, "c": 2}, [-1, 0, 1], (1, 2)),
        ([True, False, None], [0, 1, -1], (True, False)),
    ],
)
def test_y_is_a_dict_or_one_class_per_node(y: Any, classes: list[int], names: Any) -> None:
    targets = Targets.of(y, NODES, 2.5)
    assert targets.classes.tolist() == classes
    assert targets.names.names == names
    assert targets.weight == 2.5


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["x", "y"], "one class for each of the 3 nodes (None where it is not known), but came 2."),
        (["x", "y", "x", "y"], "but came 4."),
        ("abc", "or hold one class for each"),
        (7, "but came int."),
        ({"a": 1, "d": 2}, "y names the node 'd', which the graph does not have."),
        ({"a": 1}, "y has 1 different classes; at least 2 are needed"),
        ([None, None, None], "y has 0 different classes"),
        ({}, "y has 0 different classes"),
        ({"a": [1], "b": [2]}, "y must hold one class for each node, a name or a number"),
        (np.eye(3), "y must hold one class for each node, a name or a number"),
    ],
)
def test_a_bad_y_is_refused_before_training(y: Any, message: str) -> None:
    model = EmbeddingPropagation(**SMALL)
    with pytest.raises(InvalidParameterError) as caught:
        model.fit(Graph.from_edges([("a", "b"), ("b", "c")]), y=y)
    assert message in str(caught.value)
    assert not hasattr(model, "node_embeddings_")


@pytest.mark.parametrize("weight", [0, -1, None, "1"])
def test_the_weight_of_the_targets_is_a_checked_number(weight: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^target_weight=.* is not possible"):
        EmbeddingPropagation(**SMALL, target_weight=weight).fit(
            Graph.from_edges([("a", "b"), ("b", "c")]), y=["x", "y", "x"]
        )


def test_the_loss_is_the_cross_entropy_of_known_nodes_from_h_and_from_h_tilde() -> None:
    head = Head(Targets.of({"a": "x", "c": "y"}, NODES, 1.0), 2)
    with torch.no_grad():
        head.scores.weight.copy_(torch.tensor([[1.0, 0], [0, 2]]))
        head.scores.bias.copy_(torch.tensor([0.0, 1.0]))
    h, h_tilde = torch.tensor([[1.0, 0], [9, 9], [0, 1]]), torch.tensor([[2.0, 0], [9, 9], [0, 0]])
    expected = 0.0
    for x in (h, h_tilde):
        for row, right in ((0, 0), (2, 1)):
            scores = [float(x[row, 0]), 2 * float(x[row, 1]) + 1]
            expected += np.log(np.exp(scores).sum()) - scores[right]
    assert head.loss(torch.arange(3), h, h_tilde).item() == pytest.approx(expected, rel=1e-5)
    assert head.loss(torch.tensor([1]), h[1:2], h_tilde[1:2]).item() == 0


def test_log_softmax_sums_to_one_also_of_large_scores() -> None:
    logs = log_softmax(np.array([[1000.0, 1000.0], [0.0, np.log(3)]], np.float32))
    np.testing.assert_allclose(np.exp(logs), [[0.5, 0.5], [0.25, 0.75]], rtol=1e-6)
    head = LearnedHead(
        NODES, np.eye(3, dtype=np.float32), np.zeros(3, np.float32), np.empty((0, 3), np.float32)
    )
    assert head.scores_of(np.array([[5, 0, 0]], np.float32)).argmax() == 0


@pytest.fixture(scope="module")
def fitted() -> tuple[TwoCliques, EmbeddingPropagation]:
    from tests.toy_graphs import two_cliques

    cliques = two_cliques()
    model = EmbeddingPropagation(
        dim=8, epochs=40, learning_rate=0.02, n_threads=1, verbose=False, batch_size=6
    )
    return cliques, model.fit(cliques.graph, y={"a1": "red", "b1": "blue"})


def test_two_known_classes_tell_those_of_all_nodes(
    fitted: tuple[TwoCliques, EmbeddingPropagation],
) -> None:
    cliques, model = fitted
    color = {"a": "red", "b": "blue"}
    expected = [color[cliques.clique_of[node]] for node in model.nodes_]
    assert model.predict() == expected
    losses = model.loss_history_["target"]
    assert losses[-1] < 0.2 * losses[0]


def test_a_new_node_has_the_class_of_its_neighbors(
    fitted: tuple[TwoCliques, EmbeddingPropagation],
) -> None:
    _, model = fitted
    new = Graph.from_edges(
        [("n", "a1"), ("n", "a2"), ("m", "b3"), ("m", "b4")],
        labels={"word": {"o": ["sea", "sky"]}},
        unknown_nodes="add",
    )
    predicted = dict(zip(new.nodes, model.predict(new), strict=True))
    assert (predicted["n"], predicted["m"], predicted["o"]) == ("red", "blue", "blue")
    known = dict(zip(model.nodes_, model.predict(), strict=True))
    assert all(predicted[node] == known[node] for node in ("a1", "a2", "b3", "b4"))


@pytest.mark.parametrize("representation", ["mean", "both", "pagerank"])
def test_the_head_goes_with_every_representation(representation: str) -> None:
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    model = EmbeddingPropagation(**SMALL, representation=representation)
    model.fit(graph, y={"a": 1, "d": 2})
    new = Graph.from_edges([("new", "a"), ("a", "b")])
    assert len(model.predict()) == 4
    assert set(model.predict(new)) <= {1, 2}


def test_the_head_goes_with_parts_of_torch() -> None:
    graph = Graph.from_edges(
        [("a", "b"), ("b", "c"), ("c", "d")], labels={"age:numeric": {"a": 1, "d": 3.0}}
    )
    model = EmbeddingPropagation(**SMALL, reconstruction="max", aggregator={"node": "sum"})
    assert len(model.fit(graph, y=["x", None, None, "y"]).predict()) == 4


def test_a_larger_weight_lowers_the_loss_of_the_targets_more(two_cliques: TwoCliques) -> None:
    y = {node: clique for node, clique in two_cliques.clique_of.items() if node[1] in "01"}
    last = [
        EmbeddingPropagation(**(SMALL | {"epochs": 8}), target_weight=weight, learning_rate=0.01)
        .fit(two_cliques.graph, y=y)
        .loss_history_["target"][-1]
        for weight in (0.01, 20.0)
    ]
    assert last[1] < last[0]


def test_without_targets_there_is_nothing_to_predict(star_model: EmbeddingPropagation) -> None:
    with pytest.raises(InvalidParameterError, match=r"The model has no head: .*fit\(graph, y="):
        star_model.predict()


def test_targets_do_not_go_with_the_closed_form_or_the_fused_engine(path: Graph) -> None:
    y = {0: "x", 1: "y"}
    with pytest.raises(InvalidParameterError, match="y is learned by gradients, but"):
        EmbeddingPropagation(instance="eps", dim=2).fit(path, y=y)
    with pytest.raises(InvalidParameterError, match="computes EP-B alone, but targets are given"):
        EmbeddingPropagation(engine="fused", **SMALL).fit(path, y=y)


def test_a_loaded_model_predicts_the_same(
    fitted: tuple[TwoCliques, EmbeddingPropagation], tmp_path: Path
) -> None:
    _, model = fitted
    model.save(tmp_path)
    loaded = EmbeddingPropagation.load(tmp_path)
    new = Graph.from_edges([("n", "a1"), ("m", "b3")])
    assert loaded.predict() == model.predict()
    assert loaded.predict(new) == model.predict(new)

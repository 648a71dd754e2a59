"""The head that was learned with targets, and the classes that it predicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.toy_graphs import TwoCliques

from embedprop import ClosedForm, EmbeddingPropagation, Graph
from embedprop.errors import InvalidParameterError
from embedprop.graph.vocabulary import Vocabulary
from embedprop.model.model import LearnedHead, log_softmax

NODES = Vocabulary.trusted(["a", "b", "c"])
SMALL: dict[str, Any] = {"dim": 4, "epochs": 2, "n_threads": 1, "verbose": False}


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
    return cliques, model.fit(cliques.graph, targets={"a1": "red", "b1": "blue"})


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
    model = EmbeddingPropagation(**SMALL, parts={"representation": representation})
    model.fit(graph, targets={"a": 1, "d": 2})
    new = Graph.from_edges([("new", "a"), ("a", "b")])
    assert len(model.predict()) == 4
    assert set(model.predict(new)) <= {1, 2}


def test_the_head_goes_with_parts_of_torch() -> None:
    graph = Graph.from_edges(
        [("a", "b"), ("b", "c"), ("c", "d")], labels={"age:numeric": {"a": 1, "d": 3.0}}
    )
    parts = {"reconstruction": "max", "aggregator": {"node": "sum"}}
    model = EmbeddingPropagation(**SMALL, parts=parts)
    assert len(model.fit(graph, targets=["x", None, None, "y"]).predict()) == 4


def test_a_larger_weight_lowers_the_loss_of_the_targets_more(two_cliques: TwoCliques) -> None:
    some = {node: clique for node, clique in two_cliques.clique_of.items() if node[1] in "01"}
    last = [
        EmbeddingPropagation(**(SMALL | {"epochs": 8}), learning_rate=0.01)
        .fit(two_cliques.graph, targets=some, target_weight=weight)
        .loss_history_["target"][-1]
        for weight in (0.01, 20.0)
    ]
    assert last[1] < last[0]


def test_without_targets_there_is_nothing_to_predict(star_model: EmbeddingPropagation) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"The model has no head: .*fit\(graph, targets="
    ):
        star_model.predict()


def test_targets_do_not_go_with_the_fused_engine(path: Graph) -> None:
    with pytest.raises(InvalidParameterError, match="computes only EP-B, but targets are given"):
        EmbeddingPropagation(engine="fused", **SMALL).fit(path, targets={0: "x", 1: "y"})


def test_y_is_ignored(path: Graph) -> None:
    plain = EmbeddingPropagation(**SMALL).fit(path)
    with_y = EmbeddingPropagation(**SMALL).fit(path, ["x", "y", "x", "y", "x"])
    np.testing.assert_array_equal(with_y.node_embeddings_, plain.node_embeddings_)
    assert with_y.model_.head is None
    ClosedForm(dim=2).fit(path, ["x", "y", "x", "y", "x"])


def test_a_loaded_model_predicts_the_same(
    fitted: tuple[TwoCliques, EmbeddingPropagation], tmp_path: Path
) -> None:
    _, model = fitted
    model.save(tmp_path)
    loaded = EmbeddingPropagation.load(tmp_path)
    new = Graph.from_edges([("n", "a1"), ("m", "b3")])
    assert loaded.predict() == model.predict()
    assert loaded.predict(new) == model.predict(new)

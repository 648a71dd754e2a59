"""Modules of the user's own as f, g, g~, d and loss: trained as copies, and told when they fail."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from embedprop import EmbeddingPropagation, Graph, Parts
from embedprop.errors import InvalidParameterError, TrainingError
from embedprop.framework.aggregators import Messages
from embedprop.framework.losses import Compared

SMALL: dict[str, Any] = {"dim": 4, "epochs": 2, "n_threads": 1, "verbose": False}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


class Doubled(torch.nn.Module):
    """Twice a learned linear map of numbers."""

    def __init__(self, width: int = 1, dim: int = 4) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(width, dim)

    def forward(self, contents: torch.Tensor) -> torch.Tensor:
        return 2 * self.linear(contents)


class Scaled(torch.nn.Module):
    """The sum of all members times a learned number: an aggregator."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(0.5))

    def forward(self, messages: Messages) -> torch.Tensor:
        zeros = messages.vectors.new_zeros(messages.n_sets, messages.vectors.shape[1])
        return self.scale * zeros.index_add(0, messages.owners, messages.vectors)


class Taxicab(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(1.0))

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return self.scale.abs() * (a - b).abs().sum(dim=-1)


class Exponential(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.shift = torch.nn.Parameter(torch.tensor(1.0))

    def forward(self, compared: Compared) -> torch.Tensor:
        return (compared.own + self.shift - compared.negative.mean(dim=1)).exp()


NUMBERS = Graph.from_edges(
    [(i, (i + j) % 8) for i in range(8) for j in (1, 3)],
    nodes=range(8),
    labels={"age:numeric": {i: float(i % 4) for i in range(7)}},
)
OWN_PARTS = {
    "label_embedding": Doubled,
    "aggregator": Scaled,
    "reconstruction": Scaled,
    "distance": Taxicab,
    "loss": Exponential,
}


@pytest.mark.parametrize("part", OWN_PARTS)
@pytest.mark.parametrize("as_dict", [False, True])
def test_a_module_of_the_user_s_own_is_trained_as_a_copy(part: str, as_dict: bool) -> None:
    module = OWN_PARTS[part]()
    before = {key: value.clone() for key, value in module.state_dict().items()}
    given = {"age": module} if as_dict else module
    parts = {"reconstruction": "max", part: given}
    model = EmbeddingPropagation(**SMALL, learning_rate=0.05, parts=parts).fit(NUMBERS)
    name = type(module).__name__
    assert getattr(model.instance_.label_types["age"], part) == f"custom {name}"
    for key, value in module.state_dict().items():
        assert torch.equal(value, before[key])
    field = {"label_embedding": "f", "aggregator": "g", "reconstruction": "g_tilde",
             "distance": "d", "loss": "loss"}[part]  # fmt: skip
    trained = getattr(model.modules_["age"], field)
    assert type(trained) is type(module)
    assert trained is not module
    assert any((value != before[key]).any() for key, value in trained.state_dict().items())


def test_a_plain_function_is_a_part_too(star_with_words: Graph) -> None:
    ours = EmbeddingPropagation(
        **SMALL, parts={"distance": lambda a, b: torch.linalg.vector_norm(a - b, dim=-1)}
    ).fit(star_with_words)
    theirs = EmbeddingPropagation(**SMALL, engine="torch").fit(star_with_words)
    np.testing.assert_allclose(ours.node_embeddings_, theirs.node_embeddings_, rtol=1e-4, atol=1e-6)


def test_an_f_of_the_user_s_own_reads_the_ids_of_a_set(star_with_words: Graph) -> None:
    table = torch.nn.Embedding(4, 4)  # three words and a dummy
    parts = Parts(label_embedding={"word": table})
    model = EmbeddingPropagation(**SMALL, parts=parts).fit(star_with_words)
    moved = model.label_embeddings_["word"] - table.weight.detach().numpy()[:3]
    assert 0 < np.abs(moved).max() < 0.01
    fixed = EmbeddingPropagation(**SMALL, parts=replace(parts, refine=False))
    fixed.fit(star_with_words)
    np.testing.assert_array_equal(fixed.label_embeddings_["word"], table.weight.detach()[:3])


def test_refine_false_keeps_an_own_f_and_trains_the_rest() -> None:
    module = Doubled()
    parts = {"label_embedding": {"age": module}, "refine": False}
    model = EmbeddingPropagation(**SMALL, parts=parts)
    start = EmbeddingPropagation(**(SMALL | {"epochs": 0})).fit(NUMBERS)
    model.fit(NUMBERS)
    with torch.no_grad():
        expected = module(torch.arange(7.0)[:, None] % 4).numpy()
    np.testing.assert_allclose(model.label_embeddings_["age"], expected, rtol=1e-6)
    assert (model.label_embeddings_["node"] != start.label_embeddings_["node"]).any()
    dummy = model.node_embeddings_[7, 4:] - start.node_embeddings_[7, 4:]
    assert dummy.any()


class TestBadModules:
    @staticmethod
    def refused(error: type[Exception], parts: Any = None, **params: Any) -> str:
        model = EmbeddingPropagation(**SMALL | params, parts=parts)
        with pytest.raises(error) as caught:
            model.fit(NUMBERS)
        assert not hasattr(model, "node_embeddings_")
        return str(caught.value)

    @pytest.mark.parametrize("part", ["label_embedding", "aggregator", "reconstruction"])
    def test_another_width_names_part_label_type_and_shapes(self, part: str) -> None:
        wrong = {
            "label_embedding": Doubled(dim=5),
            "aggregator": lambda m: m.vectors.new_zeros(m.n_sets, 5),
            "reconstruction": lambda m: m.vectors.new_zeros(m.n_sets, 5),
        }[part]
        message = self.refused(InvalidParameterError, {part: {"age": wrong}})
        assert message.startswith(f"{part}='custom ")
        assert "of label type 'age' must return" in message
        assert "vectors of dim 4" in message
        assert ", 5). Change the module's output" in message

    def test_what_is_no_tensor_is_told(self) -> None:
        message = self.refused(InvalidParameterError, {"aggregator": {"age": lambda _: None}})
        assert "but returned NoneType" in message

    @pytest.mark.parametrize("distance", [lambda a, b: a - b, lambda a, b: (a - b).sum()])
    def test_a_distance_of_another_shape(self, distance: Any) -> None:
        message = self.refused(InvalidParameterError, {"distance": {"age": distance}})
        assert message.startswith("distance='custom function' of label type 'age' must return one")

    @pytest.mark.parametrize("loss", [lambda c: c.own.sum(), lambda c: c.negative])
    def test_a_loss_of_another_shape(self, loss: Any) -> None:
        message = self.refused(InvalidParameterError, {"loss": {"age": loss}}, n_negatives=2)
        assert message.startswith("loss='custom function' of label type 'age' must return one")

    @pytest.mark.parametrize("value", ["nan", "inf"])
    def test_a_loss_that_is_not_finite(self, value: str) -> None:
        message = self.refused(TrainingError, {"loss": {"age": lambda c: c.own * float(value)}})
        assert message.startswith(f"loss='custom function' of label type 'age' is {value}. Lower")

    def test_a_rate_that_makes_vectors_infinite(self) -> None:
        message = self.refused(TrainingError, learning_rate=1e38, engine="torch", batch_size=99)
        assert "label type" in message
        assert "ower" in message

    def test_a_parameter_that_cannot_be(self) -> None:
        message = self.refused(InvalidParameterError, {"loss": "softmax(temperature=0)"})
        assert message == "temperature=0: expected a finite number above 0, got 0."

    def test_weights_of_edges_do_not_go_with_walks(self) -> None:
        message = self.refused(
            InvalidParameterError, {"reconstruction": "weighted_mean"}, neighborhood="walks"
        )
        assert "'weighted_mean' of label type 'node' learns a weight for each edge, but" in message

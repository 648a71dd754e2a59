"""The losses against numbers computed by hand; a new one is tested by being registered."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from tests.registered import names_of

from embedprop.errors import InvalidParameterError
from embedprop.framework.losses import Compared, Head, Loss
from embedprop.instance.catalog import LOSSES, describe_part

every_loss = pytest.mark.parametrize("name", list(LOSSES))
OWN, NEGATIVE = [0.5, 2.0], [[1.0, 3.0], [0.1, 2.5]]


def softplus(x: float) -> float:
    return math.log1p(math.exp(x))


# Of OWN and NEGATIVE, by the formulas of the docstrings.
EXPECTED = {
    ("margin_ranking", ()): [0.5, (1 + 2 - 0.1) + (1 + 2 - 2.5)],
    ("margin_ranking", (("margin", 0.5),)): [0.0, (0.5 + 2 - 0.1) + 0.0],
    ("softmax", ()): [
        -math.log(math.exp(-0.5) / (math.exp(-0.5) + math.exp(-1) + math.exp(-3))),
        -math.log(math.exp(-2) / (math.exp(-2) + math.exp(-0.1) + math.exp(-2.5))),
    ],
    ("softmax", (("temperature", 0.5),)): [
        -math.log(math.exp(-1) / (math.exp(-1) + math.exp(-2) + math.exp(-6))),
        -math.log(math.exp(-4) / (math.exp(-4) + math.exp(-0.2) + math.exp(-5))),
    ],
    # As if each negative had been drawn three times.
    ("softmax", (("negative_weight", 3.0),)): [
        -math.log(math.exp(-0.5) / (math.exp(-0.5) + 3 * math.exp(-1) + 3 * math.exp(-3))),
        -math.log(math.exp(-2) / (math.exp(-2) + 3 * math.exp(-0.1) + 3 * math.exp(-2.5))),
    ],
    ("logistic", ()): [
        softplus(-0.5) + softplus(0) + softplus(-2),
        softplus(1) + softplus(0.9) + softplus(-1.5),
    ],
    ("logistic", (("margin", 3.0),)): [
        softplus(-2.5) + softplus(2) + softplus(0),
        softplus(-1) + softplus(2.9) + softplus(0.5),
    ],
}


def compared(n: int = 6, dim: int = 3, seed: int = 0, n_negatives: int = 2) -> Compared:
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    return Compared(drawn(n).abs(), drawn(n, n_negatives).abs(), drawn(n, dim), drawn(n, dim))


def test_every_loss_of_the_sources_is_tested_here() -> None:
    by_hand = {name for name, _ in EXPECTED} | {"decorrelation"}
    assert by_hand == names_of(LOSSES)
    tested = {(name, key) for name, parameters in EXPECTED for key, _ in parameters}
    tested |= {("decorrelation", "weight")}
    assert tested == {
        (n, key) for n in names_of(LOSSES) for key in describe_part("loss", n).parameters
    }


@pytest.mark.parametrize(("name", "parameters"), EXPECTED)
def test_it_equals_what_the_formula_gives_by_hand(
    name: str, parameters: tuple[tuple[str, float], ...]
) -> None:
    none = torch.empty(2, 0)
    given = Compared(torch.tensor(OWN), torch.tensor(NEGATIVE), none, none)
    each = LOSSES[name](**dict(parameters))(given)
    assert each.tolist() == pytest.approx(EXPECTED[name, parameters], rel=1e-6)


@every_loss
def test_every_node_has_one_finite_loss(name: str) -> None:
    each = LOSSES[name]()(compared())
    assert each.shape == (6,)
    assert torch.isfinite(each).all()


@every_loss
def test_gradients_equal_finite_differences(name: str) -> None:
    # Distances are 0.3 or more from any corner of the ranking loss.
    given = compared()._replace(
        own=torch.linspace(0.1, 2, 6, dtype=torch.float64),
        negative=torch.linspace(0.4, 4, 12, dtype=torch.float64).view(6, 2).flip(0),
    )
    inputs = [value.requires_grad_() for value in given]
    loss = LOSSES[name]()
    assert torch.autograd.gradcheck(lambda *x: loss(Compared(*x)), inputs)
    read = inputs[:2] if LOSSES[name].uses_negatives else inputs[2:]
    grads = torch.autograd.grad(loss(given).sum(), read)
    assert all(grad.abs().max() > 0 for grad in grads)


@every_loss
def test_only_a_loss_that_reads_negatives_says_so(name: str) -> None:
    given, loss = compared(), LOSSES[name]()
    others = given._replace(negative=given.negative + 0.5)
    assert torch.equal(loss(given), loss(others)) is not LOSSES[name].uses_negatives


@pytest.mark.parametrize("name", ["margin_ranking", "softmax", "logistic"])
def test_it_falls_when_v_comes_nearer_or_u_goes_away(name: str) -> None:
    given, loss = compared(), LOSSES[name]()
    nearer = loss(given._replace(own=given.own - 0.3))
    away = loss(given._replace(negative=given.negative + 0.3))
    for other in (nearer, away):
        assert (other <= loss(given)).all()
        assert (other < loss(given)).any()


@pytest.mark.parametrize("name", ["margin_ranking", "softmax", "logistic"])
def test_far_distances_do_not_overflow(name: str) -> None:
    given = compared()
    given = given._replace(own=given.own * 1e6, negative=given.negative * 1e6)
    assert torch.isfinite(LOSSES[name]()(given)).all()


class TestDecorrelation:
    def test_it_is_the_difference_and_the_correlations_of_standardized_columns(self) -> None:
        given = compared(8, 3, 1)
        z_tilde, z = (
            (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-6)
            for x in (given.reconstructed.numpy(), given.embedding.numpy())
        )
        expected = []
        for v in range(8):
            value = sum((z_tilde[v, i] - z[v, i]) ** 2 for i in range(3))
            for table in (z_tilde, z):
                for i in range(3):
                    for j in range(3):
                        if i != j:
                            value += 0.01 * np.mean(table[:, i] * table[:, j]) ** 2
            expected.append(value)
        each = LOSSES["decorrelation"](weight=0.01)(given)
        np.testing.assert_allclose(each.numpy(), expected, rtol=1e-9)

    def test_equal_and_uncorrelated_vectors_lose_nothing(self) -> None:
        x = torch.tensor([[1.0, 1], [1, -1], [-1, 1], [-1, -1]], dtype=torch.float64)
        given = Compared(torch.empty(4), torch.empty(4, 1), 3 * x + 5, x)
        assert LOSSES["decorrelation"]()(given).abs().max() < 1e-9

    def test_a_second_copy_of_a_dimension_costs(self) -> None:
        x = torch.tensor([[1.0, 1], [-1, -1]], dtype=torch.float64)
        given = Compared(torch.empty(2), torch.empty(2, 1), x, x)
        # The correlations are 1, twice in each of z~ and z.
        assert LOSSES["decorrelation"](weight=0.5)(given).tolist() == pytest.approx([2, 2], 1e-4)

    def test_a_constant_dimension_is_zero_and_a_single_node_is_finite(self) -> None:
        x = torch.tensor([[1.0, 7], [-1, 7]])
        assert torch.isfinite(LOSSES["decorrelation"]()(Compared(x[:, 0], x, x, x))).all()
        assert LOSSES["decorrelation"]()(Compared(x[:1, 0], x[:1], x[:1], x[:1])).item() == 0

    def test_collapsed_vectors_have_finite_gradients(self) -> None:
        x = torch.ones(3, 2, requires_grad=True)
        LOSSES["decorrelation"]()(Compared(x[:, 0], x, x, 2 * x)).sum().backward()
        assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize(
    ("name", "parameter"),
    [(name, key) for name in LOSSES for key in describe_part("loss", name).parameters],
)
@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, "1", None])
def test_every_parameter_is_a_checked_number(name: str, parameter: str, bad: object) -> None:
    with pytest.raises(InvalidParameterError, match=rf"^{parameter}=.*: expected"):
        LOSSES[name](**{parameter: bad})


@pytest.mark.parametrize("loss", ["margin_ranking", "softmax", "decorrelation"])
def test_nothing_is_no_parameter(loss: str) -> None:
    for parameter in describe_part("loss", loss).parameters:
        with pytest.raises(InvalidParameterError, match=rf"^{parameter}=0: expected"):
            LOSSES[loss](**{parameter: 0})


def test_where_distances_can_be_negative_the_margin_may_be_nothing() -> None:
    none = torch.empty(1, 0)
    given = Compared(torch.tensor([-0.5]), torch.tensor([[2.0]]), none, none)
    expected = softplus(-0.5) + softplus(-2.0)
    assert LOSSES["logistic"](margin=0)(given).item() == pytest.approx(expected)


def test_the_base_is_abstract() -> None:
    with pytest.raises(NotImplementedError):
        Loss()(compared())


def test_the_loss_is_the_cross_entropy_of_known_nodes_from_h_and_from_h_tilde() -> None:
    head = Head(np.array([0, -1, 1]), n_classes=2, width=2)
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

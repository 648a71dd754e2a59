"""d: one formula in two shapes and two libraries; a new one is tested by being registered."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.registered import names_of

from embedprop.framework.distances import Distance
from embedprop.instance.catalog import DISTANCES
from embedprop.model.search import WITHOUT_TORCH, distance_between

every_distance = pytest.mark.parametrize("name", list(DISTANCES))
Vector = list[float]


def dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def squared(a: Vector, b: Vector) -> float:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


PLAIN: dict[str, Callable[[Vector, Vector], float]] = {
    "euclidean": lambda a, b: math.sqrt(squared(a, b)),
    "squared_euclidean": squared,
    "cosine": lambda a, b: 1 - dot(a, b) / math.sqrt(dot(a, a) * dot(b, b)),
    "negative_dot": lambda a, b: -dot(a, b),
}


def drawn(n: int, dim: int = 3, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, dim, generator=generator, dtype=torch.float64)


def test_every_distance_of_the_sources_is_tested_here() -> None:
    assert set(PLAIN) == names_of(DISTANCES)


@every_distance
def test_it_equals_the_plain_formula(name: str) -> None:
    a, b = drawn(5, seed=1), drawn(5, seed=2)
    expected = [PLAIN[name](x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert DISTANCES[name]()(a, b).tolist() == pytest.approx(expected)


@every_distance
@given(n=st.integers(0, 5), m=st.integers(0, 5), dim=st.integers(1, 6), seed=st.integers(0, 99))
def test_between_all_pairs_equals_the_broadcast_form(
    name: str, n: int, m: int, dim: int, seed: int
) -> None:
    d, a, b = DISTANCES[name](), drawn(n, dim, seed), drawn(m, dim, seed + 1)
    torch.testing.assert_close(d.between(a, b), d(a[:, None], b[None]), rtol=1e-6, atol=1e-6)


@every_distance
def test_other_dimensions_are_broadcast(name: str) -> None:
    a, b = drawn(4), drawn(8, seed=1).view(4, 2, 3)
    assert DISTANCES[name]()(a[:, None], b).shape == (4, 2)


@every_distance
def test_the_distances_of_links_are_the_same(name: str) -> None:
    a, b = drawn(6, 4, 1).float(), drawn(3, 4, 2).float()
    b[0], a[1] = a[0], 0
    ours = distance_between(name, "word")(a.numpy(), b.numpy())
    assert ours.dtype == np.float32
    # Of equal vectors a matrix product leaves some of the last digits, and the root enlarges them.
    np.testing.assert_allclose(ours, DISTANCES[name]().between(a, b), rtol=1e-5, atol=1e-3)
    far = ~np.eye(6, 3, dtype=bool)
    np.testing.assert_allclose(
        ours[far], DISTANCES[name]()(a[:, None], b[None]).numpy()[far], rtol=1e-5, atol=1e-6
    )


def test_our_own_distances_are_measured_without_torch() -> None:
    assert set(WITHOUT_TORCH) == set(DISTANCES)


def test_vectors_that_are_only_for_reading_are_measured_too() -> None:
    a, b = (one.float().numpy() for one in (drawn(2), drawn(3, seed=1)))
    a.flags.writeable = b.flags.writeable = False  # as those of a loaded model
    for name in names_of(DISTANCES):
        assert distance_between(name, "word")(a, b).shape == (2, 3)


@every_distance
@pytest.mark.parametrize("form", ["pairs", "between"])
def test_gradients_equal_finite_differences(name: str, form: str) -> None:
    a, b = drawn(3, seed=3).requires_grad_(), drawn(3, seed=4).requires_grad_()
    d = DISTANCES[name]()
    function = d if form == "pairs" else d.between
    assert torch.autograd.gradcheck(function, (a, b))
    assert torch.autograd.grad(function(a, b).sum(), a)[0].abs().max() > 0


@every_distance
@pytest.mark.parametrize("form", ["pairs", "between"])
@pytest.mark.parametrize("value", [0.0, 0.5])
def test_the_gradient_of_equal_vectors_is_finite(name: str, form: str, value: float) -> None:
    a = torch.full((2, 3), value, requires_grad=True)
    b = torch.full((2, 3), value, requires_grad=True)
    d = DISTANCES[name]()
    (d if form == "pairs" else d.between)(a, b).sum().backward()
    assert torch.isfinite(a.grad).all()
    if "euclidean" in name:
        assert not a.grad.any()


@every_distance
def test_the_nearer_is_smaller(name: str) -> None:
    v = torch.tensor([1.0, 0.0])
    near, far = torch.tensor([0.9, 0.1]), torch.tensor([-0.5, 0.5])
    assert DISTANCES[name]()(v, near) < DISTANCES[name]()(v, far)


def test_cosine_with_nothing_is_one() -> None:
    zeros, ones = torch.zeros(1, 2), torch.ones(1, 2)
    d = DISTANCES["cosine"]()
    assert d(zeros, ones).item() == d.between(zeros, ones).item() == 1
    assert distance_between("cosine", "word")(zeros.numpy(), ones.numpy()).item() == 1


def test_a_distance_of_the_user_s_own_needs_one_formula_only() -> None:
    class Taxicab(Distance):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return (a - b).abs().sum(dim=-1)

    a, b = drawn(2), drawn(4, seed=1)
    assert Taxicab().between(a, b)[1, 3] == pytest.approx((a[1] - b[3]).abs().sum())
    with pytest.raises(NotImplementedError):
        Distance()(a, b)

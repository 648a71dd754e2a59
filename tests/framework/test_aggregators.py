"""g and g~ equal plain loops, whatever the sets are; a new one is tested by being registered."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.registered import names_of
from tests.strategies import multisets
from torch import Tensor
from torch.func import functional_call

from embedprop.framework.aggregators import (
    Aggregator,
    Messages,
    segment_mean,
    segment_sum,
)
from embedprop.graph.multisets import Multisets
from embedprop.instance.catalog import AGGREGATORS

DIM, N_EDGES = 3, 7
VECTORS = np.random.default_rng(0).normal(size=(9, DIM))
every_aggregator = pytest.mark.parametrize("name", list(AGGREGATORS))

# One member: (vector, weight, edge). A set of them becomes a list of DIM numbers.
Member = tuple[list[float], float, int]


def mean(members: list[tuple[list[float], float]]) -> list[float]:
    total = sum(weight for _, weight in members)
    return [sum(v[i] * weight for v, weight in members) / total for i in range(DIM)]


def plain_mean(aggregator: Aggregator, members: list[Member]) -> list[float]:
    del aggregator
    return mean([(v, weight) for v, weight, _ in members])


def plain_weighted_mean(aggregator: Aggregator, members: list[Member]) -> list[float]:
    logs = aggregator.log_factors.tolist()
    return mean([(v, weight * (math.exp(logs[e]) if e >= 0 else 1.0)) for v, weight, e in members])


def plain_sum(aggregator: Aggregator, members: list[Member]) -> list[float]:
    del aggregator
    return [sum(v[i] * weight for v, weight, _ in members) for i in range(DIM)]


def plain_max(aggregator: Aggregator, members: list[Member]) -> list[float]:
    del aggregator
    return [max(v[i] for v, _, _ in members) for i in range(DIM)]


def plain_attention(aggregator: Aggregator, members: list[Member]) -> list[float]:
    query = aggregator.query.tolist()
    return mean(
        [
            (v, weight * math.exp(sum(q * x for q, x in zip(query, v, strict=True))))
            for v, weight, _ in members
        ]
    )


PLAIN: dict[str, Callable[[Aggregator, list[Member]], list[float]]] = {
    "mean": plain_mean,
    "weighted_mean": plain_weighted_mean,
    "sum": plain_sum,
    "max": plain_max,
    "attention": plain_attention,
}


def made(name: str, seed: int = 0) -> Aggregator:
    """An aggregator whose parameters are not those of the start."""
    aggregator = AGGREGATORS[name](dim=DIM, n_edges=N_EDGES).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in aggregator.parameters():
            parameter.normal_(generator=generator)
    return aggregator


def messages_of(sets: Multisets, order: list[int] | None = None) -> Messages:
    """The members of all sets in some order; each third comes over an edge that is new."""
    order = list(range(sets.n_values)) if order is None else order
    weights = np.ones(sets.n_values) if sets.weights is None else sets.weights.astype(np.float64)
    owners = np.repeat(np.arange(sets.n_sets), sets.sizes)
    edges = np.where(np.arange(sets.n_values) % 3 == 2, -1, np.arange(sets.n_values) % N_EDGES)
    arrays = (VECTORS[sets.ids], weights, owners, edges)
    return Messages(*(torch.from_numpy(array[order]) for array in arrays), sets.n_sets)


def test_every_aggregator_of_the_sources_is_tested_here() -> None:
    assert set(PLAIN) == names_of(AGGREGATORS)


@every_aggregator
@given(sets=multisets())
def test_it_equals_a_plain_loop_and_an_empty_set_has_zeros(name: str, sets: Multisets) -> None:
    aggregator, messages = made(name), messages_of(sets)
    out = aggregator(messages).tolist()
    assert len(out) == sets.n_sets
    for i in range(sets.n_sets):
        members = [
            (messages.vectors[j].tolist(), float(messages.weights[j]), int(messages.edges[j]))
            for j in range(sets.n_values)
            if messages.owners[j] == i
        ]
        expected = PLAIN[name](aggregator, members) if members else [0.0] * DIM
        assert out[i] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@every_aggregator
@given(sets=multisets(), random=st.randoms(use_true_random=False))
def test_the_order_of_the_members_does_not_matter(
    name: str, sets: Multisets, random: Random
) -> None:
    aggregator, order = made(name), list(range(sets.n_values))
    random.shuffle(order)
    torch.testing.assert_close(
        aggregator(messages_of(sets, order)), aggregator(messages_of(sets)), rtol=1e-9, atol=1e-12
    )


@every_aggregator
def test_gradients_equal_finite_differences(name: str) -> None:
    sets = Multisets.from_lists([[0, 1, 2], [], [3, 4, 5, 1], [6]],
                                weights=[[1, 2, 0.5], [], [1, 1, 3, 2], [4]])  # fmt: skip
    aggregator, messages = made(name), messages_of(sets)
    names = [parameter for parameter, _ in aggregator.named_parameters()]
    values = [value.detach().clone().requires_grad_() for value in aggregator.parameters()]
    vectors = messages.vectors.clone().requires_grad_()

    def out(vectors: Tensor, *parameters: Tensor) -> Tensor:
        given = dict(zip(names, parameters, strict=True))
        result: Tensor = functional_call(aggregator, given, (messages._replace(vectors=vectors),))
        return result

    assert torch.autograd.gradcheck(out, (vectors, *values))
    grads = torch.autograd.grad(out(vectors, *values).square().sum(), (vectors, *values))
    assert all(grad.abs().max() > 0 for grad in grads)


@every_aggregator
def test_it_keeps_the_type_of_the_numbers(name: str) -> None:
    aggregator = AGGREGATORS[name](dim=DIM, n_edges=N_EDGES)
    messages = messages_of(Multisets.from_lists([[0, 1], [2]]))
    floats = messages._replace(vectors=messages.vectors.float(), weights=messages.weights.float())
    assert aggregator(floats).dtype == torch.float32


@every_aggregator
@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_extreme_vectors_stay_finite(name: str, size: float) -> None:
    messages = messages_of(Multisets.from_lists([[0, 1, 2], [3]]))
    messages = messages._replace(vectors=messages.vectors * size)
    assert torch.isfinite(made(name)(messages)).all()


@pytest.mark.parametrize("name", ["weighted_mean", "attention"])
def test_what_learns_weights_starts_as_the_mean(name: str) -> None:
    sets = Multisets.from_lists([[0, 1, 2], [3, 4]], weights=[[1, 2, 3], [4, 5]])
    start = AGGREGATORS[name](dim=DIM, n_edges=N_EDGES).double()
    torch.testing.assert_close(start(messages_of(sets)), made("mean")(messages_of(sets)))


@pytest.mark.parametrize("name", list(AGGREGATORS))
def test_an_aggregator_of_edges_says_so(name: str) -> None:
    sizes = {parameter.numel() for parameter in AGGREGATORS[name](2, 123).parameters()}
    assert AGGREGATORS[name].uses_edges is (123 in sizes)


def test_sums_and_means_of_segments() -> None:
    values, owners = torch.tensor([1.0, 2.0, 5.0]), torch.tensor([2, 0, 2])
    assert segment_sum(values, owners, 3).tolist() == [2, 0, 6]
    vectors, edges = torch.tensor([[6.0], [3.0], [12.0]]), torch.arange(3)
    messages = Messages(vectors, values, owners, edges, 3)
    assert segment_mean(messages, values).flatten().tolist() == pytest.approx(
        [3, 0, 6 / 6 + 12 * 5 / 6], nan_ok=True
    )
    assert segment_sum(values[:0], owners[:0], 2).tolist() == [0, 0]


def test_the_base_is_abstract() -> None:
    with pytest.raises(NotImplementedError):
        Aggregator(2, 3)(messages_of(Multisets.from_lists([[0]])))

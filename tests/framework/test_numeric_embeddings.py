from __future__ import annotations

import numpy as np
import pytest
import torch

from embedprop.framework.numeric_embeddings import (
    PiecewiseLinearEmbedding,
    QuantileBinsEmbedding,
    quantiles,
)


def column(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float32)[:, None]


def test_numbers_fall_into_bins_of_equally_many_training_labels() -> None:
    f = QuantileBinsEmbedding((1,), 2, n_bins=4)
    f.adapt(column(0, 1, 2, 3, 4))  # quartiles 1, 2, 3
    assert f.edges.tolist() == [[1, 2, 3]]
    seen = column(-1e30, 0, 0.99, 1, 1.5, 2, 3, 99)
    assert f.bins(seen)[:, 0].tolist() == [0, 0, 0, 1, 1, 2, 3, 3]
    torch.testing.assert_close(f(column(1.5))[0], f.table[1])


def test_the_vectors_of_the_columns_bins_are_summed() -> None:
    f = QuantileBinsEmbedding((2,), 3, n_bins=2)
    f.adapt(torch.tensor([[0.0, 10.0], [1.0, 30.0]]))  # medians 0.5 and 20
    torch.testing.assert_close(f(torch.tensor([[1.0, 10.0]]))[0], f.table[1] + f.table[2 + 0])


def test_every_bin_holds_equally_many_different_numbers() -> None:
    numbers = np.random.default_rng(0).lognormal(sigma=3, size=(500, 3)).astype(np.float32)
    f = QuantileBinsEmbedding((3,), 2, n_bins=10)
    f.adapt(torch.from_numpy(numbers))
    for bins in f.bins(torch.from_numpy(numbers)).T:
        assert torch.bincount(bins, minlength=10).tolist() == [50] * 10


@pytest.mark.parametrize("share_of_ones", [0.03, 0.5, 0.97])
def test_a_rare_value_beside_a_frequent_one_has_a_bin_of_its_own(share_of_ones: float) -> None:
    n_ones = int(100 * share_of_ones)
    f = QuantileBinsEmbedding((1,), 2, n_bins=8)
    f.adapt(column(*[0.0] * (100 - n_ones), *[1.0] * n_ones))
    bins = f.bins(column(-1, 0, 1, 2))[:, 0].tolist()
    assert bins[1] != bins[2]
    assert bins == sorted(bins)


def test_a_value_that_several_quantiles_share_is_alone_in_its_bin() -> None:
    f = QuantileBinsEmbedding((1,), 2, n_bins=10)
    f.adapt(column(-2, -1, *[0.0] * 6, 1, 2))
    below, zero, above = f.bins(column(-1e-6, 0, 1e-6))[:, 0].tolist()
    assert below < zero < above


def test_quantiles_are_linear_between_two_numbers() -> None:
    rows = torch.tensor([[0.0, 4.0], [1.0, 8.0]])
    assert quantiles(rows, np.array([0.0, 0.25, 1.0])).tolist() == [[0, 0.25, 1], [4, 5, 8]]


def test_a_number_fills_the_bins_below_it_and_part_of_its_own() -> None:
    f = PiecewiseLinearEmbedding((1,), 2, n_bins=2)
    f.adapt(column(0, 2, 10))  # bins 0..2 and 2..10
    encoded = f.encoded(column(0, 1, 2, 4, 10))[:, 0].tolist()
    assert encoded == [[0, 0], [0.5, 0], [1, 0], [1, 0.25], [1, 1]]


def test_the_line_goes_on_beyond_the_outermost_edges() -> None:
    f = PiecewiseLinearEmbedding((1,), 2, n_bins=2)
    f.adapt(column(0, 2, 10))
    assert f.encoded(column(-1, 18))[:, 0].tolist() == [[-0.5, 0], [1, 2]]


def test_quantiles_that_coincide_make_fewer_bins() -> None:
    f = PiecewiseLinearEmbedding((1,), 2, n_bins=4)
    f.adapt(column(0, 0, 0, 0, 4, 8, 8))  # quartiles 0, 0, 0, 6, 8
    assert f.encoded(column(-3, 0, 3, 7, 9))[:, 0].tolist() == [
        [-0.5, 0, 0, 0],
        [0, 0, 0, 0],
        [0.5, 0, 0, 0],
        [1, 0.5, 0, 0],
        [1, 1.5, 0, 0],
    ]


def test_columns_have_their_own_bins() -> None:
    f = PiecewiseLinearEmbedding((2,), 3, n_bins=1)
    f.adapt(torch.tensor([[0.0, 100.0], [1.0, 300.0]]))
    encoded = f.encoded(torch.tensor([[0.25, 150.0]]))
    assert encoded.tolist() == [[[0.25], [0.25]]]
    expected = f.linear.weight @ torch.tensor([0.25, 0.25]) + f.linear.bias
    torch.testing.assert_close(f(torch.tensor([[0.25, 150.0]]))[0], expected)


def test_a_constant_column_says_nothing() -> None:
    f = PiecewiseLinearEmbedding((1,), 2, n_bins=4)
    f.adapt(column(5, 5, 5))
    assert f.encoded(column(-1e9, 5, 6)).abs().max() == 0


def test_the_training_labels_are_between_0_and_1_in_every_bin() -> None:
    numbers = torch.from_numpy(
        np.random.default_rng(1).standard_cauchy((200, 4)).astype(np.float32)
    )
    f = PiecewiseLinearEmbedding((4,), 2)
    f.adapt(numbers)
    encoded = f.encoded(numbers)
    assert encoded.min() >= 0
    assert encoded.max() <= 1
    # Larger numbers fill more: the encoding keeps the order within a column.
    filled = encoded.sum(dim=2)
    for i in range(4):
        order = numbers[:, i].argsort()
        assert (filled[order, i].diff() >= -1e-6).all()

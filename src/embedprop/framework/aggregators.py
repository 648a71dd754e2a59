"""g and g~: a multiset of vectors becomes one vector."""

from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn


class Messages(NamedTuple):
    """The vectors of all members of some multisets, one row each.

    vectors (members, dim); weights (members,): of label times edge; owners (members,): which set,
    from 0 to n_sets - 1; edges (members,): what the member came through, for weights that are
    learned: the edge for g~, the entry of the node's label list for g; -1 where it is new.
    """

    vectors: Tensor
    weights: Tensor
    owners: Tensor
    edges: Tensor
    n_sets: int


def segment_sum(values: Tensor, owners: Tensor, n_sets: int) -> Tensor:
    """Return the sum of the rows of each set; zeros for an empty one.

    >>> segment_sum(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([0, 0, 2]), 3).tolist()
    [[3.0], [0.0], [4.0]]
    """
    return values.new_zeros(n_sets, *values.shape[1:]).index_add(0, owners, values)


def segment_mean(messages: Messages, weights: Tensor) -> Tensor:
    """Return the mean of each set, each member counting its weight."""
    owners, n_sets = messages.owners, messages.n_sets
    shares = weights / segment_sum(weights, owners, n_sets)[owners]
    return segment_sum(shares[:, None] * messages.vectors, owners, n_sets)


class Aggregator(nn.Module):
    """Base of g and g~: `dim` is the width of the vectors, `n_edges` the number of known edges.

    uses_edges: whether it learns something for each edge, which the end of a walk does not have.
    """

    uses_edges: ClassVar[bool] = False

    def __init__(self, dim: int, n_edges: int) -> None:
        super().__init__()
        self.dim, self.n_edges = dim, n_edges

    def forward(self, messages: Messages) -> Tensor:
        """Return one vector for each set: (n_sets, dim)."""
        raise NotImplementedError


class MeanAggregator(Aggregator):
    """The mean by the given weights of labels and edges, all 1 if none are given: EP-B's."""

    def forward(self, messages: Messages) -> Tensor:
        """Return the mean of each set."""
        return segment_mean(messages, messages.weights)


class WeightedMeanAggregator(Aggregator):
    """A mean whose weights are learned, one for each edge or label of a node: LLE's model."""

    uses_edges: ClassVar[bool] = True

    def __init__(self, dim: int, n_edges: int) -> None:
        super().__init__(dim, n_edges)
        # Logarithms of factors; the last one, of what is new, stays 0.
        self.log_factors = nn.Parameter(torch.zeros(n_edges))

    def forward(self, messages: Messages) -> Tensor:
        """Return the mean of each set, each member counting its weight times its factor."""
        factors = torch.cat([self.log_factors, self.log_factors.new_zeros(1)])[messages.edges].exp()
        return segment_mean(messages, messages.weights * factors)


class SumAggregator(Aggregator):
    """The sum of the vectors times their weights."""

    def forward(self, messages: Messages) -> Tensor:
        """Return the sum of each set."""
        weighted = messages.weights[:, None] * messages.vectors
        return segment_sum(weighted, messages.owners, messages.n_sets)


class MaxAggregator(Aggregator):
    """The largest value in each dimension; weights are ignored."""

    def forward(self, messages: Messages) -> Tensor:
        """Return the maximum of each set, zeros for an empty one."""
        index = messages.owners[:, None].expand_as(messages.vectors)
        zeros = messages.vectors.new_zeros(messages.n_sets, messages.vectors.shape[1])
        return zeros.scatter_reduce(0, index, messages.vectors, "amax", include_self=False)


class AttentionAggregator(Aggregator):
    """A mean whose weights depend on the vectors: softmax of a learned linear score."""

    def __init__(self, dim: int, n_edges: int) -> None:
        super().__init__(dim, n_edges)
        self.query = nn.Parameter(torch.zeros(dim))  # at first a plain mean

    def forward(self, messages: Messages) -> Tensor:
        """Return the mean of each set, each member counting its weight times exp(its score)."""
        scores = messages.vectors @ self.query
        index, n_sets = messages.owners, messages.n_sets
        # The softmax does not change when the largest score of a set is taken away from all.
        largest = scores.new_zeros(n_sets).scatter_reduce(
            0, index, scores.detach(), "amax", include_self=False
        )
        return segment_mean(messages, messages.weights * (scores - largest[index]).exp())

"""f of numbers by the quantiles of the training labels: robust to their scale and to outliers."""

from typing import ClassVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from embedprop.framework.label_embeddings import LIMIT, LabelEmbedding, Shape
from embedprop.instance.require import require_count


class QuantileBinsEmbedding(LabelEmbedding):
    """Each number falls into a bin of equally many training labels; the bins' vectors are summed.

    Parameters
    ----------
    shape, dim
        As in `LabelEmbedding`.
    n_bins
        Bins per column. A value that several quantiles share has one of its own.
    """

    kinds: ClassVar[tuple[str, ...]] = ("numeric",)
    edges: Tensor

    def __init__(self, shape: Shape, dim: int, *, n_bins: int = 16) -> None:
        super().__init__(shape, dim)
        self.n_bins = require_count("n_bins", n_bins, least=2)
        width = self.shape[0]
        self.register_buffer("edges", torch.zeros(width, self.n_bins - 1))
        rows = torch.empty(width * self.n_bins, self.dim)
        self.table = nn.Parameter(nn.init.xavier_uniform_(rows))

    def adapt(self, contents: Tensor) -> None:
        """Take the inner quantiles of each column of the training labels."""
        if not len(contents):
            return
        edges = quantiles(contents, np.arange(1, self.n_bins) / self.n_bins)
        # An edge that comes again begins just above its value: rare ones beside a frequent one
        # would otherwise share its bin.
        again = np.diff(edges, axis=1, prepend=-np.inf) == 0
        edges[again] = np.nextafter(edges[again], np.float32(np.inf))
        self.edges.copy_(torch.from_numpy(edges))

    def bins(self, contents: Tensor) -> Tensor:
        """Return the bin of each number, from 0 on: how many edges are not above it."""
        return torch.searchsorted(self.edges, contents.T.contiguous(), right=True).T

    def embed(self, contents: Tensor) -> Tensor:
        """Return the sums of the vectors of the columns' bins."""
        first = self.n_bins * torch.arange(self.shape[0], device=contents.device)
        rows = functional.embedding(self.bins(contents) + first, self.table)
        return rows.sum(dim=1)  # (n, width, dim) -> (n, dim)


class PiecewiseLinearEmbedding(LabelEmbedding):
    """Each number as the filled share of every quantile bin, then a learned linear map.

    The encoding of Gorishniy et al. (NeurIPS 2022): 1 in the bins below the number, the share of
    the way through its own bin, 0 above. Beyond the outermost edges the line goes on.

    Parameters
    ----------
    shape, dim
        As in `LabelEmbedding`.
    n_bins
        Bins per column; quantiles that coincide make fewer.
    """

    kinds: ClassVar[tuple[str, ...]] = ("numeric",)
    starts: Tensor
    lengths: Tensor
    lowest: Tensor
    highest: Tensor

    def __init__(self, shape: Shape, dim: int, *, n_bins: int = 16) -> None:
        super().__init__(shape, dim)
        self.n_bins = require_count("n_bins", n_bins)
        size = (self.shape[0], self.n_bins)
        # Between lowest and highest a bin's share stays: 0 and 1; an absent bin's is always 0.
        for name, value in {"starts": 0, "lengths": 1, "lowest": 0, "highest": 0}.items():
            self.register_buffer(name, torch.full(size, float(value)))
        self.linear = nn.Linear(self.shape[0] * self.n_bins, self.dim)

    def adapt(self, contents: Tensor) -> None:
        """Take the quantiles of each column of the training labels as edges of its bins."""
        if not len(contents):
            return
        self.lowest.zero_()
        self.highest.zero_()
        all_edges = quantiles(contents, np.linspace(0, 1, self.n_bins + 1))
        for column, quantiles_ in enumerate(all_edges):
            edges = np.unique(quantiles_).astype(np.float64)
            used = slice(0, len(edges) - 1)
            lengths = np.minimum(np.diff(edges), np.finfo(np.float32).max)
            self.starts[column, used] = torch.from_numpy(edges[:-1]).to(self.starts)
            self.lengths[column, used] = torch.from_numpy(lengths).to(self.lengths)
            self.highest[column, used] = 1.0
            if len(edges) > 1:
                self.lowest[column, 0] = -LIMIT
                self.highest[column, len(edges) - 2] = LIMIT

    def encoded(self, contents: Tensor) -> Tensor:
        """Return the share of each bin that lies below the number: (n, width, n_bins)."""
        shares = (contents[:, :, None] - self.starts) / self.lengths
        return shares.clamp(self.lowest, self.highest)

    def embed(self, contents: Tensor) -> Tensor:
        """Return A x + b of the encoding x."""
        return cast(Tensor, self.linear(self.encoded(contents).flatten(1)))


def quantiles(contents: Tensor, shares: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the quantiles of each column: (width, len(shares)), linear between two numbers."""
    # By NumPy: torch.quantile refuses more than 16 million numbers.
    found = np.quantile(contents.detach().cpu().double().numpy(), shares, axis=0)
    return np.ascontiguousarray(found.T.astype(np.float32))

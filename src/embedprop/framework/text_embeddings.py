"""f of texts: a network that reads their tokens in order. A bag of words is a set and a lookup."""

from typing import ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from embedprop.framework.label_embeddings import LabelEmbedding, Shape
from embedprop.instance.require import require_count

PADDING = 0


class GRUEmbedding(LabelEmbedding):
    """A recurrent network (GRU) over the words of a text in order; the mean of its states.

    Parameters
    ----------
    shape, dim
        As in `LabelEmbedding`.
    hidden
        Width of the state. None: `dim`.
    """

    kinds: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, shape: Shape, dim: int, *, hidden: int | None = None) -> None:
        super().__init__(shape, dim)
        width = self.dim if hidden is None else require_count("hidden", hidden)
        self.tokens = nn.Embedding(self.shape[0] + 1, self.dim, padding_idx=PADDING)
        self.gru = nn.GRU(self.dim, width, batch_first=True)
        self.linear = nn.Linear(width, self.dim)

    def embed(self, contents: Tensor) -> Tensor:
        """Return a linear map of the mean state."""
        contents = _without_end(contents)
        states, _ = self.gru(self.tokens(contents))
        return cast(Tensor, self.linear(_mean_over_tokens(states, contents)))


class TransformerEmbedding(LabelEmbedding):
    """A small transformer over the words of a text in order; the mean of its outputs.

    Layers of torch (normalized first, GELU, no dropout) over token vectors plus the positions'
    sines and cosines (Vaswani et al., 2017).

    Parameters
    ----------
    shape, dim
        As in `LabelEmbedding`. Inside, the width is `dim` rounded up to a multiple of `heads`.
    heads, layers
        Attention heads of a layer, and layers: one lets each word see all others.
    """

    kinds: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, shape: Shape, dim: int, *, heads: int = 4, layers: int = 1) -> None:
        super().__init__(shape, dim)
        heads, layers = require_count("heads", heads), require_count("layers", layers)
        width = -(-self.dim // heads) * heads
        self.tokens = nn.Embedding(self.shape[0] + 1, width, padding_idx=PADDING)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width,
                heads,
                dim_feedforward=2 * width,
                dropout=0.0,
                activation="gelu",
                batch_first=True,
                norm_first=True,
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, self.dim)

    def embed(self, contents: Tensor) -> Tensor:
        """Return a linear map of the mean output."""
        contents = _without_end(contents)
        outputs: Tensor = self.tokens(contents)
        if not len(contents):  # torch's attention needs at least one text
            return outputs.new_zeros(0, self.dim)
        outputs = outputs + _positions(contents.shape[1], outputs)
        hidden = contents == PADDING
        hidden[:, 0] = False  # softmax over nothing is NaN before torch 2.5; left out below
        for layer in self.layers:
            outputs = layer(outputs, src_key_padding_mask=hidden)
        return cast(Tensor, self.linear(_mean_over_tokens(self.norm(outputs), contents)))


def _without_end(contents: Tensor) -> Tensor:
    """Return the columns up to the last token of the longest text, at least one."""
    used = torch.nonzero((contents != PADDING).any(dim=0))
    length = int(used[-1]) + 1 if len(used) else 1
    return contents[:, :length] if contents.shape[1] else functional.pad(contents, (0, 1))


def _mean_over_tokens(outputs: Tensor, contents: Tensor) -> Tensor:
    """Return the mean output of each text, zeros for an empty one: (n, width)."""
    is_token = (contents != PADDING)[:, :, None].to(outputs.dtype)
    return (outputs * is_token).sum(dim=1) / is_token.sum(dim=1).clamp_min(1)


def _positions(length: int, like: Tensor) -> Tensor:
    """Return sines and cosines of the positions 0, 1, ...: (length, width)."""
    width = like.shape[-1]
    n_waves = (width + 1) // 2
    place = torch.arange(length, device=like.device, dtype=like.dtype)[:, None]
    wave = torch.arange(n_waves, device=like.device, dtype=like.dtype)
    angles = place * 10_000.0 ** (-wave / n_waves)  # (length, n_waves)
    return torch.cat([angles.sin(), angles.cos()], dim=1)[:, :width]

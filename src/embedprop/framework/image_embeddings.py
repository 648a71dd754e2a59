"""f of images: a small convolutional network, learned from the start without foreign weights."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from torch import Tensor, nn

from embedprop.framework.label_embeddings import LabelEmbedding, Standardization
from embedprop.instance.require import require_count

# From this many pixels on, a side is halved three times instead of twice.
_LARGE = 32
# What is left of an image is averaged to at most this many places per side, so that the last
# layer stays small whatever the size of the image.
_GRID = 4


class CNNEmbedding(LabelEmbedding):
    """A small convolutional network over the standardized image.

    Two blocks (three for images of 32 pixels and more) of 3x3 convolution, ReLU and halving by the
    maximum, each with twice the channels of the one before; then a linear map.

    Parameters
    ----------
    shape, dim
        As in `LabelEmbedding`.
    channels
        Of the first block; 16 suffice for digits.
    """

    kinds: ClassVar[tuple[str, ...]] = ("image",)

    def __init__(self, shape: tuple[int, ...], dim: int, *, channels: int = 16) -> None:
        super().__init__(shape, dim)
        n_channels, *sides = self.shape
        n_blocks = 2 if max(sides) < _LARGE else 3
        first = require_count("channels", channels)
        widths = [n_channels, *(first * 2**block for block in range(n_blocks))]
        self.standardization = Standardization(self.shape)
        self.blocks = nn.Sequential(*(_block(n_in, n_out) for n_in, n_out in pairwise(widths)))
        # Halving rounds up, so that an image of one pixel keeps it.
        height, width = (min(_GRID, -(-side // 2**n_blocks)) for side in sides)
        self.average = nn.AdaptiveAvgPool2d((height, width))
        self.linear = nn.Linear(widths[-1] * height * width, self.dim)

    def adapt(self, contents: Tensor) -> None:
        """Take mean and standard deviation of all pixels of the training labels."""
        self.standardization.adapt(contents)

    def embed(self, contents: Tensor) -> Tensor:
        """Return what the linear map gives for the averaged maps of the last block."""
        maps = self.blocks(self.standardization(contents))
        vectors: Tensor = self.linear(self.average(maps).flatten(1))
        return vectors


def _block(n_in: int, n_out: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(n_in, n_out, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2, ceil_mode=True),
    )

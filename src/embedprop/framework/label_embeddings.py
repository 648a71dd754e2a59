"""f: what a label holds (its id, numbers, an image, a text) becomes its vector."""

from itertools import pairwise
from math import prod
from typing import ClassVar, TypeAlias, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from embedprop.errors import InvalidParameterError
from embedprop.instance.catalog import LABEL_EMBEDDINGS
from embedprop.instance.require import require_count

# Of n numbers none is more than sqrt(n - 1) standard deviations from their mean: this cuts no
# training label of fewer than 10^8 nodes, and keeps whatever comes later finite.
LIMIT = 1e4
# How many are held in double precision at a time while statistics are taken.
_NUMBERS = 2**22
# From this many pixels on, a side is halved three times instead of twice.
_LARGE = 32
# What is left of an image is averaged to at most this many places per side, so that the last
# layer stays small whatever the size of the image.
_GRID = 4
# (n_vectors,) of a set, (width,) of numbers, ...: see `LabelEmbedding`.
Shape: TypeAlias = tuple[int, ...]
_SHAPES = {
    "set": ["n_vectors"],
    "numeric": ["width"],
    "text": ["n_tokens"],
    "image": ["channels", "height", "width"],
}


class LabelEmbedding(nn.Module):
    """f: the contents of labels become their vectors.

    A subclass writes `embed`, and `adapt` if it needs statistics of the training labels. All that
    is learned or adapted is a parameter or a buffer, so that it is saved with the model.

    Parameters
    ----------
    shape
        Of a set (n_vectors,), of numbers (width,), of images (channels, height, width), of texts
        (n_tokens,).
    dim
        The width of the vectors.
    """

    kinds: ClassVar[tuple[str, ...]] = ()

    def __init__(self, shape: Shape, dim: int) -> None:
        super().__init__()
        expected = [_SHAPES[kind] for kind in self.kinds]
        if len(shape) not in map(len, expected):
            raise InvalidParameterError(
                f"{self._what()} expects a shape [{'] or ['.join(map(', '.join, expected))}], "
                f"got {list(shape)}. It reads labels of kind {' or '.join(self.kinds)} only."
            )
        # Texts may hold no word at all; then only the padding has a row.
        least = 0 if "text" in self.kinds else 1
        self.shape = tuple(require_count(f"shape of {self._what()}", n, least) for n in shape)
        self.dim = require_count("dim", dim)

    def adapt(self, contents: Tensor) -> None:
        """Store in buffers what must be known of the training labels. Default: nothing."""

    def forward(self, contents: Tensor) -> Tensor:
        """Return one vector for each label: (n, dim).

        contents: of a set ids (n,), of texts ids of tokens (n, length), from 1, padded with 0; else
        floats (n, *shape).
        """
        came = tuple(contents.shape)
        if "set" in self.kinds or "text" in self.kinds:
            sides = ["n"] if "set" in self.kinds else ["n", "length"]
            what, fits = "integers", len(came) == len(sides) and not contents.is_floating_point()
        else:
            sides = ["n", *map(str, self.shape)]
            what, fits = "floats", came[1:] == self.shape and contents.is_floating_point()
        if not fits:  # such as images of another size
            raise InvalidParameterError(
                f"{self._what()} expects {what} of shape [{', '.join(sides)}], got "
                f"{contents.dtype} of shape {list(came)}. Bring all labels of the type to the "
                f"shape that was learned."
            )
        return self.embed(contents)

    def embed(self, contents: Tensor) -> Tensor:
        """Return the vectors of contents that were checked."""
        raise NotImplementedError

    def _what(self) -> str:
        name = LABEL_EMBEDDINGS.name_of(type(self)) or type(self).__name__
        return f"label_embedding={name!r}"


class Standardization(nn.Module):
    """(x - mean) / std of the training labels: of each column, or of all pixels together."""

    mean: Tensor
    std: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        # The pixels of an image share their unit; one that is nearly always 0 must not explode.
        n_statistics = shape[0] if len(shape) == 1 else 1
        self.register_buffer("mean", torch.zeros(n_statistics))
        self.register_buffer("std", torch.ones(n_statistics))

    def adapt(self, contents: Tensor) -> None:
        """Take mean and standard deviation of the training labels; without any, 0 and 1."""
        rows = contents.detach().reshape(-1, len(self.mean))
        if not len(rows):
            return
        parts = torch.split(rows, max(1, _NUMBERS // len(self.mean)))
        mean = torch.stack([part.double().sum(dim=0) for part in parts]).sum(dim=0) / len(rows)
        squares = [(part.double() - mean).square().sum(dim=0) for part in parts]
        std = (torch.stack(squares).sum(dim=0) / len(rows)).sqrt()
        is_constant = rows.amax(dim=0) == rows.amin(dim=0)
        tiny = torch.finfo(self.std.dtype).tiny
        self.mean.copy_(mean)
        self.std.copy_(std.clamp_min(tiny).masked_fill(is_constant, 1.0))

    def forward(self, contents: Tensor) -> Tensor:
        """Return the standardized contents, in the shape that they had."""
        return ((contents - self.mean) / self.std).clamp(-LIMIT, LIMIT)


class LookupEmbedding(LabelEmbedding):
    """A table with one learned vector for each label: EP-B's."""

    kinds: ClassVar[tuple[str, ...]] = ("set",)

    def __init__(self, shape: Shape, dim: int) -> None:
        super().__init__(shape, dim)
        # Glorot: within +- sqrt(6 / (n_vectors + dim)).
        self.table = nn.Parameter(nn.init.xavier_uniform_(torch.empty(self.shape[0], dim)))

    def embed(self, contents: Tensor) -> Tensor:
        """Return the rows of the table."""
        return functional.embedding(contents, self.table)


class StandardizedEmbedding(LabelEmbedding):
    """Base of f over numbers or pixels with mean 0 and deviation 1."""

    def __init__(self, shape: Shape, dim: int) -> None:
        super().__init__(shape, dim)
        self.standardization = Standardization(self.shape)

    def adapt(self, contents: Tensor) -> None:
        """Take mean and standard deviation of the training labels."""
        self.standardization.adapt(contents)


class LinearEmbedding(StandardizedEmbedding):
    """A learned matrix times the standardized numbers or pixels, plus a vector."""

    kinds: ClassVar[tuple[str, ...]] = ("numeric", "image")

    def __init__(self, shape: Shape, dim: int) -> None:
        super().__init__(shape, dim)
        self.linear = nn.Linear(prod(self.shape), self.dim)

    def embed(self, contents: Tensor) -> Tensor:
        """Return A z + b of the standardized contents z."""
        return cast(Tensor, self.linear(self.standardization(contents).flatten(1)))


class MLPEmbedding(StandardizedEmbedding):
    """A network of hidden layers (ReLU) over the standardized numbers or pixels.

    Parameters
    ----------
    shape, dim
        As in `LabelEmbedding`.
    hidden, layers
        Units of a hidden layer, as many as a vector has dimensions by default in EP-B, and how
        many such layers: one already bends.
    """

    kinds: ClassVar[tuple[str, ...]] = ("numeric", "image")

    def __init__(self, shape: Shape, dim: int, *, hidden: int = 128, layers: int = 1) -> None:
        super().__init__(shape, dim)
        hidden, layers = require_count("hidden", hidden), require_count("layers", layers)
        widths = [prod(self.shape)] + layers * [hidden]
        bent = [
            part for n_in, n_out in pairwise(widths) for part in (nn.Linear(n_in, n_out), nn.ReLU())
        ]
        self.layers = nn.Sequential(*bent, nn.Linear(hidden, self.dim))

    def embed(self, contents: Tensor) -> Tensor:
        """Return what the last layer gives."""
        return cast(Tensor, self.layers(self.standardization(contents).flatten(1)))


class CNNEmbedding(StandardizedEmbedding):
    """A small convolutional network over the standardized image.

    Two blocks (three for images of 32 pixels and more) of 3x3 convolution, ReLU and halving by the
    maximum, each with twice the channels of the one before; then a linear map. Learned from
    the start, without foreign weights.

    Parameters
    ----------
    shape, dim
        As in `LabelEmbedding`.
    channels
        Of the first block; 16 suffice for digits.
    """

    kinds: ClassVar[tuple[str, ...]] = ("image",)

    def __init__(self, shape: Shape, dim: int, *, channels: int = 16) -> None:
        super().__init__(shape, dim)
        n_channels, *sides = self.shape
        n_blocks = 2 if max(sides) < _LARGE else 3
        first = require_count("channels", channels)
        widths = [n_channels, *(first * 2**block for block in range(n_blocks))]
        self.blocks = nn.Sequential(*(_block(n_in, n_out) for n_in, n_out in pairwise(widths)))
        # Halving rounds up, so that an image of one pixel keeps it.
        height, width = (min(_GRID, -(-side // 2**n_blocks)) for side in sides)
        self.average = nn.AdaptiveAvgPool2d((height, width))
        self.linear = nn.Linear(widths[-1] * height * width, self.dim)

    def embed(self, contents: Tensor) -> Tensor:
        """Return what the linear map gives for the averaged maps of the last block."""
        maps = self.blocks(self.standardization(contents))
        return cast(Tensor, self.linear(self.average(maps).flatten(1)))


def _block(n_in: int, n_out: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(n_in, n_out, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2, ceil_mode=True),
    )

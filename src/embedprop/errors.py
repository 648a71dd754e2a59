"""One exception per kind of mistake; each is also a `ValueError`."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the known name nearest to `name`, or nothing.

    >>> "Unknown." + did_you_mean("wrod", ["word", "label"])
    "Unknown. Did you mean 'word'?"
    """
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


class EmbedpropError(Exception):
    """Base of every error that embedprop raises on purpose."""


class InvalidGraphError(EmbedpropError, ValueError):
    """The edges, nodes or labels that were given do not make a graph."""


class InvalidParameterError(EmbedpropError, ValueError):
    """A parameter has a value that it cannot have."""


class UnknownComponentError(EmbedpropError, ValueError):
    """A name that stands for a part (an engine, negatives, ...) is not known."""


class UnknownNameError(EmbedpropError, ValueError, KeyError):
    """Something was asked for by a name that the graph or model does not have."""

    def __str__(self) -> str:
        # KeyError would show the repr of the message, quotes and all.
        return str(self.args[0]) if self.args else ""


class UnknownNodeError(UnknownNameError):
    """There is no node of this name."""


class UnknownLabelError(UnknownNameError):
    """There is no label, or label type, of this name."""


class UnknownRelationError(UnknownNameError):
    """There is no relation of this name."""


class DownloadError(EmbedpropError, ValueError):
    """A file could not be fetched, or what came is not the file that was asked for."""


class InvalidModelError(EmbedpropError, ValueError):
    """A model folder is missing, incomplete or damaged."""


class FormatVersionError(InvalidModelError):
    """A model folder was written in a format that this version does not read."""


class TrainingError(EmbedpropError, ValueError):
    """Training cannot go on: the loss is not finite or has exploded."""

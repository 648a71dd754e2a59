"""One exception per kind of mistake; each is also a `ValueError`."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

# Comparing more names would take longer than the reader of a message should wait.
_MANY = 10_000


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return a hint for messages if `name` is close to one of the known names, else nothing.

    >>> did_you_mean("epoch", ["epochs", "dim"]), did_you_mean("x", ["epochs"])
    (" Did you mean 'epochs'?", '')
    """
    names = [one for one in islice(known, _MANY) if isinstance(one, str)]
    near = get_close_matches(name, names, 1) if isinstance(name, str) else []
    return f" Did you mean {near[0]!r}?" if near else ""


class EmbedpropError(Exception):
    """Base of every error that embedprop raises on purpose."""


class InvalidGraphError(EmbedpropError, ValueError):
    """The edges, nodes or labels that were given do not make a graph."""


class InvalidParameterError(EmbedpropError, ValueError):
    """A parameter has an invalid value."""


class UnknownParameterError(InvalidParameterError, TypeError):
    """A parameter was given that does not exist."""


class UnknownComponentError(EmbedpropError, ValueError):
    """A name that stands for a part (an engine, negatives, ...) is not known."""


class UnknownNameError(EmbedpropError, ValueError, KeyError):
    """Something was asked for by a name that the graph or model does not have."""

    def __str__(self) -> str:
        # KeyError would show the repr of the message, quotes and all.
        return str(self.args[0]) if self.args else ""


class UnknownNodeError(UnknownNameError):
    """There is no node with this name."""


class UnknownLabelError(UnknownNameError):
    """There is no label, or label type, with this name."""


class UnknownRelationError(UnknownNameError):
    """There is no relation with this name."""


class DownloadError(EmbedpropError, ValueError):
    """A file could not be downloaded, or its content is not what was published."""


class InvalidModelError(EmbedpropError, ValueError):
    """A model folder is missing, incomplete or damaged."""


class FormatVersionError(InvalidModelError):
    """A model folder was written in a format that this version does not read."""


class TrainingError(EmbedpropError, ValueError):
    """Training cannot continue: the loss is not finite or has exploded."""

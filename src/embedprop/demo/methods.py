"""The methods that the demo shows side by side; what it shows of one alone is of the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from embedprop.estimators import ClosedForm, EmbeddingPropagation

Estimator = ClosedForm | EmbeddingPropagation


@dataclass(frozen=True)
class Method:
    """A title, and what makes the estimator; its argument: whether to show progress."""

    title: str
    estimator: Callable[[bool], Estimator]


def _closed_form(verbose: bool) -> Estimator:
    # Ids as well, which the default leaves out where labels are shared: they gain a point here.
    return ClosedForm(dim=32, label_types=["node", "pixel"], verbose=verbose)


def _epb(verbose: bool) -> Estimator:
    # Fewer and larger steps than the paper's: the graph is small, and a user is waiting.
    return EmbeddingPropagation(dim=64, margin=5.0, epochs=60, learning_rate=5e-3, verbose=verbose)


METHODS = (Method("closed form", _closed_form), Method("EP-B", _epb))

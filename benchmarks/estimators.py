"""What the benchmarks fit: every estimator of ours that they use is made here."""

from __future__ import annotations

from typing import Any

from embedprop import EmbeddingPropagation


def epb(*, storage: str | None = None, **parameters: Any) -> EmbeddingPropagation:
    """Return EP-B: the paper's settings but for `parameters`, by default on one thread, silent."""
    place = {} if storage is None else {"storage": storage}
    return EmbeddingPropagation(**{"n_threads": 1, "verbose": False} | place | parameters)


def epb_preset(name: str, **parameters: Any) -> EmbeddingPropagation:
    """Return EP-B with the settings of a preset."""
    return epb(preset=name, **parameters)


def closed_form(**parameters: Any) -> EmbeddingPropagation:
    """Return the closed form: its defaults but for `parameters`, silent."""
    return EmbeddingPropagation(instance="eps", **{"verbose": False} | parameters)

"""What the benchmarks fit: every estimator of ours that they use is made here."""

from __future__ import annotations

from typing import Any

from embedprop import ClosedForm, EmbeddingPropagation

QUIET = {"n_threads": 1, "verbose": False}


def epb(*, storage: str | None = None, **parameters: Any) -> EmbeddingPropagation:
    """Return EP-B: the paper's settings but for `parameters`, by default on one thread, silent.

    storage: of the fused engine, as in ``"disk"`` or ``"disk(partitions=8)"``.
    """
    if storage is not None:
        kind, _, given = storage.partition("(")
        parameters |= {"engine": f"fused(storage={kind!r}{', ' + given if given else ')'}"}
    return EmbeddingPropagation(**QUIET | parameters)


def epb_preset(name: str, **parameters: Any) -> EmbeddingPropagation:
    """Return EP-B with the paper's settings, or with the "fast" ones that we recommend."""
    make = EmbeddingPropagation.fast if name == "fast" else EmbeddingPropagation
    return make(**QUIET | parameters)


def closed_form(**parameters: Any) -> ClosedForm:
    """Return the closed form: its defaults but for `parameters`, silent."""
    return ClosedForm(**{"verbose": False} | parameters)

"""The only file that knows every engine."""

from __future__ import annotations

from embedprop.errors import UnknownComponentError
from embedprop.instance import Instance
from embedprop.training.engine import Engine

ENGINES = ("auto", "fused")


def choose_engine(name: str, instance: Instance) -> Engine:
    """Return the engine of that name, or with "auto" the fastest that can compute `instance`."""
    from embedprop.training.fused_engine import FusedEngine

    if name not in ENGINES:
        known = ", ".join(map(repr, ENGINES))
        raise UnknownComponentError(f"engine={name!r} is not known. Choose one of: {known}.")
    if not FusedEngine.can_compute(instance):
        raise UnknownComponentError(f"No engine can compute instance={instance.name!r}.")
    return FusedEngine()

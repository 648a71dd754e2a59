"""The only file that knows every engine."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.instance.description import Instance
from embedprop.methods.epb.engines.engine import Engine
from embedprop.methods.epb.tables.storage import MEMORY, Tables

ENGINES = ("auto", "fused", "torch")


def choose_engine(name: str, instance: Instance, *, supervised: bool = False) -> str:
    """Return the engine of that name, or with "auto" the fastest that can compute `instance`."""
    if name not in ENGINES:
        known = ", ".join(map(repr, ENGINES))
        raise UnknownComponentError(f"engine={name!r} is not known. Choose one of: {known}.")
    needs_torch = not instance.is_epb or supervised
    if name == "fused" and needs_torch:
        raise InvalidParameterError(
            f"engine='fused' computes EP-B alone, but {_beyond_epb(instance, supervised)}. Choose "
            f"engine='torch', or 'auto'."
        )
    if (needs_torch or name == "torch") and not has_torch():
        why = _beyond_epb(instance, supervised) if needs_torch else "engine='torch' was asked for"
        raise InvalidParameterError(
            f"torch is not installed, but {why}. Install it with: pip install 'embedprop[torch]'"
        )
    return "torch" if needs_torch or name == "torch" else "fused"


def has_torch() -> bool:
    """Return whether torch is installed."""
    return find_spec("torch") is not None


def make_engine(
    name: str,
    device: str,
    own_parts: Mapping[str, Mapping[str, Any]],
    fixed: Mapping[str, NDArray[np.bool_]],
    targets: Any = None,
    previous: Mapping[str, Any] | None = None,
    tables: Tables = MEMORY,
) -> Engine:
    """Return an engine that is ready to train; `previous` modules are what it goes on from."""
    if name == "fused":
        from embedprop.methods.epb.engines.fused import FusedEngine

        return FusedEngine(tables=tables)
    from embedprop.methods.epb.engines.torch import TorchEngine

    return TorchEngine(device, own_parts, fixed, targets, previous)


def _beyond_epb(instance: Instance, supervised: bool) -> str:
    """Return what of an instance is not EP-B, in words."""
    for name, one in instance.label_types.items():
        if not one.refine:
            return f"refine=False is asked for label type {name!r}"
        if one.label_dropout:
            return f"label type {name!r} has label_dropout={one.label_dropout:g}"
        for part in one.other_parts:
            return f"label type {name!r} has {part}={getattr(one, part)!r}"
    return "targets are given" if supervised else f"instance={instance.name!r} is another"

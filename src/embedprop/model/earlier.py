"""Settings of models that earlier versions saved, in today's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from embedprop.files.folder.load import StoredModel
from embedprop.instance.instance import INSTANCES
from embedprop.instance.parameters import FAST

# Where parameters of version 1 went: into the parts.
_PARTS = ("label_embedding", "aggregator", "reconstruction", "distance", "loss", "representation",
          "refine", "label_dropout")  # fmt: skip
_PARTS_OF_EPB: Mapping[str, Any] = {
    "representation": "concatenation", "refine": True, "label_dropout": 0.0
}  # fmt: skip
_GONE = {"instance", "preset", "engine", "storage", "device", "inverse_relations", "target_weight"}
_OF_TYPE = {"closed-form": ("dim", "regularization")}


def as_version_2(stored: StoredModel) -> dict[str, Any]:
    """Return the settings of a model, whichever version wrote them."""
    settings = dict(stored.settings)
    if "readout" in settings:
        return settings
    old = dict(settings["instance"])
    # Two methods had one description in version 1; each keeps what it has a meaning for.
    instance = INSTANCES[old.pop("name")]
    fields = instance.__dataclass_fields__
    of_type = _OF_TYPE.get(instance.name)
    types = {
        name: {key: one[key] for key in of_type or one if key != "regularization" or of_type}
        for name, one in old["label_types"].items()
    }
    described = {key: value for key, value in old.items() if key in fields}
    readout = "modules" if "modules" in settings else "means"
    if "factors" in stored.arrays:
        readout = "eigen"
    return settings | {
        "method": instance.name,
        "instance": described | {"label_types": types},
        "readout": readout,
        "parameters": _parameters(settings, fields),
        "residuals": settings.get("residuals", {}),
    }


def _parameters(settings: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator from those of version 1."""
    old = dict(settings["params"])
    if "restart" in fields:
        names = ("dim", "regularization", "restart", "label_types", "random_state", "verbose")
        return {name: old[name] for name in names if name in old}
    given = settings.get("given", old)
    if old.get("preset") == "fast":
        old |= {name: value for name, value in FAST.items() if name not in given}
    parts = {
        name: old[name] for name in _PARTS if name in old and old[name] != _PARTS_OF_EPB.get(name)
    }
    new = {
        name: value
        for name, value in old.items()
        if name not in (*_PARTS, *_GONE, "regularization", "restart")
    }
    return new | {"parts": parts or None, "engine": _engine(old)}


def _engine(old: Mapping[str, Any]) -> str:
    """Return engine, storage and device as one text."""
    name, storage, device = old.get("engine", "auto"), old.get("storage", "auto"), old.get("device")
    kind, _, given = str(storage).partition("(")
    if kind != "auto":
        more = f", {given}" if given else ")"
        return f"fused(storage={kind!r}{more}"
    return f"torch(device={device!r})" if device not in (None, "auto") else str(name)

"""Settings of models that earlier versions saved, in today's words."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from embedprop.files.folder.load import StoredModel
from embedprop.instance.instance import INSTANCES
from embedprop.instance.parameters import FAST, PARAMETERS
from embedprop.instance.parts import Parts


def as_version_2(stored: StoredModel) -> dict[str, Any]:
    """Return the settings of a model, whichever version wrote them."""
    settings = dict(stored.settings)
    if "readout" in settings:
        return settings
    old = dict(settings["instance"])
    # Two methods had one description in version 1; each keeps what it has a meaning for.
    instance = INSTANCES[old.pop("name")]
    types = {name: _known(instance.of_type, one) for name, one in old["label_types"].items()}
    readout = "modules" if "modules" in settings else "means"
    return settings | {
        "method": instance.name,
        "instance": _known(instance, old) | {"label_types": types},
        "readout": "eigen" if "factors" in stored.arrays else readout,
        "parameters": _parameters(settings, PARAMETERS[instance.name]),
        "residuals": settings.get("residuals", {}),
    }


def _known(described: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the values that a dataclass has a field for."""
    return {one.name: given[one.name] for one in fields(described) if one.name in given}


def _parameters(settings: Mapping[str, Any], parameters: type) -> dict[str, Any]:
    """Return the parameters of an estimator from those of version 1."""
    old = dict(settings["params"])
    given = settings.get("given", old)
    if old.get("preset") == "fast":
        old |= {name: value for name, value in FAST.items() if name not in given}
    new = _known(parameters, old)
    if hasattr(parameters, "parts"):  # these stood beside the other parameters
        new |= {"parts": Parts(**_known(Parts, old)).to_dict() or None, "engine": _engine(old)}
    return new


def _engine(old: Mapping[str, Any]) -> str:
    """Return engine, storage and device as one text."""
    name, storage, device = old.get("engine", "auto"), old.get("storage", "auto"), old.get("device")
    kind, _, given = str(storage).partition("(")
    if kind != "auto":
        more = f", {given}" if given else ")"
        return f"fused(storage={kind!r}{more}"
    return f"torch(device={device!r})" if device not in (None, "auto") else str(name)

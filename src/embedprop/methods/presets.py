"""Named settings of EP-B: the paper's, and the faster ones that we recommend."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from embedprop.errors import UnknownComponentError

# Where "fast" comes from: docs/presets.md.
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "paper": MappingProxyType({}),
        "fast": MappingProxyType(
            {
                "margin": 2.0,
                "epochs": 120,
                "learning_rate": 5e-3,
                "schedule": "linear",
                "max_neighbors": 20,
            }
        ),
    }
)

# What "fast" adds where ids are the only labels: harder comparisons, which pull hubs apart. Where
# nodes share words they do harm (Pubmed: 0.5 to 0.8 points).
IDS_ALONE: Mapping[str, Any] = MappingProxyType({"n_negatives": 2, "negatives": "degree"})


def remember_given(init: Callable[..., None]) -> Callable[..., None]:
    """Let a constructor note which parameters it was given, in `_given`."""

    @wraps(init)
    def remembering(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        # A subclass that passes all it has on tells nothing of what was given to it.
        if type(self).__init__ is remembering:
            self._given = frozenset(inspect.signature(init).bind(self, *args, **kwargs).arguments)

    remembering.remembers = True  # type: ignore[attr-defined]
    return remembering


class Asked(NamedTuple):
    """The parameters at the time of a fit, and which of them were given."""

    params: dict[str, Any]
    given: frozenset[str]


class Preset:
    """What an estimator needs so that a preset fills in only what was not given.

    A parameter counts as given if it was named in the constructor or in `set_params`, also with its
    default value, or if it has another value than its default.
    """

    _given: frozenset[str] = frozenset()

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, as scikit-learn does; they win over a preset."""
        super().set_params(**params)  # type: ignore[misc]
        self._given = self._given | params.keys()
        return self

    def __sklearn_clone__(self) -> Self:
        """Return an estimator that was given the same."""
        twin: Self = super().__sklearn_clone__()  # type: ignore[misc]
        twin._given = self._given
        return twin

    def _changed(self) -> list[str]:
        """Return the parameters that have another value than their default."""
        defaults = _defaults(type(self)).items()
        return [name for name, default in defaults if not _same(getattr(self, name), default)]

    def _settled_params(self, label_types: Iterable[str]) -> dict[str, Any]:
        """Return all parameters, those of the preset filled in."""
        defaults = _defaults(type(self))
        params = {name: getattr(self, name) for name in defaults}
        return with_preset(params, self._given, defaults, label_types)


def with_preset(
    params: Mapping[str, Any],
    given: frozenset[str],
    defaults: Mapping[str, Any],
    label_types: Iterable[str],
) -> dict[str, Any]:
    """Return `params` with the values of their preset where none was given.

    >>> defaults = {"preset": None, "epochs": 200, "margin": 1.0, "neighborhood": "neighbors"}
    >>> params = defaults | {"preset": "fast"}
    >>> settled = with_preset(params, frozenset({"epochs"}), defaults, ["node", "word"])
    >>> settled["epochs"], settled["margin"]
    (200, 2.0)
    """
    name = params["preset"]
    if name is not None and (not isinstance(name, str) or name not in PRESETS):
        known = ", ".join(map(repr, PRESETS))
        raise UnknownComponentError(
            f"preset={name!r} is not known. Choose None or one of: {known}."
        )
    if params.get("instance") == "eps":
        return dict(params)  # the closed form has no use for EP-B's settings
    values = dict(PRESETS[name or "paper"])
    if name == "fast" and list(label_types) == ["node"]:
        values |= IDS_ALONE
    if params.get("neighborhood") != "neighbors":
        values.pop("max_neighbors", None)  # it is for one kind of neighborhood
    return dict(params) | {
        key: value
        for key, value in values.items()
        if key not in given and _same(params.get(key), defaults.get(key))
    }


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _defaults(estimator: type) -> dict[str, Any]:
    """Return the defaults of the constructor that remembers; a subclass may have fewer."""
    constructors = (vars(one).get("__init__") for one in estimator.__mro__)
    init: Any = next(one for one in constructors if hasattr(one, "remembers"))
    parameters = inspect.signature(init).parameters
    return {name: one.default for name, one in parameters.items() if name != "self"}

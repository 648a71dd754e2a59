"""The description of an EP instance: names and numbers, free of any engine; saved in models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import index
from typing import Any

from embedprop.errors import InvalidParameterError, UnknownComponentError

INSTANCES = ("epb", "eps")

# Of the closed form, in units of the mean degree (ids) or of the mean weight of a label.
REGULARIZATION_OF_IDS = 0.3
REGULARIZATION_OF_LABELS = 5.0


@dataclass(frozen=True)
class LabelTypeInstance:
    """What is learned for one label type: d_i dimensions, and EP-B's margin or the other's eps."""

    dim: int
    margin: float | None = None
    regularization: float | None = None


@dataclass(frozen=True)
class Instance:
    """An instance of the framework.

    EP-B has g = g~ = mean, Euclidean d, r = concatenation; the closed form squared distances, no
    negatives, and r = PageRank average with the chance `restart` to go back.
    """

    name: str
    label_types: Mapping[str, LabelTypeInstance]
    n_negatives: int
    negatives: str
    neighborhood: str
    max_neighbors: int | None
    restart: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain JSON-able values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Instance:
        """Return the instance that `to_dict` described."""
        types = {name: LabelTypeInstance(**one) for name, one in values["label_types"].items()}
        return cls(**{**values, "label_types": types})

    @classmethod
    def from_params(cls, params: Mapping[str, Any], label_types: Sequence[str]) -> Instance:
        """Return the instance that an estimator's parameters describe for these label types."""
        if params["instance"] not in INSTANCES:
            known = ", ".join(map(repr, INSTANCES))
            raise UnknownComponentError(
                f"instance={params['instance']!r} is not known. Choose one of: {known}."
            )
        dims = _per_type("dim", params["dim"], label_types)
        if params["instance"] == "eps":
            return cls._closed_form(params, dims)
        margins = _per_type("margin", params["margin"], label_types)
        most = params["max_neighbors"]
        return cls(
            name=params["instance"],
            label_types={
                label_type: LabelTypeInstance(
                    require_count(*dims[label_type]), require_positive(*margins[label_type])
                )
                for label_type in label_types
            },
            n_negatives=require_count("n_negatives", params["n_negatives"]),
            negatives=params["negatives"],
            neighborhood=params["neighborhood"],
            max_neighbors=None if most is None else require_count("max_neighbors", most),
        )

    @classmethod
    def _closed_form(
        cls, params: Mapping[str, Any], dims: Mapping[str, tuple[str, Any]]
    ) -> Instance:
        given = params["regularization"]
        if isinstance(given, Mapping) and not given.keys() <= dims.keys():
            raise InvalidParameterError(
                f"regularization={dict(given)!r} names a label type that is not learned. There "
                f"are: {', '.join(map(repr, dims))}."
            )
        types = {}
        for name, (what, dim) in dims.items():
            default = REGULARIZATION_OF_IDS if name == "node" else REGULARIZATION_OF_LABELS
            each = isinstance(given, Mapping)
            value = given.get(name) if each else given
            called = f"regularization[{name!r}]" if each else "regularization"
            value = default if value is None else require_positive(called, value)
            types[name] = LabelTypeInstance(require_count(what, dim), None, value)
        restart = require_positive("restart", params["restart"])
        if restart > 1:
            raise InvalidParameterError(f"restart={restart} is not possible: it is at most 1.")
        return cls("eps", types, 0, "none", "neighbors", None, restart)


def _per_type(name: str, value: Any, label_types: Sequence[str]) -> dict[str, tuple[str, Any]]:
    """Return (name for messages, value) per label type from one value or a dict of them."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(label_types, (name, value))
    missing = [label_type for label_type in label_types if label_type not in value]
    unknown = [label_type for label_type in value if label_type not in label_types]
    if missing or unknown:
        raise InvalidParameterError(
            f"{name}={dict(value)!r} must have one entry for each label type that is learned: "
            f"{', '.join(map(repr, label_types))}."
        )
    return {key: (f"{name}[{key!r}]", value[key]) for key in label_types}


def require_count(name: str, value: Any, least: int = 1) -> int:
    """Return `value` if it is a whole number of at least `least`."""
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise InvalidParameterError(
            f"{name}={value!r} is not possible: it must be a whole number of at least {least}."
        )
    return number


def require_positive(name: str, value: Any) -> float:
    """Return `value` if it is a finite number above 0."""
    try:
        if isinstance(value, bool | str | bytes):
            raise TypeError
        number = float(value)
    except TypeError:
        raise InvalidParameterError(
            f"{name}={value!r} is not possible: it must be a number above 0."
        ) from None
    except OverflowError:  # an integer beyond all floats
        number = float("inf")
    if not 0 < number < float("inf"):
        raise InvalidParameterError(
            f"{name}={value!r} is not possible: it must be finite and above 0."
        )
    return number

"""The description of an EP instance: names and numbers, free of any engine; saved in models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import index
from typing import Any

from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.instance.catalog import Part, catalog, parse_part

INSTANCES = ("epb", "eps")
# What f is where nothing is asked for; a text is the set of its words.
DEFAULT_EMBEDDINGS = {
    "set": "lookup",
    "text": "lookup",
    "numeric": "piecewise_linear",
    "image": "cnn",
}
PARTS = ("label_embedding", "aggregator", "reconstruction", "distance", "loss")

# Of the closed form, in units of the mean degree (ids) or of the mean weight of a label.
REGULARIZATION_OF_IDS = 0.3
REGULARIZATION_OF_LABELS = 5.0

# The parts of EP-B. The paper writes the Euclidean distance; some of its results are the square's.
EPB_PARTS = {
    "label_embedding": ("lookup",),
    "aggregator": ("mean",),
    "reconstruction": ("mean",),
    "distance": ("euclidean", "squared_euclidean"),
    "loss": ("margin_ranking",),
}


@dataclass(frozen=True)
class LabelTypeInstance:
    """What is learned for one label type: d_i dimensions, and EP-B's margin or the other's eps.

    The parts f, g, g~, d and loss are written as in ``"softmax(temperature=0.2)"``; one that is the
    user's own module as ``"custom Name"``. refine: whether given start vectors are learned further.
    label_dropout: the chance that a label is left out while learning.
    """

    dim: int
    margin: float | None = None
    regularization: float | None = None
    kind: str = "set"
    label_embedding: str = "lookup"
    aggregator: str = "mean"
    reconstruction: str = "mean"
    distance: str = "euclidean"
    loss: str = "margin_ranking"
    refine: bool = True
    label_dropout: float = 0.0

    @property
    def is_set(self) -> bool:
        """Whether a node has a set of labels with a vector each; a text is the set of its words."""
        return self.kind == "set" or self.label_embedding == "lookup"

    @property
    def is_mean(self) -> bool:
        """Whether h and h~ are weighted means of label vectors."""
        is_table = self.label_embedding == "lookup"
        return is_table and self.aggregator == self.reconstruction == "mean"

    @property
    def is_epb(self) -> bool:
        """Whether these are the parts of EP-B, the distance squared or not."""
        return not self.other_parts and self.refine and not self.label_dropout

    @property
    def other_parts(self) -> list[str]:
        """The names of the parts that are not EP-B's."""
        return [part for part, known in EPB_PARTS.items() if getattr(self, part) not in known]

    @property
    def is_squared(self) -> bool:
        """Whether d is the squared Euclidean distance."""
        return self.distance == "squared_euclidean"


@dataclass(frozen=True)
class Instance:
    """An instance of the framework.

    EP-B has g = g~ = mean, Euclidean d, r = concatenation; the closed form squared distances, no
    negatives, and r = PageRank average with the chance `restart` to go back. With relations, g~
    adds the learned vector of the edge's type to each label vector that travels over it.
    """

    name: str
    label_types: Mapping[str, LabelTypeInstance]
    n_negatives: int
    negatives: str
    neighborhood: str
    max_neighbors: int | None
    restart: float | None = None
    representation: str = "concatenation"
    n_relations: int = 0
    inverse_relations: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain JSON-able values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Instance:
        """Return the instance that `to_dict` described."""
        types = {name: LabelTypeInstance(**one) for name, one in values["label_types"].items()}
        return cls(**{**values, "label_types": types})

    @property
    def is_epb(self) -> bool:
        """Whether every label type has the parts of EP-B."""
        return self.name == "epb" and all(one.is_epb for one in self.label_types.values())

    @classmethod
    def from_params(
        cls,
        params: Mapping[str, Any],
        label_types: Mapping[str, str] | Sequence[str],
        n_relations: int = 0,
    ) -> Instance:
        """Return the instance that an estimator's parameters describe.

        label_types: the kind of each label type; names alone are sets.
        """
        if params["instance"] not in INSTANCES:
            known = ", ".join(map(repr, INSTANCES))
            raise UnknownComponentError(
                f"instance={params['instance']!r} is not known. Choose one of: {known}."
            )
        kinds = (
            label_types if isinstance(label_types, Mapping) else dict.fromkeys(label_types, "set")
        )
        dims = _per_type("dim", params["dim"], list(kinds))
        if params["instance"] == "eps":
            return cls._closed_form(params, dims)
        margins = _per_type("margin", params["margin"], list(kinds))
        parts = {part: _parts(part, params[part], kinds) for part in PARTS}
        refine = _per_type("refine", params["refine"], list(kinds))
        dropout = _per_type("label_dropout", params["label_dropout"], list(kinds))
        most = params["max_neighbors"]
        return cls(
            name=params["instance"],
            label_types={
                name: _with_margin_of_loss(
                    LabelTypeInstance(
                        dim=require_count(*dims[name]),
                        margin=require_positive(*margins[name]),
                        kind=kind,
                        refine=_require_bool(*refine[name]),
                        label_dropout=require_share(*dropout[name]),
                        label_embedding=parts["label_embedding"][name],
                        aggregator=parts["aggregator"][name],
                        reconstruction=parts["reconstruction"][name],
                        distance=parts["distance"][name],
                        loss=parts["loss"][name],
                    )
                )
                for name, kind in kinds.items()
            },
            n_negatives=require_count("n_negatives", params["n_negatives"]),
            negatives=parse_part("negatives", params["negatives"]).name,
            neighborhood=parse_part("neighborhood", params["neighborhood"]).name,
            max_neighbors=None if most is None else require_count("max_neighbors", most),
            representation=str(parse_part("representation", params["representation"])),
            n_relations=n_relations,
            inverse_relations=bool(params["inverse_relations"]),
        )

    @classmethod
    def _closed_form(
        cls, params: Mapping[str, Any], dims: Mapping[str, tuple[str, Any]]
    ) -> Instance:
        _refuse_parts(params)
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


def _refuse_parts(params: Mapping[str, Any]) -> None:
    """Refuse parts that the closed form does not have, rather than leave them aside."""
    chosen = {part: params[part] for part in (*PARTS, "pretrained") if params[part] is not None}
    if params["representation"] != "concatenation":
        chosen["representation"] = params["representation"]
    for name, value in chosen.items():
        raise InvalidParameterError(
            f"{name}={value!r} has no meaning for instance='eps', whose parts are fixed. Leave it "
            f"out, or choose instance='epb'."
        )


def _parts(part: str, given: Any, kinds: Mapping[str, str]) -> dict[str, str]:
    """Return how a part is written for each label type, from one or a dict; checked."""
    if isinstance(given, Mapping) and not given.keys() <= kinds.keys():
        unknown = next(name for name in given if name not in kinds)
        raise InvalidParameterError(
            f"{part} has an entry for {unknown!r}, which is no label type that is learned. There "
            f"are: {', '.join(map(repr, kinds))}."
        )
    default: str = getattr(LabelTypeInstance, part)
    written = {}
    for name, kind in kinds.items():
        one = given.get(name) if isinstance(given, Mapping) else given
        called = f"{part}[{name!r}]" if isinstance(given, Mapping) else part
        if one is None:
            written[name] = DEFAULT_EMBEDDINGS[kind] if part == "label_embedding" else default
        elif own_part(part, given, name, kind) is not None:
            written[name] = f"custom {type(one).__name__}"
        elif callable(one):
            written[name] = DEFAULT_EMBEDDINGS[kind]
        else:
            # One f for all types would fit few of them: ids keep their table.
            _require_present(called, one)
            chosen = parse_part(called, one)
            for_all = part == "label_embedding" and not isinstance(given, Mapping)
            fits = not for_all or kind_fits(chosen, kind)
            written[name] = str(chosen) if fits else DEFAULT_EMBEDDINGS[kind]
            if part == "label_embedding" and not kind_fits(parse_part(part, written[name]), kind):
                raise InvalidParameterError(
                    f"{called}={one!r} cannot read label type {name!r}, which is of kind {kind!r}. "
                    f"Choose one of: {', '.join(map(repr, fitting(kind)))}."
                )
    return written


def _require_present(called: str, one: Any) -> None:
    if isinstance(one, str) and one.startswith("custom "):
        raise InvalidParameterError(
            f"{called}={one!r} was a module of your own, which a saved model does not hold. Set it "
            f"again with set_params before you learn further."
        )


def own_part(part: str, given: Any, label_type: str, kind: str) -> Any:
    """Return the module of the user's own for a label type, None if there is none.

    One f for all label types is meant for their contents: sets, such as ids, keep their tables.
    """
    if isinstance(given, Mapping):
        given = given.get(label_type)
    elif part == "label_embedding" and kind == "set":
        return None
    return given if callable(given) else None


def _with_margin_of_loss(one: LabelTypeInstance) -> LabelTypeInstance:
    """Return the same with the margin that ``"margin_ranking(margin=5)"`` names, if it does."""
    if one.loss.startswith("custom "):
        return one
    loss = parse_part("loss", one.loss)
    if "margin" not in loss.parameters:
        return one
    others = {key: value for key, value in loss.parameters.items() if key != "margin"}
    given = loss.parameters["margin"]
    # Distances below 0 exist: only the ranking loss needs a margin above.
    zero = given == 0 and loss.name != "margin_ranking"
    margin = 0.0 if zero else require_positive("margin", given)
    return replace(one, margin=margin, loss=str(Part(loss.name, others)))


def fitting(kind: str) -> list[str]:
    """Return the names of the label embeddings that read labels of this kind.

    >>> fitting("image")
    ['cnn', 'linear', 'mlp']
    """
    known = catalog()["label_embedding"]
    return sorted(n for n, info in known.items() if kind in info.constants.get("kinds", ()))


def kind_fits(part: Part, kind: str) -> bool:
    """Return whether a label embedding reads labels of this kind; words of a text are a set."""
    return part.name in fitting(kind) or (part.name == "lookup" and kind == "text")


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


def _require_bool(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidParameterError(f"{name}={value!r} is not possible: it is True or False.")
    return value


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


def require_share(name: str, value: Any) -> float:
    """Return `value` if it is a number from 0 to below 1."""
    if not isinstance(value, bool | str | bytes) and value == 0:
        return 0.0
    share = require_positive(name, value)
    if share >= 1:
        raise InvalidParameterError(
            f"{name}={value!r} is not possible: it must be a number from 0 to below 1."
        )
    return share


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

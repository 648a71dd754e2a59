"""The description of EP-B and of other instances of the framework: names and numbers, no engine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

from embedprop.errors import InvalidParameterError
from embedprop.instance.catalog import LABEL_EMBEDDINGS, Part, parse_part, split_part
from embedprop.instance.instance import Instance
from embedprop.instance.parameters import EPBParameters
from embedprop.instance.parts import PARTS_OF_TYPE, Parts
from embedprop.instance.require import (
    per_some_types,
    per_type,
    require_bool,
    require_count,
    require_positive,
    require_share,
)

# What f is where nothing is asked for; a text is the set of its words.
DEFAULT_EMBEDDINGS = {
    "set": "lookup",
    "text": "lookup",
    "numeric": "piecewise_linear",
    "image": "cnn",
}
# The parts of EP-B. The paper writes the Euclidean distance; some of its results are the square's.
EPB_PARTS = {
    "label_embedding": ("lookup",),
    "aggregator": ("mean",),
    "reconstruction": ("mean",),
    "distance": ("euclidean", "squared_euclidean"),
    "loss": ("margin_ranking",),
}
CUSTOM = "custom "


@dataclass(frozen=True)
class TypeInstance:
    """What is learned for one label type: dimensions, EP-B's margin, and the parts.

    The parts f, g, g~, d and loss are written as in ``"softmax(temperature=0.2)"``; one that is the
    user's own module as ``"custom Name"``. refine: whether given start vectors are learned further.
    label_dropout: the chance that a label is left out while learning.
    """

    dim: int
    margin: float = 1.0
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
    def is_squared(self) -> bool:
        """Whether d is the squared Euclidean distance."""
        return self.distance == "squared_euclidean"

    @property
    def beyond_epb(self) -> str | None:
        """What is not EP-B's, in words; None if all is, the distance squared or not."""
        if not self.refine:
            return "refine=False"
        if self.label_dropout:
            return f"label_dropout={self.label_dropout:g}"
        other = (part for part, known in EPB_PARTS.items() if getattr(self, part) not in known)
        return next((f"{part}={getattr(self, part)!r}" for part in other), None)


@final
@dataclass(frozen=True)
class EPBInstance(Instance):
    """An instance of the framework that is learned by gradients; EP-B if nothing else is asked.

    EP-B has g = g~ = mean, Euclidean d, the margin ranking loss, r = concatenation. With relations,
    g~ adds the learned vector of the edge's type to each label vector that travels over it.
    """

    name: ClassVar[str] = "epb"
    of_type: ClassVar[type] = TypeInstance
    label_types: Mapping[str, TypeInstance]
    n_negatives: int = 1
    negatives: str = "uniform"
    neighborhood: str = "neighbors"
    max_neighbors: int | None = None
    representation: str = "concatenation"
    n_relations: int = 0

    @classmethod
    def of(cls, parameters: EPBParameters, kinds: Mapping[str, str], n_relations: int = 0) -> Self:
        """Return the instance that the parameters describe for label types of these kinds."""
        most, parts = parameters.max_neighbors, Parts.of(parameters.parts)
        n_negatives, negatives = _negatives(parameters, ids_alone=list(kinds) == ["node"])
        return cls(
            label_types=_types(parameters, parts, kinds),
            n_negatives=n_negatives,
            negatives=negatives,
            neighborhood=parse_part("neighborhood", parameters.neighborhood).name,
            max_neighbors=None if most is None else require_count("max_neighbors", most),
            representation=str(parse_part("representation", parts.representation)),
            n_relations=n_relations,
        )

    @property
    def beyond_epb(self) -> str | None:
        """What of it is not EP-B, in words; None if all is."""
        beyond = ((name, one.beyond_epb) for name, one in self.label_types.items())
        return next((f"label type {name!r} has {what}" for name, what in beyond if what), None)


def _negatives(parameters: EPBParameters, ids_alone: bool) -> tuple[int, str]:
    """Return how many u there are and how they are drawn.

    By degree, comparisons are harder and pull hubs apart; where nodes share words that does harm
    (Pubmed: 0.5 to 0.8 points).
    """
    number, name = parameters.n_negatives, parameters.negatives
    if name == "auto":
        name = "degree" if ids_alone else "uniform"
    if number == "auto":
        number = 2 if ids_alone else 1
    return require_count("n_negatives", number), parse_part("negatives", name).name


def _types(
    parameters: EPBParameters, parts: Parts, kinds: Mapping[str, str]
) -> dict[str, TypeInstance]:
    """Return the description of each label type, checked."""
    checks: Mapping[str, tuple[Any, Callable[[str, Any], Any]]] = {
        "dim": (parameters.dim, require_count),
        "margin": (parameters.margin, require_positive),
        "refine": (parts.refine, require_bool),
        "label_dropout": (parts.label_dropout, require_share),
    }
    given = {key: per_type(key, value, kinds) for key, (value, _) in checks.items()}
    written = {part: _written(part, getattr(parts, part), kinds) for part in PARTS_OF_TYPE}
    types = {}
    for name, kind in kinds.items():
        values = {key: check(*given[key][name]) for key, (_, check) in checks.items()}
        values |= {part: of_types[name] for part, of_types in written.items()}
        types[name] = _with_margin_of_loss(TypeInstance(kind=kind, **values))
    return types


def _written(part: str, given: Any, kinds: Mapping[str, str]) -> dict[str, str]:
    """Return how a part is written for each label type, from one or a dict; checked."""
    written = {}
    for name, (called, one) in per_some_types(part, given, kinds).items():
        kind = kinds[name]
        usual = DEFAULT_EMBEDDINGS[kind] if part == "label_embedding" else EPB_PARTS[part][0]
        if own_part(part, given, name, kind) is not None:
            written[name] = f"{CUSTOM}{type(one).__name__}"
        elif one is None or callable(one):
            written[name] = usual
        elif part == "label_embedding":
            written[name] = _written_embedding(called, one, name, kind, for_all=called == part)
        else:
            written[name] = _parsed(called, one)
    return written


def _written_embedding(called: str, one: Any, name: str, kind: str, for_all: bool) -> str:
    """Return how f is written; one for all types is meant for those that it can read."""
    written = _parsed(called, one)
    if reads_kind(split_part(written)[0], kind):
        return written
    if for_all and reads_kind(DEFAULT_EMBEDDINGS[kind], kind):
        return DEFAULT_EMBEDDINGS[kind]
    able = sorted(repr(other) for other in LABEL_EMBEDDINGS if reads_kind(other, kind))
    raise InvalidParameterError(
        f"{called}={one!r} cannot read label type {name!r}, which is of kind {kind!r}. Choose one "
        f"of: {', '.join(able)}."
    )


def _parsed(called: str, one: Any) -> str:
    if isinstance(one, str) and one.startswith(CUSTOM):
        raise InvalidParameterError(
            f"{called}={one!r} was a module of your own, which a saved model does not hold. Set it "
            f"again with set_params before you continue learning."
        )
    name, given = split_part(one)
    if name in EPB_PARTS["loss"] and given.keys() == {"margin"}:
        return str(Part(name, given))  # EP-B's own parameter: torch need not be there to know it
    return str(parse_part(called, one))


def own_part(part: str, given: Any, label_type: str, kind: str) -> Any:
    """Return the module of the user's own for a label type, None if there is none.

    One f for all label types is meant for their contents: sets, such as ids, keep their tables.
    """
    if isinstance(given, Mapping):
        given = given.get(label_type)
    elif part == "label_embedding" and kind == "set":
        return None
    return given if callable(given) else None


def _with_margin_of_loss(one: TypeInstance) -> TypeInstance:
    """Return the same with the margin that ``"margin_ranking(margin=5)"`` names, if it does."""
    name, given = split_part(one.loss)
    if one.loss.startswith(CUSTOM) or "margin" not in given:
        return one
    chosen = given.pop("margin")
    # Distances below 0 exist: only the ranking loss needs a margin above.
    zero = chosen == 0 and name not in EPB_PARTS["loss"]
    margin = 0.0 if zero else require_positive("margin", chosen)
    return replace(one, margin=margin, loss=str(Part(name, given)))


def reads_kind(embedding: str, kind: str) -> bool:
    """Return whether a label embedding reads labels of this kind; words of a text are a set.

    >>> reads_kind("lookup", "text"), reads_kind("lookup", "image")
    (True, False)
    """
    if embedding == "lookup":  # EP-B's own: known where torch is not
        return kind in ("set", "text")
    return kind in LABEL_EMBEDDINGS[embedding].kinds

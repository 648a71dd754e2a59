"""Every exchangeable part by kind and name, and how parts are written: "softmax(temperature=0.2)".

A new part is one class in one file, and one line here.
"""

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from embedprop.errors import InvalidParameterError, UnknownComponentError, did_you_mean
from embedprop.instance.registry import Registry

_F = "embedprop.framework"
_EPB = "embedprop.methods.epb"

_PLACES: Mapping[str, Mapping[str, str]] = {
    "label_embedding": {
        "lookup": f"{_F}.label_embeddings:LookupEmbedding",
        "linear": f"{_F}.label_embeddings:LinearEmbedding",
        "mlp": f"{_F}.label_embeddings:MLPEmbedding",
        "quantile_bins": f"{_F}.numeric_embeddings:QuantileBinsEmbedding",
        "piecewise_linear": f"{_F}.numeric_embeddings:PiecewiseLinearEmbedding",
        "cnn": f"{_F}.label_embeddings:CNNEmbedding",
        "gru": f"{_F}.text_embeddings:GRUEmbedding",
        "transformer": f"{_F}.text_embeddings:TransformerEmbedding",
    },
    "aggregator": {
        "mean": f"{_F}.aggregators:MeanAggregator",
        "weighted_mean": f"{_F}.aggregators:WeightedMeanAggregator",
        "sum": f"{_F}.aggregators:SumAggregator",
        "max": f"{_F}.aggregators:MaxAggregator",
        "attention": f"{_F}.aggregators:AttentionAggregator",
    },
    "distance": {
        "euclidean": f"{_F}.distances:EuclideanDistance",
        "squared_euclidean": f"{_F}.distances:SquaredEuclideanDistance",
        "cosine": f"{_F}.distances:CosineDistance",
        "negative_dot": f"{_F}.distances:NegativeDotDistance",
    },
    "loss": {
        "margin_ranking": f"{_F}.losses:MarginRankingLoss",
        "softmax": f"{_F}.losses:SoftmaxLoss",
        "logistic": f"{_F}.losses:LogisticLoss",
        "decorrelation": f"{_F}.losses:DecorrelationLoss",
    },
    "negatives": {
        "uniform": f"{_EPB}.negatives:UniformNegatives",
        "degree": f"{_EPB}.negatives:DegreeNegatives",
        "in_batch": f"{_EPB}.negatives:InBatchNegatives",
        "shared": f"{_EPB}.negatives:SharedNegatives",
    },
    "neighborhood": {
        "neighbors": f"{_EPB}.neighborhoods:Neighbors",
        "edges": f"{_EPB}.neighborhoods:Edges",
        "walks": f"{_EPB}.neighborhoods:Walks",
    },
    "representation": {
        "concatenation": "embedprop.model.representations:Concatenation",
        "mean": "embedprop.model.representations:Mean",
        "both": "embedprop.model.representations:Both",
        "pagerank": "embedprop.model.representations:PageRank",
    },
    # In this order "auto" asks them: the first without an objection computes.
    "engine": {
        "fused": f"{_EPB}.engines.choose:Fused",
        "torch": f"{_EPB}.engines.choose:Torch",
    },
}
REGISTRIES: Mapping[str, Registry[Any]] = {
    kind: Registry(kind, places) for kind, places in _PLACES.items()
}
LABEL_EMBEDDINGS = REGISTRIES["label_embedding"]
AGGREGATORS = REGISTRIES["aggregator"]
DISTANCES = REGISTRIES["distance"]
LOSSES = REGISTRIES["loss"]
NEGATIVES = REGISTRIES["negatives"]
NEIGHBORHOODS = REGISTRIES["neighborhood"]
REPRESENTATIONS = REGISTRIES["representation"]
ENGINES = REGISTRIES["engine"]


@dataclass(frozen=True)
class PartInfo:
    """What a user needs to know of a part: its first line, and its own parameters' defaults."""

    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A part that was chosen: its name and the parameters that were given."""

    name: str
    parameters: Mapping[str, Any]

    def __str__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        return f"{self.name}({given})" if given else self.name


def describe_part(kind: str, name: str) -> PartInfo:
    """Return what a part is; the package that has it must be there.

    >>> describe_part("neighborhood", "edges").parameters
    {}
    """
    part = REGISTRIES[kind][name]
    lines = (inspect.getdoc(part) or "").splitlines()
    parameters = {
        name: one.default
        for name, one in inspect.signature(part).parameters.items()
        if one.default is not one.empty
    }
    return PartInfo(lines[0] if lines else "", parameters)


def registry_of(kind: str) -> Registry[Any]:
    """Return the registry of a parameter; g~ is chosen among the aggregators too."""
    kind = kind.partition("[")[0]
    return REGISTRIES["aggregator" if kind == "reconstruction" else kind]


def parse_part(kind: str, text: Any) -> Part:
    """Return the part that is written as ``"softmax"`` or ``"softmax(temperature=0.2)"``.

    >>> parse_part("loss", "softmax(temperature=0.2)")
    Part(name='softmax', parameters={'temperature': 0.2})
    >>> parse_part("loss", "hinge")
    Traceback (most recent call last):
    ...
    embedprop.errors.UnknownComponentError: loss='hinge' is not known. Choose one of: ...
    """
    name, given = split_part(text)
    registry = registry_of(kind)
    if name not in registry:
        known = [*(["auto"] if kind == "engine" else []), *registry]
        raise UnknownComponentError(
            f"{kind}={text!r} is not known. Choose one of: {', '.join(map(repr, known))}."
            f"{did_you_mean(name, known)}"
        )
    # Without parameters the part need not be loaded: EP-B's own are known where torch is not.
    if given:
        has = describe_part(registry.kind, name).parameters
        for key in given:
            if key not in has:
                raise InvalidParameterError(
                    f"{kind}={text!r}: {name!r} has no parameter {key!r}. It has: "
                    f"{', '.join(map(repr, has)) or 'none'}.{did_you_mean(key, has)}"
                )
    return Part(name, given)


def split_part(text: Any) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of a written part; no name if it cannot be read."""
    try:
        call = ast.parse(text, mode="eval").body
        if isinstance(call, ast.Name):
            return call.id, {}
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            given = {key.arg or "**": ast.literal_eval(key.value) for key in call.keywords}
            return call.func.id, given
    except (SyntaxError, TypeError, ValueError, MemoryError, RecursionError):
        pass
    return "", {}

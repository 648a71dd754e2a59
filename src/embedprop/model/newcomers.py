"""What is known of a node that arrives after training: its known neighbors and labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary
from embedprop.model.notices import tell_unknown_labels

# "reconstruction": h~; "own": h; "both": where both exist, their mean (closed form: their PageRank
# average).
SOURCES = ("reconstruction", "own", "both")


def require_source(source: str) -> str:
    """Return `source` if it is one that a new node's vector can be computed from."""
    if source not in SOURCES:
        known = ", ".join(map(repr, SOURCES))
        raise UnknownComponentError(f"source={source!r} is not known. Choose one of: {known}.")
    return source


def known_speakers(
    nodes: Vocabulary, neighbors: Iterable[Hashable], weights: Sequence[float] | None
) -> Multisets:
    """Return the known ones of a new node's neighbors as its one multiset."""
    if isinstance(neighbors, str):
        raise InvalidParameterError(
            f"neighbors={neighbors!r} is one string; give a list of nodes: [{neighbors!r}]."
        )
    # As in a graph, a neighbor counts once; with weights, those of its edges add up.
    try:
        ids = nodes.find_all(dict.fromkeys(neighbors) if weights is None else neighbors)
    except TypeError as error:
        raise InvalidParameterError(
            f"neighbors must be a list of nodes, that is of hashable names ({error})."
        ) from error
    if weights is not None and len(weights) != len(ids):
        raise InvalidParameterError(
            f"weights has {len(weights)} numbers for {len(ids)} neighbors: give one for each."
        )
    return _one_set(ids, weights)


class HeardEdges(NamedTuple):
    """The known neighbors of one new node, and the known relation of each edge."""

    speakers: Multisets
    relations: NDArray[np.int32]


def known_edges(
    nodes: Vocabulary,
    vocabulary: Vocabulary | None,
    neighbors: Sequence[Hashable],
    relations: Sequence[Hashable] | None,
    weights: Sequence[float] | None,
) -> HeardEdges:
    """Return those edges of a new node whose neighbor and relation are known."""
    if vocabulary is None or relations is None or len(relations) != len(neighbors):
        raise InvalidParameterError(
            "relations must be left out: the model was learned from edges without them."
            if vocabulary is None
            else f"relations must have one relation for each of the {len(neighbors)} neighbors, "
            f"but {0 if relations is None else len(relations)} came."
        )
    over = vocabulary.find_all(relations)
    kept = [i for i, node in enumerate(neighbors) if over[i] >= 0 and node in nodes]
    chosen = [1.0 if weights is None else weights[i] for i in kept]
    speakers = known_speakers(nodes, [neighbors[i] for i in kept], chosen)
    positive = [i for i, weight in zip(kept, chosen, strict=True) if weight > 0]
    return HeardEdges(speakers, over[positive])


def known_labels(
    vocabularies: Mapping[str, Vocabulary],
    labels: Mapping[str, Iterable[Hashable] | Mapping[Hashable, float]],
) -> dict[str, Multisets]:
    """Return the known ones of a new node's labels, one multiset per label type."""
    if not isinstance(labels, Mapping):
        raise InvalidParameterError(
            f"labels={labels!r} is no dict: give labels by type, such as {{'word': [...]}}."
        )
    known = {}
    for name, given in labels.items():
        if name not in vocabularies or name == "node":
            types = ", ".join(repr(n) for n in vocabularies if n != "node") or "ids alone"
            raise InvalidParameterError(
                f"labels has the type {name!r}, which the model does not know. It knows: {types}."
            )
        if isinstance(given, str):
            raise InvalidParameterError(
                f"labels[{name!r}]={given!r} is one string; give a list of labels: [{given!r}]."
            )
        weights = list(given.values()) if isinstance(given, Mapping) else None
        ids = vocabularies[name].find_all(given)
        tell_unknown_labels(int((ids < 0).sum()), len(ids), name)
        known[name] = _one_set(ids, weights)
    return known


def _one_set(ids: np.ndarray, weights: Sequence[float] | None) -> Multisets:
    """Return the ids that are not -1 as one multiset, with the weights that are above 0."""
    keep = ids >= 0
    if weights is None:
        ids = ids[keep]
        return Multisets(np.array([0, len(ids)]), ids)
    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold is not finite
            numbers = np.asarray(weights, np.float32)
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        raise InvalidParameterError(
            f"weights={list(weights)!r} must be numbers, finite and not negative."
        )
    keep &= numbers > 0
    return Multisets(np.array([0, int(keep.sum())]), ids[keep], numbers[keep])

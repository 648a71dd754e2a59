"""What is near: rows of vectors by their cosine, and the ends of edges.

How likely an edge is: minus the distance between what one end says and what the other is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from embedprop.errors import InvalidParameterError
from embedprop.graph import Vocabulary
from embedprop.graph.arrays import Rows, Vectors, Weights
from embedprop.graph.changes.inverses import inverse_of
from embedprop.instance.catalog import DISTANCES
from embedprop.instance.epb import CUSTOM

if TYPE_CHECKING:
    from embedprop.model.model import Model

# d between each row of a and each row of b.
Between = Callable[[Vectors, Vectors], Vectors]


def _squared(a: Vectors, b: Vectors) -> Vectors:
    squares = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", b, b)
    return np.asarray(np.maximum(squares - 2 * (a @ b.T), 0), np.float32)


def _cosine(a: Vectors, b: Vectors) -> Vectors:
    unit = [x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-8) for x in (a, b)]
    return np.asarray(1 - unit[0] @ unit[1].T, np.float32)


# A model is asked where torch is not: our own distances are here once more, tests hold both equal.
WITHOUT_TORCH: Mapping[str, Between] = {
    "euclidean": lambda a, b: np.sqrt(_squared(a, b)),
    "squared_euclidean": _squared,
    "cosine": _cosine,
    "negative_dot": lambda a, b: -(a @ b.T),
}


NO_MODULES: Mapping[str, Any] = MappingProxyType({})


def distance_between(
    name: str, label_type: str, modules: Mapping[str, Any] = NO_MODULES
) -> Between:
    """Return d between all pairs of rows of two tables, by the name that it was learned with.

    modules: of the label types of a model that has some; a distance may have learned parameters.
    """
    if name in WITHOUT_TORCH:
        return WITHOUT_TORCH[name]
    if name.startswith(CUSTOM) and label_type not in modules:
        raise InvalidParameterError(
            f"distance={name!r} of label type {label_type!r} is a module of your own, which a "
            f"model does not hold; edges can be scored with: {', '.join(DISTANCES)}."
        )
    import torch

    from embedprop.framework.modules import make_part

    distance = modules[label_type].d if label_type in modules else make_part("distance", name)

    def between(a: Vectors, b: Vectors) -> Vectors:
        said, are = torch.from_numpy(np.array(a)), torch.from_numpy(np.array(b))
        with torch.no_grad():
            # A distance of others may have the one form that it must have.
            has_pairs = hasattr(distance, "between")
            pairs = distance.between(said, are) if has_pairs else distance(said[:, None], are)
        return np.asarray(pairs.numpy(), np.float32)

    return between


@dataclass(frozen=True, eq=False)
class LinkScores:
    """Scores of edges (source, relation, target) over all label types of a model.

    The target reconstructs itself from the source: minus the sum over the label types of
    d_i(h_i(source) + r_i, h_i(target)).
    """

    model: Model
    distances: Mapping[str, Between]

    @classmethod
    def of(cls, model: Model) -> LinkScores:
        """Return the scores by the distances that the model was learned with."""
        named, modules = model.instance.distances.items(), getattr(model.readout, "modules", {})
        return cls(model, {name: distance_between(d, name, modules) for name, d in named})

    def tails(self, heads: Rows, relations: Rows | None) -> Vectors:
        """Return the score of every node as the tail of each (head, relation): (heads, nodes)."""
        return self._scores(heads, relations, np.float32(1))

    def heads(self, tails: Rows, relations: Rows | None) -> Vectors:
        """Return the score of every node as the head of each (relation, tail): (tails, nodes).

        With inverse relations a head is the tail of the inverse.
        """
        if relations is not None and self.model.has_inverses:
            names = self.model.relations or Vocabulary(())
            inverses = names.find_all([inverse_of(names[r]) for r in relations.tolist()])
            return self._scores(tails, inverses.astype(np.int64), np.float32(1))
        return self._scores(tails, relations, np.float32(-1))

    def _scores(self, given: Rows, relations: Rows | None, sign: np.float32) -> Vectors:
        model = self.model
        total = np.zeros((len(given), len(model.nodes)), np.float32)
        for name, (low, high) in model.columns.items():
            vectors = model.embedding[:, low:high]
            said = vectors[given]
            if relations is not None:
                said = said + sign * model.relation_vectors[name][relations]
            total -= self.distances[name](said, vectors)
        return total


def lengths(vectors: Vectors) -> Weights:
    """Return the Euclidean length of each row."""
    squares: Weights = np.einsum("ij,ij->i", vectors, vectors)
    return np.sqrt(squares)


def most_similar(vectors: Vectors, norms: Weights, query: int, k: int) -> list[tuple[int, float]]:
    """Return the k rows nearest to row `query` by cosine, itself left out: (row, score)."""
    scale = norms * norms[query]
    scores = vectors @ vectors[query]
    scores = np.divide(scores, scale, out=np.zeros_like(scores), where=scale > 0)
    scores[query] = -np.inf
    return best_rows(scores, k)


def best_rows(scores: Weights, k: int) -> list[tuple[int, float]]:
    """Return the k rows of the highest finite scores, best first; equal ones by row.

    >>> best_rows(np.array([0.5, -np.inf, 0.9], np.float32), 5)
    [(2, 0.8999...), (0, 0.5)]
    """
    possible = np.flatnonzero(scores > -np.inf)
    if k < len(possible):
        possible = possible[np.argpartition(-scores[possible], k - 1)[:k]]
    best = possible[np.lexsort((possible, -scores[possible]))]
    return [(int(row), float(scores[row])) for row in best]

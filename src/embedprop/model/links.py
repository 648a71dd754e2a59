"""How likely an edge is: minus the distance between what one end says and what the other is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph.changes.inverses import inverse_of
from embedprop.instance.description import Instance
from embedprop.model.learned import Learned

Vectors = NDArray[np.float32]
Scores = NDArray[np.float32]


def _squared(a: Vectors, b: Vectors) -> Scores:
    squares = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", b, b)
    return np.asarray(np.maximum(squares - 2 * (a @ b.T), 0), np.float32)


def _cosine(a: Vectors, b: Vectors) -> Scores:
    unit = [x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-8) for x in (a, b)]
    return np.asarray(1 - unit[0] @ unit[1].T, np.float32)


# d between each row of a and each of b; tests hold them equal to the torch ones.
DISTANCES: Mapping[str, Callable[[Vectors, Vectors], Scores]] = {
    "euclidean": lambda a, b: np.sqrt(_squared(a, b)),
    "squared_euclidean": _squared,
    "cosine": _cosine,
    "negative_dot": lambda a, b: -(a @ b.T),
}


class LinkScores:
    """Scores of edges (head, relation, tail) over all label types of a model.

    The tail reconstructs itself from the head: minus the sum over the label types of
    d_i(h_i(head) + r_i, h_i(tail)).
    """

    def __init__(self, learned: Learned, instance: Instance) -> None:
        self._learned = learned
        self._distance = {}
        for name, one in instance.label_types.items():
            if one.distance not in DISTANCES:
                raise InvalidParameterError(
                    f"distance={one.distance!r} of label type {name!r} is a module of your own; "
                    f"edges can be scored with: {', '.join(DISTANCES)}."
                )
            self._distance[name] = DISTANCES[one.distance]
        self._inverses = instance.inverse_relations

    def tails(self, heads: NDArray[np.int64], relations: NDArray[np.int64] | None) -> Scores:
        """Return the score of every node as the tail of each (head, relation): (heads, nodes)."""
        return self._scores(heads, relations, np.float32(1))

    def heads(self, tails: NDArray[np.int64], relations: NDArray[np.int64] | None) -> Scores:
        """Return the score of every node as the head of each (relation, tail): (tails, nodes).

        With inverse relations a head is the tail of the inverse.
        """
        if relations is not None and self._inverses:
            return self._scores(tails, self.inverses(relations), np.float32(1))
        return self._scores(tails, relations, np.float32(-1))

    def inverses(self, relations: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the inverse of each relation."""
        vocabulary = self._learned.relations
        assert vocabulary is not None
        found = vocabulary.find_all([inverse_of(vocabulary[r]) for r in relations.tolist()])
        return found.astype(np.int64)

    def _scores(
        self, given: NDArray[np.int64], relations: NDArray[np.int64] | None, sign: np.float32
    ) -> Scores:
        learned = self._learned
        total = np.zeros((len(given), len(learned.nodes)), np.float32)
        for name, (low, high) in learned.columns.items():
            vectors = learned.embedding[:, low:high]
            said = vectors[given]
            if relations is not None:
                said = said + sign * learned.relation_vectors[name][relations]
            total -= self._distance[name](said, vectors)
        return total

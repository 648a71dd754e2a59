"""How well scores find edges that were held out: filtered ranking, and AUC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph.multisets import Multisets

Ids = NDArray[np.int64]
Scorer = Callable[[Ids, Ids, str], NDArray[np.float32]]

# Column of the node that is given, and of the one that is looked for.
COLUMNS = {"tail": (0, 2), "head": (2, 0)}


@dataclass(frozen=True)
class RankingResult:
    """What a filtered ranking gave, and how it was measured.

    Attributes
    ----------
    mrr
        The mean of 1 / rank.
    hits_1, hits_3, hits_10
        The share of queries whose answer has rank 1, at most 3, at most 10.
    mean_rank
        The mean of the rank itself; few hard queries decide it.
    n_queries
        Test triples times directions.
    protocol
        One sentence to print beside the numbers.
    """

    mrr: float
    hits_1: float
    hits_3: float
    hits_10: float
    mean_rank: float
    n_queries: int
    protocol: str


def filtered_ranking(
    score_all: Scorer,
    test: ArrayLike,
    known: ArrayLike,
    n_nodes: int,
    batch_size: int = 512,
    *,
    training: ArrayLike | None = None,
    sides: Sequence[str] = ("tail", "head"),
) -> RankingResult:
    """Rank the true node of each test triple among all nodes that would make a false triple.

    Equal scores count half: the rank is the mean of the best and the worst place that the answer
    could take among them, so that a constant score gains nothing.

    Parameters
    ----------
    score_all
        ``score_all(nodes, relations, side)`` returns (queries, n_nodes) scores, higher is better;
        for side "tail" `nodes` are heads, for "head" they are tails.
    test
        Rows (head, relation, tail) of ids.
    known
        All true triples: training, validation and test. Other true answers do not count as errors.
    n_nodes
        The nodes to rank, those without a training triple included.
    batch_size
        Queries at a time; 512 x 15 000 scores are 31 MB.
    training
        The triples that were trained on; the protocol then says how many test triples have a node
        that is in none of them. Such triples are ranked like all others.
    sides
        Both directions by default, as is usual; ("tail",) leaves the heads out.

    Examples
    --------
    Four nodes, true are 0 -> 1 and 0 -> 2. Node 2 leads, but is a known answer and is passed over;
    node 3 has the score of the answer 1, so the rank lies between 1 and 2.

    >>> scores = np.array([[0.1, 0.5, 0.9, 0.5]], np.float32)
    >>> triples = [(0, 0, 1), (0, 0, 2)]
    >>> result = filtered_ranking(lambda *_: scores, triples[:1], triples, 4, sides=["tail"])
    >>> result.mean_rank, result.hits_1, result.hits_3
    (1.5, 0.0, 1.0)
    >>> result.protocol
    'filtered ranking of 1 queries (tails only) among all 4 nodes, ties at their mean rank'
    """
    wanted, true = _triples("test", test, n_nodes), _triples("known", known, n_nodes)
    if not len(wanted) or batch_size < 1 or not sides or not set(sides) <= set(COLUMNS):
        raise InvalidParameterError(
            f"Expected at least one test triple, batch_size >= 1 and sides from 'tail' and 'head', "
            f"got {len(wanted)} triples, batch_size={batch_size} and sides={tuple(sides)}."
        )
    found = []
    for side in sides:
        answers = _Answers.of(np.concatenate([true, wanted]), side)
        for start in range(0, len(wanted), batch_size):
            batch = wanted[start : start + batch_size]
            scores = np.asarray(score_all(batch[:, COLUMNS[side][0]], batch[:, 1], side))
            _check_scores(scores, len(batch), n_nodes)
            found.append(_realistic_ranks(scores, batch, side, answers))
    ranks = np.concatenate(found)
    hits = {f"hits_{k}": float((ranks <= k).mean()) for k in (1, 3, 10)}
    return RankingResult(
        mrr=float((1 / ranks).mean()),
        **hits,
        mean_rank=float(ranks.mean()),
        n_queries=len(ranks),
        protocol=_protocol(wanted, n_nodes, sides, training),
    )


class _Answers(NamedTuple):
    """All true answers of every query (node, relation): set i belongs to keys[i], sorted."""

    keys: Ids
    answers: Multisets
    n_relations: int

    @classmethod
    def of(cls, triples: Ids, side: str) -> Self:
        given, looked_for = COLUMNS[side]
        n_relations = int(triples[:, 1].max()) + 1
        queries = triples[:, given] * n_relations + triples[:, 1]
        # A triple that is both in the test and among the known ones counts once.
        rows = np.unique(np.stack([queries, triples[:, looked_for]], axis=1), axis=0)
        keys, sizes = np.unique(rows[:, 0], return_counts=True)
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        return cls(keys, Multisets(ptr, rows[:, 1].astype(np.int32)), n_relations)

    def to(self, nodes: Ids, relations: Ids) -> Multisets:
        """Return the answers of each query; there are some for every test triple."""
        queries = nodes * self.n_relations + relations
        return self.answers.subset(np.searchsorted(self.keys, queries))


def _realistic_ranks(
    scores: NDArray[np.floating[Any]], batch: Ids, side: str, answers: _Answers
) -> NDArray[np.float64]:
    given, looked_for = COLUMNS[side]
    truth = scores[np.arange(len(batch)), batch[:, looked_for]]
    better = (scores > truth[:, None]).sum(axis=1)
    equal = (scores == truth[:, None]).sum(axis=1)  # the answer itself is one of them
    true = answers.to(batch[:, given], batch[:, 1])
    rows, others = true.owners, true.ids
    is_other = others != batch[rows, looked_for]
    rows, passed_over = rows[is_other], scores[rows, others][is_other]
    # Other true answers are passed over, so they leave both counts.
    better -= np.bincount(rows[passed_over > truth[rows]], minlength=len(batch))
    equal -= np.bincount(rows[passed_over == truth[rows]], minlength=len(batch))
    # optimistic rank: better + 1; pessimistic rank: better + equal
    return np.asarray(better + (1 + equal) / 2, np.float64)


def _protocol(wanted: Ids, n_nodes: int, sides: Sequence[str], training: ArrayLike | None) -> str:
    way = "both directions" if set(sides) == set(COLUMNS) else f"{sides[0]}s only"
    sentence = (
        f"filtered ranking of {len(wanted) * len(sides)} queries ({way}) among all {n_nodes} "
        f"nodes, ties at their mean rank"
    )
    if training is None:
        return sentence
    seen = np.zeros(n_nodes, np.bool_)
    seen[_triples("training", training, n_nodes)[:, [0, 2]]] = True
    n_unseen = int((~seen[wanted[:, [0, 2]]]).any(axis=1).sum())
    return f"{sentence}, {n_unseen} test triples with a node unseen in training kept"


def _triples(name: str, triples: ArrayLike, n_nodes: int) -> Ids:
    array = np.asarray(triples)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu":
        raise InvalidParameterError(
            f"`{name}` must hold integer rows (head, relation, tail), got an array of shape "
            f"{array.shape} and type {array.dtype}."
        )
    array = array.astype(np.int64)
    if len(array) and (array.min() < 0 or array[:, [0, 2]].max() >= n_nodes):
        raise InvalidParameterError(
            f"`{name}` must hold ids from 0 and nodes below n_nodes={n_nodes}, got ids from "
            f"{array.min()} and nodes up to {array[:, [0, 2]].max()}."
        )
    return array


def _check_scores(scores: NDArray[np.floating[Any]], n_queries: int, n_nodes: int) -> None:
    if scores.shape != (n_queries, n_nodes):
        raise InvalidParameterError(
            f"score_all must return one score per query and node, an array of shape "
            f"{(n_queries, n_nodes)}, got {scores.shape}."
        )
    # NaN compares as false with all others: an answer of NaN would rank first.
    if np.isnan(scores).any():
        raise InvalidParameterError("score_all returned NaN, which has no rank.")


def held_out_auc(positive_scores: ArrayLike, negative_scores: ArrayLike) -> float:
    """Return the probability that an edge has a higher score than a pair without one (ROC AUC).

    >>> held_out_auc([0.9, 0.4], [0.1, 0.5])
    0.75
    """
    from sklearn.metrics import roc_auc_score

    positive, negative = np.ravel(positive_scores), np.ravel(negative_scores)
    if not (len(positive) and len(negative)):
        raise InvalidParameterError(
            f"Expected scores of edges and of pairs without an edge, got {len(positive)} and "
            f"{len(negative)}."
        )
    is_edge = np.repeat([True, False], [len(positive), len(negative)])
    return float(roc_auc_score(is_edge, np.concatenate([positive, negative])))

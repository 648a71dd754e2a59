"""How well a model finds edges that it has not seen: filtered ranking, and held-out AUC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.graph import Graph
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
            f"but came {len(wanted)} triples, batch_size={batch_size} and sides={tuple(sides)}."
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
    return RankingResult(
        mrr=float((1 / ranks).mean()),
        hits_1=float((ranks <= 1).mean()),
        hits_3=float((ranks <= 3).mean()),
        hits_10=float((ranks <= 10).mean()),
        mean_rank=float(ranks.mean()),
        n_queries=len(ranks),
        protocol=_protocol(wanted, n_nodes, sides, training),
    )


class _Answers(NamedTuple):
    """All true answers of every query (node, relation): answers[k] belongs to keys[k], sorted."""

    keys: Ids
    answers: Ids
    n_relations: int

    @classmethod
    def of(cls, triples: Ids, side: str) -> Self:
        given, looked_for = COLUMNS[side]
        n_relations = int(triples[:, 1].max()) + 1
        keys, answers = triples[:, given] * n_relations + triples[:, 1], triples[:, looked_for]
        order = np.lexsort((answers, keys))
        keys, answers = keys[order], answers[order]
        is_first = np.append(True, (np.diff(keys) != 0) | (np.diff(answers) != 0))
        return cls(keys[is_first], answers[is_first], n_relations)

    def to(self, nodes: Ids, relations: Ids) -> tuple[Ids, Ids]:
        """Return the rows of the queries and their answers, one pair for each answer."""
        wanted = nodes * self.n_relations + relations
        start = np.searchsorted(self.keys, wanted, side="left")
        counts = np.searchsorted(self.keys, wanted, side="right") - start
        rows = np.repeat(np.arange(len(nodes)), counts)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, self.answers[np.repeat(start, counts) + place]


def _realistic_ranks(
    scores: NDArray[np.floating[Any]], batch: Ids, side: str, answers: _Answers
) -> NDArray[np.float64]:
    given, looked_for = COLUMNS[side]
    truth = scores[np.arange(len(batch)), batch[:, looked_for]]
    better = (scores > truth[:, None]).sum(axis=1)
    equal = (scores == truth[:, None]).sum(axis=1)  # the answer itself is one of them
    rows, others = answers.to(batch[:, given], batch[:, 1])
    is_other = others != batch[rows, looked_for]
    rows, passed_over = rows[is_other], scores[rows, others][is_other]
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
            f"`{name}` must hold integer rows (head, relation, tail), but came an array of shape "
            f"{array.shape} and type {array.dtype}."
        )
    array = array.astype(np.int64)
    if len(array) and (array.min() < 0 or array[:, [0, 2]].max() >= n_nodes):
        raise InvalidParameterError(
            f"`{name}` must hold ids from 0 and nodes below n_nodes={n_nodes}, but came ids from "
            f"{array.min()} and nodes up to {array[:, [0, 2]].max()}."
        )
    return array


def _check_scores(scores: NDArray[np.floating[Any]], n_queries: int, n_nodes: int) -> None:
    if scores.shape != (n_queries, n_nodes):
        raise InvalidParameterError(
            f"score_all must return one score per query and node, an array of shape "
            f"{(n_queries, n_nodes)}, but came {scores.shape}."
        )
    if np.isnan(scores).any():
        raise InvalidParameterError("score_all returned NaN, which has no rank.")


def held_out_auc(positive_scores: ArrayLike, negative_scores: ArrayLike) -> float:
    """Return the probability that an edge has a higher score than a pair without edge (ROC AUC).

    >>> held_out_auc([0.9, 0.4], [0.1, 0.5])
    0.75
    """
    from sklearn.metrics import roc_auc_score

    positive, negative = np.ravel(positive_scores), np.ravel(negative_scores)
    if not (len(positive) and len(negative)):
        raise InvalidParameterError(
            f"Expected scores of edges and of pairs without edge, but came {len(positive)} and "
            f"{len(negative)}."
        )
    is_edge = np.repeat([True, False], [len(positive), len(negative)])
    return float(roc_auc_score(is_edge, np.concatenate([positive, negative])))


class EdgeSplit(NamedTuple):
    """A graph without some of its edges, these edges, and as many pairs without edge.

    Pairs are rows (source, target) of node ids; in an undirected graph the smaller id comes first.
    """

    training: Graph
    held_out: Ids
    non_edges: Ids


def split_edges(graph: Graph, share: float, seed: int) -> EdgeSplit:
    """Hold out a share of the edges and draw as many pairs without edge, both uniformly.

    All nodes and labels stay, also where a node loses its last edge. Self-loops are never held
    out. In a directed graph the way counts: an edge and its reverse are different pairs.

    Parameters
    ----------
    graph
        A graph without relations; with relations use `filtered_ranking`.
    share
        The share of edges to hold out, between 0 and 1.
    seed
        The same seed gives the same split.

    Examples
    --------
    >>> ring = Graph.from_edges([(i, (i + 1) % 10) for i in range(10)])
    >>> split = split_edges(ring, 0.2, seed=0)
    >>> split.training, split.held_out.shape, split.non_edges.shape
    (Graph(10 nodes, 8 undirected edges, label types: node), (2, 2), (2, 2))
    """
    if graph.relations is not None:
        raise InvalidGraphError(
            "split_edges expects a graph without relations. Rank triples with filtered_ranking."
        )
    rng = np.random.default_rng(seed)
    keys, is_loop = _pair_keys(graph)
    pairs = np.unique(keys[~is_loop])
    n_held = round(share * len(pairs))
    if not 0 < n_held < len(pairs):
        raise InvalidParameterError(
            f"share={share} of {len(pairs)} edges holds out {n_held}. Expected at least one edge "
            f"to hold out and one to train on."
        )
    held = rng.choice(pairs, n_held, replace=False)
    absent = _non_edges(pairs, n_held, graph, rng)
    as_pairs = [np.stack(np.divmod(some, graph.n_nodes), axis=1) for some in (held, absent)]
    return EdgeSplit(_without(graph, np.isin(keys, held)), *as_pairs)


def _pair_keys(graph: Graph) -> tuple[Ids, NDArray[np.bool_]]:
    """Return for each entry of `graph.neighbors` source * n_nodes + target, and which are loops."""
    targets = np.repeat(np.arange(graph.n_nodes), graph.neighbors.sizes)
    sources = graph.neighbors.ids.astype(np.int64)
    is_loop = sources == targets
    if not graph.directed:
        sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
    return sources * graph.n_nodes + targets, is_loop


def _non_edges(pairs: Ids, wanted: int, graph: Graph, rng: np.random.Generator) -> Ids:
    """Draw `wanted` different pairs of different nodes that are not among the sorted `pairs`."""
    n_nodes = graph.n_nodes
    n_pairs = n_nodes * (n_nodes - 1) // (1 if graph.directed else 2)
    n_free = n_pairs - len(pairs)
    if n_free < wanted:
        raise InvalidGraphError(
            f"The graph has {n_free} pairs of nodes without edge, but {wanted} are needed. Hold "
            f"out fewer edges."
        )
    drawn = np.empty(0, np.int64)
    while len(drawn) < wanted:
        # Twice as many as would be enough on average, were no pair drawn twice.
        n_draws = 2 * ((wanted - len(drawn)) * n_pairs // n_free + 8)
        sources, targets = rng.integers(n_nodes, size=(2, n_draws))
        if not graph.directed:
            sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
        fresh = (sources * n_nodes + targets)[sources != targets]
        fresh = np.concatenate([drawn, fresh[~np.isin(fresh, pairs)]])
        # Each pair at its first draw: sorted ones, cut off below, would prefer small ids.
        drawn = fresh[np.sort(np.unique(fresh, return_index=True)[1])]
    return drawn[:wanted]


def _without(graph: Graph, is_held: NDArray[np.bool_]) -> Graph:
    """Return the graph without the held entries of `graph.neighbors`; everything else stays."""
    old = graph.neighbors
    owners = np.repeat(np.arange(graph.n_nodes), old.sizes)[~is_held]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=graph.n_nodes))])
    weights = None if old.weights is None else old.weights[~is_held]
    return replace(
        graph,
        neighbors=Multisets(ptr, old.ids[~is_held], weights),
        n_self_loops_dropped=0,
        n_duplicates_dropped=0,
        n_zero_weights_dropped=0,
    )

"""How well a model, or any scores, find edges that were held out: filtered ranking, and AUC."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph import Graph, Multisets, Vocabulary
from embedprop.graph.changes.subgraph import split_edges

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
        given, looked_for = COLUMNS[side]
        answers, queries = _true_answers(np.concatenate([wanted, true]), side)
        for start in range(0, len(wanted), batch_size):
            batch = wanted[start : start + batch_size]
            scores = np.asarray(score_all(batch[:, given], batch[:, 1], side))
            _check_scores(scores, len(batch), n_nodes)
            others = answers.subset(queries[start : start + len(batch)])
            found.append(_realistic_ranks(scores, batch[:, looked_for], others))
    ranks = np.concatenate(found)
    hits = {f"hits_{k}": float((ranks <= k).mean()) for k in (1, 3, 10)}
    return RankingResult(
        mrr=float((1 / ranks).mean()),
        **hits,
        mean_rank=float(ranks.mean()),
        n_queries=len(ranks),
        protocol=_protocol(wanted, n_nodes, sides, training),
    )


def _true_answers(triples: Ids, side: str) -> tuple[Multisets, Ids]:
    """Return all true answers of each query (node, relation), and the query of each triple."""
    given, looked_for = COLUMNS[side]
    queries = triples[:, given] * (triples[:, 1].max() + 1) + triples[:, 1]
    query = np.unique(queries, return_inverse=True)[1]
    # A triple that is both in the test and among the known ones counts once.
    rows = np.unique(np.stack([query, triples[:, looked_for]], axis=1), axis=0)
    ptr = np.concatenate([[0], np.cumsum(np.bincount(rows[:, 0]))])
    return Multisets(ptr, rows[:, 1].astype(np.int32)), query


def _realistic_ranks(
    scores: NDArray[np.floating[Any]], answer: Ids, true: Multisets
) -> NDArray[np.float64]:
    """Return the mean of the best and the worst rank that each answer could take."""
    truth = scores[np.arange(len(answer)), answer]
    better = (scores > truth[:, None]).sum(axis=1)
    equal = (scores == truth[:, None]).sum(axis=1)  # the answer itself is one of them
    is_other = true.ids != answer[true.owners]
    rows = true.owners[is_other]
    passed_over = scores[rows, true.ids[is_other]]
    # Other true answers are passed over, so they leave both counts.
    better -= np.bincount(rows[passed_over > truth[rows]], minlength=len(answer))
    equal -= np.bincount(rows[passed_over == truth[rows]], minlength=len(answer))
    # optimistic rank: better + 1; pessimistic rank: better + equal
    return np.asarray(better + (1 + equal) / 2, np.float64)


def _protocol(wanted: Ids, n_nodes: int, sides: Sequence[str], training: ArrayLike | None) -> str:
    """Return the sentence to print beside the numbers."""
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


def rank_links(model: Any, test: Graph, known: Iterable[Graph]) -> RankingResult:
    """Rank the true end of each edge of `test` among all nodes, other true ones passed over.

    Parameters
    ----------
    model
        A fitted `EmbeddingPropagation` whose edges have relations.
    test
        The edges to be found, directed, with relations.
    known
        Graphs with all other edges that are true: training and validation. The first is the one
        that was trained on.

    Examples
    --------
    >>> from embedprop import EmbeddingPropagation
    >>> edges = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    >>> ring = Graph.from_edges(edges, relations=["next"] * 4, directed=True)
    >>> model = EmbeddingPropagation(dim=4, epochs=5, neighborhood="edges", verbose=False).fit(ring)
    >>> rank_links(model, ring, [ring]).n_queries
    8
    """
    nodes, relations = Vocabulary.trusted(model.nodes_), Vocabulary.trusted(model.relations_ or ())
    wanted = triples_of(test, nodes, relations)
    true = [triples_of(graph, nodes, relations) for graph in known]
    scores = model.link_scores()

    return filtered_ranking(
        lambda given, over, side: (scores.tails if side == "tail" else scores.heads)(given, over),
        wanted,
        np.concatenate([*true, wanted]),
        len(nodes),
        training=true[0] if true else None,
    )


def triples_of(graph: Graph, nodes: Vocabulary, relations: Vocabulary) -> Ids:
    """Return the edges of a graph as rows (head, relation, tail) of a model's ids."""
    if graph.relations is None or graph.neighbor_relations is None or not graph.directed:
        raise InvalidGraphError(
            "Ranking needs directed edges with relations. Without relations, hold out edges with "
            "split_edges and compare scores by held_out_auc."
        )
    node, relation = nodes.find_all(graph.nodes), relations.find_all(graph.relations)
    heads, tails = node[graph.neighbors.ids], node[graph.neighbors.owners]
    rows = np.stack([heads, relation[graph.neighbor_relations], tails], axis=1)
    if (rows < 0).any():
        raise InvalidGraphError(
            "Some nodes or relations of these edges are unknown to the model. Declare all nodes "
            "in the graph that it is trained on (nodes=), and leave unknown relations out."
        )
    return rows.astype(np.int64)


def edge_auc(model: Any, graph: Graph, share: float = 0.1, seed: int = 0) -> float:
    """Fit a copy of the model without a share of the edges; return the AUC of their scores.

    An edge is compared with as many pairs of nodes without one.
    """
    from sklearn.base import clone

    split = split_edges(graph, share, seed)
    scores = clone(model).fit(split.training).link_scores()
    found = []
    for pairs in (split.held_out, split.non_edges):
        # 256 x n_nodes scores at a time bound the memory; only one of each row is wanted.
        parts = [pairs[start : start + 256] for start in range(0, len(pairs), 256)]
        own = [scores.tails(part[:, 0], None)[np.arange(len(part)), part[:, 1]] for part in parts]
        found.append(np.concatenate(own))
    return held_out_auc(*found)

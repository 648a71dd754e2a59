"""How well a fitted model finds edges that it has not seen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from embedprop.errors import InvalidGraphError
from embedprop.evaluation.link_prediction import (
    Ids,
    RankingResult,
    filtered_ranking,
    held_out_auc,
)
from embedprop.graph.changes.subgraph import split_edges
from embedprop.graph.graph import Graph
from embedprop.graph.vocabulary import Vocabulary


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
    heads = node[graph.neighbors.ids]
    tails = node[graph.neighbors.owners]
    over = relation[graph.neighbor_relations]
    if min(heads.min(initial=0), tails.min(initial=0), over.min(initial=0)) < 0:
        raise InvalidGraphError(
            "Some nodes or relations of these edges are unknown to the model. Declare all nodes "
            "in the graph that it is trained on (nodes=), and leave unknown relations out."
        )
    return np.stack([heads, over, tails], axis=1).astype(np.int64)


def edge_auc(model: Any, graph: Graph, share: float = 0.1, seed: int = 0) -> float:
    """Fit a copy of the model without a share of the edges; return the AUC of their scores.

    An edge is compared with as many pairs of nodes without one.
    """
    from sklearn.base import clone

    split = split_edges(graph, share, seed)
    fitted = clone(model).fit(split.training)
    scores = fitted.link_scores()
    found = []
    for pairs in (split.held_out, split.non_edges):
        # 256 x n_nodes scores at a time bound the memory; only one of each row is wanted.
        parts = [pairs[start : start + 256] for start in range(0, len(pairs), 256)]
        own = [scores.tails(part[:, 0], None)[np.arange(len(part)), part[:, 1]] for part in parts]
        found.append(np.concatenate(own))
    return held_out_auc(*found)

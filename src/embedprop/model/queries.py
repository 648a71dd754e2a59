"""What a fitted model answers: vectors of nodes, who is similar, which edge is likely."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from embedprop.errors import InvalidGraphError, InvalidParameterError, UnknownNodeError
from embedprop.graph import Graph
from embedprop.instance.description import Instance, require_count
from embedprop.methods.epb.engines.engine import Vectors
from embedprop.methods.preparation import as_learnable
from embedprop.model.learned import Learned
from embedprop.model.links import LinkScores, Scores
from embedprop.model.newcomers import known_edges, known_labels, known_speakers, require_source
from embedprop.model.search import best_rows, lengths, most_similar


class Queries:
    """What can be asked of a model once it is fitted; base of the estimator."""

    _learned: Learned
    instance_: Instance

    def transform(self, graph: Graph, source: str | None = None) -> Vectors:
        """Return a vector for each node of a graph that has new nodes, without learning.

        Parameters
        ----------
        graph : Graph
            The new nodes with their edges to known ones. Known nodes keep their vectors.
        source : {"reconstruction", "own", "both"}, optional
            What a new node is computed from. "reconstruction": its neighbors' labels; "own": its
            own known labels; "both": both where both exist, which is better on the paper's
            graphs with words. None: "reconstruction" for EP-B as in the paper, "both" for "eps".

        Returns
        -------
        ndarray of float32, (n_nodes, width of the vectors)
            Rows in `graph.nodes` order. Labels that were not seen in training do not count; a new
            node of which nothing is known gets zeros, and a warning is logged.
        """
        learned = self._fitted()
        source = source or ("both" if self.instance_.name == "eps" else "reconstruction")
        return learned.transform(
            as_learnable(as_graph(graph), self.instance_), require_source(source)
        )

    def transform_node(
        self,
        neighbors: Iterable[Hashable],
        labels: Mapping[str, Iterable[Hashable]] | None = None,
        weights: Sequence[float] | None = None,
        source: str | None = None,
        relations: Sequence[Hashable] | None = None,
    ) -> NDArray[np.float32]:
        """Return the vector of one new node, in microseconds.

        Parameters
        ----------
        neighbors : iterable
            Nodes that speak to it (of a directed graph: its in-neighbors; of ``"eps"`` those on
            either end); unknown ones do not count.
        labels : dict, optional
            Its own labels per type, a list or a dict label → weight.
        weights : sequence of float, optional
            Weights of the edges from `neighbors`.
        source : {"reconstruction", "own", "both"}, optional
            As in `transform`; None: "both" for "eps" or if labels are given, else "reconstruction".
        relations : sequence, optional
            The relation of each edge from `neighbors`, for a model that has relations.
        """
        learned = self._fitted()
        both = labels or self.instance_.name == "eps"
        source = source or ("both" if both else "reconstruction")
        own = known_labels(learned.vocabularies, labels or {})
        for name in own:
            one = self.instance_.label_types[name]
            if not one.is_set:
                raise InvalidParameterError(
                    f"labels has the type {name!r}, which is of kind {one.kind!r}: transform_node "
                    f"reads sets of labels alone. Give the node as a graph to transform."
                )
        if learned.relations is None and relations is None:
            speakers = known_speakers(learned.nodes, neighbors, weights)
            return learned.transform_one(speakers, own, require_source(source))
        heard = known_edges(learned.nodes, learned.relations, list(neighbors), relations, weights)
        return learned.transform_one(heard.speakers, own, require_source(source), heard.relations)

    def similar(self, node: Hashable, k: int = 10) -> list[tuple[Hashable, float]]:
        """Return the k nodes most similar to `node` by cosine, as (node, score), best first."""
        learned = self._fitted()
        found = most_similar(learned.vectors, learned.norms, self._row(node), require_count("k", k))
        return [(learned.nodes[row], score) for row, score in found]

    def similar_labels(
        self, label_type: str, label: Hashable, k: int = 10
    ) -> list[tuple[Hashable, float]]:
        """Return the k labels most similar to `label` by cosine, as (label, score), best first."""
        learned = self._fitted()
        if label_type not in learned.label_vectors:
            raise UnknownNodeError(
                f"Unknown label type {label_type!r}: the model has "
                f"{', '.join(map(repr, learned.label_types))}."
            )
        vocabulary, vectors = learned.vocabularies[label_type], learned.label_vectors[label_type]
        row = vocabulary.find(label)
        if row < 0:
            raise UnknownNodeError(
                f"Unknown label {label!r} of type {label_type!r}: the model has "
                f"{len(vocabulary)} labels of that type. Check its spelling and its type "
                f"('1' is not 1)."
            )
        found = most_similar(vectors, lengths(vectors), row, require_count("k", k))
        return [(vocabulary[other], score) for other, score in found]

    def score(self, head: Hashable, relation: Hashable, tail: Hashable) -> float:
        """Return how well `tail` is reconstructed from `head` over `relation`; higher is better.

        Minus the sum over the label types of d(h(head) + r, h(tail)). Scores compare edges of one
        model; they are no probabilities.
        """
        scores = self.link_scores().tails(self._rows(head), self._relation(relation))
        return float(scores[0, self._row(tail)])

    def score_edge(self, source: Hashable, target: Hashable) -> float:
        """Return how well `target` is reconstructed from `source`, in a graph without relations."""
        scores = self.link_scores().tails(self._rows(source), self._relation(None))
        return float(scores[0, self._row(target)])

    def predict_tails(
        self, head: Hashable, relation: Hashable = None, k: int = 10
    ) -> list[tuple[Hashable, float]]:
        """Return the k likeliest tails of (head, relation), as (node, score), best first.

        The head itself is left out; edges that are known already are not.
        """
        scores = self.link_scores().tails(self._rows(head), self._relation(relation))
        return self._best(scores, head, k)

    def predict_heads(
        self, relation: Hashable, tail: Hashable, k: int = 10
    ) -> list[tuple[Hashable, float]]:
        """Return the k likeliest heads of (relation, tail), as (node, score), best first."""
        scores = self.link_scores().heads(self._rows(tail), self._relation(relation))
        return self._best(scores, tail, k)

    def predict(self, graph: Graph | None = None) -> list[Hashable]:
        """Return the likeliest class of each node, by the head that was learned with `fit(y=)`.

        Parameters
        ----------
        graph : Graph, optional
            A graph with new nodes; rows in its order. None: the nodes that were learned from.
        """
        learned = self._fitted()
        if learned.head is None:
            raise InvalidParameterError(
                "The model has no head: give the known classes to fit, as in fit(graph, y=targets)."
            )
        scores = learned.head.scores
        if graph is not None:
            learnable = as_learnable(as_graph(graph), self.instance_)
            read = learned
            if not learned.representation.startswith("pagerank"):  # else r is an average of h
                read = replace(learned, representation="concatenation", node_vectors=None)
            old = learned.nodes.find_all(learnable.nodes)
            of_new = learned.head.scores_of(read.transform(learnable, "both"))
            scores = np.where((old >= 0)[:, None], scores[old], of_new)
        return [learned.head.names[best] for best in scores.argmax(axis=1).tolist()]

    def __getitem__(self, node: Hashable) -> NDArray[np.float32]:
        """Return the vector of a node."""
        vector: NDArray[np.float32] = self._fitted().vectors[self._row(node)]
        return vector

    def __contains__(self, node: Hashable) -> bool:
        """Return whether the model has a vector for a node."""
        return node in self._fitted().nodes

    def __iter__(self) -> Iterator[Hashable]:
        """Return the nodes, in row order."""
        return iter(self._fitted().nodes)

    def _best(self, scores: Scores, node: Hashable, k: int) -> list[tuple[Hashable, float]]:
        scores[0, self._row(node)] = -np.inf
        found = best_rows(scores[0], require_count("k", k))
        return [(self._learned.nodes[row], score) for row, score in found]

    def link_scores(self) -> LinkScores:
        """Return the scores of many edges at once, by rows of nodes_ and relations_."""
        return LinkScores(self._fitted(), self.instance_)

    def _relation(self, relation: Hashable) -> NDArray[np.int64] | None:
        vocabulary = self._fitted().relations
        if vocabulary is None:
            if relation is not None:
                raise InvalidParameterError(
                    f"relation={relation!r}: the model was learned from edges without relations. "
                    f"Use score_edge(source, target), or predict_tails(head)."
                )
            return None
        row = vocabulary.find(relation)
        if row < 0:
            shown = ", ".join(map(repr, vocabulary.names[:5]))
            raise UnknownNodeError(
                f"Unknown relation {relation!r}: the model has {len(vocabulary)}, such as {shown}."
            )
        return np.array([row])

    def _fitted(self) -> Learned:
        if not hasattr(self, "_learned"):
            check_is_fitted(self)  # raises NotFittedError with scikit-learn's words
        return self._learned

    def _rows(self, node: Hashable) -> NDArray[np.int64]:
        return np.array([self._row(node)])

    def _row(self, node: Hashable) -> int:
        row = self._fitted().nodes.find(node)
        if row < 0:
            raise UnknownNodeError(
                f"Unknown node {node!r}: it is not among the {len(self._learned.nodes)} nodes of "
                f"the model. Check its spelling and its type ('1' is not 1)."
            )
        return row


def as_graph(graph: object) -> Graph:
    """Return a graph, or say how to make one."""
    if isinstance(graph, Graph):
        return graph
    kind = f"{type(graph).__module__}.{type(graph).__qualname__}".removeprefix("builtins.")
    raise InvalidGraphError(
        f"Expected an embedprop.Graph, got {kind}. Make one with Graph.from_edges, "
        f"Graph.read, Graph.from_networkx, Graph.from_scipy, Graph.from_pandas or Graph.from_pyg."
    )

"""What was learned, and every question to it; no training, no scikit-learn."""

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final, overload

import numpy as np

from embedprop.errors import (
    InvalidParameterError,
    UnknownLabelError,
    UnknownNodeError,
    UnknownRelationError,
    did_you_mean,
)
from embedprop.graph import Graph, Vocabulary
from embedprop.graph.arrays import Rows, Vectors, Weights
from embedprop.graph.changes.inverses import inverse_of
from embedprop.graph.messages import counted
from embedprop.instance.instance import Instance
from embedprop.instance.require import require_count
from embedprop.model import answers
from embedprop.model.newcomers import GivenLabels, Source
from embedprop.model.notices import log_notices
from embedprop.model.readout.readout import Readout, columns_of
from embedprop.model.search import LinkScores, best_rows, lengths, most_similar

Scored = list[tuple[Hashable, float]]


@dataclass(frozen=True)
class Learning:
    """How a model was learned: settings as JSON can hold them, the seed, and how well it went."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    loss_history: Mapping[str, list[float]] = field(default_factory=dict)
    residuals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LearnedHead:
    """Linear scores of the classes of a node, from its embedding (h) and reconstruction (h~).

    weights (classes, width), bias (classes,); scores (nodes, classes): for the nodes learned from.
    """

    names: Vocabulary
    weights: Vectors
    bias: Weights
    scores: Vectors

    def scores_of(self, vectors: Vectors) -> Vectors:
        """Return the logarithms of the chances of all classes: (nodes, classes)."""
        return log_softmax(vectors @ self.weights.T + self.bias)


def log_softmax(scores: Vectors) -> Vectors:
    """Return the logarithm of the softmax of each row."""
    scores = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)), np.float32)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Vectors of labels and nodes, and what follows from them.

    Made by ``fit`` of an estimator, which keeps it as ``model_``, or by ``embedprop.load``.

    Attributes
    ----------
    instance
        The description of what was learned, frozen.
    nodes
        The names of the nodes, in row order.
    vectors
        The vector of each node (r): (nodes, width), float32.
    embedding
        The embeddings (h) of all label types side by side; the same array as `vectors` where r is
        just that.
    vocabularies, label_vectors
        Per label type, the names of the labels and a vector for each; without dummy labels.
    relations, relation_vectors
        The names of the relations, and per label type a vector for each; None and empty without
        relations.
    directed
        Whether the graph was directed: neighbors were then in-neighbors.
    readout
        What computes the vectors of new nodes.
    head
        Scores of the classes, if targets were learned.
    learning
        Settings, seed, losses, residuals.

    Examples
    --------
    >>> from embedprop import ClosedForm, Graph
    >>> graph = Graph.from_edges([("ann", "bob"), ("bob", "cid"), ("cid", "ann"), ("cid", "dan")])
    >>> model = ClosedForm(dim=2).fit(graph).model_
    >>> model
    Model(closed-form, 4 nodes, 2 numbers each, label types: node)
    """

    instance: Instance
    nodes: Vocabulary
    directed: bool
    vocabularies: Mapping[str, Vocabulary]
    label_vectors: Mapping[str, Vectors]
    embedding: Vectors
    vectors: Vectors
    readout: Readout
    relations: Vocabulary | None = None
    relation_vectors: Mapping[str, Vectors] = field(default_factory=dict)
    head: LearnedHead | None = None
    learning: Learning = field(default_factory=Learning)

    @property
    def label_types(self) -> tuple[str, ...]:
        """The label types that were learned from, in the order of their columns."""
        return tuple(self.instance.dims)

    @cached_property
    def columns(self) -> dict[str, tuple[int, int]]:
        """Where the columns of each label type start and end in `embedding`."""
        return columns_of(self.instance.dims)

    @cached_property
    def lengths(self) -> Weights:
        """The lengths of the node vectors."""
        return lengths(self.vectors)

    @property
    def n_parameters(self) -> int:
        """How many numbers were learned, as the paper's Table 1 counts them."""
        return self.readout.n_parameters

    @cached_property
    def has_inverses(self) -> bool:
        """Whether each relation has an inverse beside it, so that labels travel both ways."""
        names = set() if self.relations is None else set(self.relations)
        return any(inverse_of(name) in names for name in names)

    def __repr__(self) -> str:
        return (
            f"Model({self.instance.name}, {len(self.nodes)} nodes, {self.vectors.shape[1]} numbers "
            f"each, label types: {', '.join(self.label_types)})"
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node: Hashable) -> bool:
        return node in self.nodes

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    @overload
    def __getitem__(self, node: list[Any]) -> Vectors: ...
    @overload
    def __getitem__(self, node: Hashable) -> Weights: ...
    def __getitem__(self, node: Hashable | list[Any]) -> Vectors:
        """Return the vector of a node, or of each node of a list."""
        rows = [self.row(one) for one in node] if isinstance(node, list) else self.row(node)
        vectors: Vectors = self.vectors[rows]
        return vectors

    def row(self, node: Hashable) -> int:
        """Return the row of a node.

        >>> Graph.from_edges([("a", "b")]).nodes.find("b")
        1
        """
        row = self.nodes.find(node)
        if row < 0:
            raise UnknownNodeError(
                f"Unknown node {node!r}: it is not among the {len(self.nodes)} nodes of the model. "
                f"Check its spelling and its type ('1' is not 1)."
                f"{did_you_mean(node, self.nodes.names)}"
            )
        return row

    def transform(self, graph: Graph, source: Source = "both") -> Vectors:
        """Return a vector for each node of a graph that has new nodes, without training.

        Parameters
        ----------
        graph : Graph
            The new nodes with their edges to known ones. Known nodes keep their vectors.
        source : {"both", "reconstruction", "own"}
            What a new node is computed from. "both": its own known labels and its neighbors' where
            both exist; "reconstruction": its neighbors' labels, as in the paper; "own": its own.

        Returns
        -------
        ndarray of float32, (n_nodes, width of the vectors)
            Rows in `graph.nodes` order. Labels that were not seen in training are ignored; a new
            node about which nothing is known gets zeros, and a warning is logged.

        Examples
        --------
        >>> from embedprop import ClosedForm
        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")])).model_
        >>> model.transform(Graph.from_edges([("new", "a"), ("new", "b")])).shape
        (3, 2)
        """
        answer = answers.new_vectors(self, graph, source)
        log_notices(answer.notices)
        return answer.vectors

    def transform_node(
        self,
        neighbors: Iterable[Hashable],
        labels: Mapping[str, GivenLabels] | None = None,
        weights: Sequence[float] | None = None,
        source: Source = "both",
        relations: Sequence[Hashable] | None = None,
    ) -> Weights:
        """Return the vector of one new node, in microseconds.

        Parameters
        ----------
        neighbors : iterable
            Its neighbors: in a directed graph its in-neighbors, for the closed form those at either
            end of its edges. Unknown nodes are ignored.
        labels : dict, optional
            Its own labels per type: a list, or a dict from label to weight.
        weights : sequence of float, optional
            Weights of the edges from `neighbors`.
        source : {"both", "reconstruction", "own"}
            As in `transform`.
        relations : sequence, optional
            The relation of each edge from `neighbors`, for a model that has relations.

        Examples
        --------
        >>> from embedprop import ClosedForm
        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")])).model_
        >>> model.transform_node(neighbors=["a", "b"]).shape
        (2,)
        """
        answer = answers.new_vector(self, neighbors, labels, weights, source, relations)
        log_notices(answer.notices)
        vector: Weights = answer.vectors[0]
        return vector

    def similar(self, node: Hashable, k: int = 10) -> Scored:
        """Return the k nodes most similar to `node` by cosine, as (node, score), best first.

        >>> from embedprop import ClosedForm
        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")])).model_
        >>> len(model.similar("a", k=2))
        2
        """
        found = most_similar(self.vectors, self.lengths, self.row(node), require_count("k", k))
        return [(self.nodes[row], score) for row, score in found]

    def label_vector(self, label_type: str, label: Hashable) -> Weights:
        """Return the vector of a label.

        >>> from embedprop import ClosedForm
        >>> words = {"a": ["x", "y"], "b": ["y", "z"], "c": ["x"]}
        >>> graph = Graph.from_edges([("a", "b"), ("b", "c")], labels={"word": words})
        >>> ClosedForm(dim=2).fit(graph).model_.label_vector("word", "x").shape
        (2,)
        """
        row = self._label_row(label_type, label)
        vector: Weights = self.label_vectors[label_type][row]
        return vector

    def similar_labels(self, label_type: str, label: Hashable, k: int = 10) -> Scored:
        """Return the k labels most similar to `label` by cosine, as (label, score), best first.

        >>> from embedprop import ClosedForm
        >>> words = {"a": ["x", "y"], "b": ["y", "z"], "c": ["x"]}
        >>> graph = Graph.from_edges([("a", "b"), ("b", "c")], labels={"word": words})
        >>> len(ClosedForm(dim=2).fit(graph).model_.similar_labels("word", "x", k=1))
        1
        """
        row = self._label_row(label_type, label)
        vocabulary, vectors = self.vocabularies[label_type], self.label_vectors[label_type]
        found = most_similar(vectors, lengths(vectors), row, require_count("k", k))
        return [(vocabulary[other], score) for other, score in found]

    def score_edge(
        self, source: Hashable, target: Hashable, relation: Hashable | None = None
    ) -> float:
        """Return how well `target` is reconstructed from `source`; higher is better.

        Minus the sum over the label types of d(h(source) + r, h(target)), with the vector r of the
        relation where the model has relations. Scores compare edges of one model; they are not
        probabilities.

        >>> from embedprop import ClosedForm
        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")])).model_
        >>> model.score_edge("a", "c") <= 0
        True
        """
        scores = self.link_scores().tails(self._rows(source), self._relation(relation))
        return float(scores[0, self.row(target)])

    def predict_tails(
        self, head: Hashable, relation: Hashable | None = None, k: int = 10
    ) -> Scored:
        """Return the k likeliest targets of edges from `head`, as (node, score), best first.

        The head itself is excluded; edges that are already known are not.

        >>> from embedprop import ClosedForm
        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")])).model_
        >>> [node for node, _ in model.predict_tails("a", k=1)]
        ['c']
        """
        scores = self.link_scores().tails(self._rows(head), self._relation(relation))
        return self._best(scores, head, k)

    def predict_heads(self, relation: Hashable | None, tail: Hashable, k: int = 10) -> Scored:
        """Return the k likeliest sources of edges to `tail`, as (node, score), best first.

        >>> from embedprop import ClosedForm
        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")])).model_
        >>> len(model.predict_heads(None, "c"))
        2
        """
        scores = self.link_scores().heads(self._rows(tail), self._relation(relation))
        return self._best(scores, tail, k)

    def link_scores(self) -> LinkScores:
        """Return the scores of many edges at once, by rows of nodes and relations.

        >>> from embedprop import ClosedForm
        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")])).model_
        >>> model.link_scores().tails(np.array([0, 1]), None).shape
        (2, 3)
        """
        return LinkScores.of(self)

    def predict(self, graph: Graph | None = None) -> list[Hashable]:
        """Return the likeliest class of each node, for a model that learned targets.

        Parameters
        ----------
        graph : Graph, optional
            A graph with new nodes; rows in its order. None: the nodes that were learned from.

        Examples
        --------
        >>> import embedprop
        >>> embedprop.load("model").predict()  # doctest: +SKIP
        ['red', 'red', 'blue', 'blue']
        """
        answer = answers.classes(self, graph)
        log_notices(answer.notices)
        return answer.classes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model to a folder, replacing any model there as a whole or not at all.

        >>> import tempfile
        >>> from embedprop import ClosedForm, load
        >>> folder = tempfile.mkdtemp()
        >>> ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")])).save(folder)
        >>> load(folder)["a"].shape
        (2,)
        """
        from embedprop.model.codec import save_model

        save_model(self, path)

    def _label_row(self, label_type: str, label: Hashable) -> int:
        if label_type not in self.label_vectors:
            raise UnknownLabelError(
                f"Unknown label type {label_type!r}: the model has "
                f"{', '.join(map(repr, self.label_types))}."
                f"{did_you_mean(label_type, self.label_types)}"
            )
        vocabulary = self.vocabularies[label_type]
        row = vocabulary.find(label)
        if row < 0:
            raise UnknownLabelError(
                f"Unknown label {label!r} of type {label_type!r}: the model has "
                f"{len(vocabulary)} labels of that type. Check its spelling and its type "
                f"('1' is not 1).{did_you_mean(label, vocabulary.names)}"
            )
        return row

    def _best(self, scores: Vectors, node: Hashable, k: int) -> Scored:
        scores[0, self.row(node)] = -np.inf
        found = best_rows(scores[0], require_count("k", k))
        return [(self.nodes[row], score) for row, score in found]

    def _rows(self, node: Hashable) -> Rows:
        return np.array([self.row(node)])

    def _relation(self, relation: Hashable | None) -> Rows | None:
        vocabulary = self.relations
        if vocabulary is None:
            if relation is not None:
                raise InvalidParameterError(
                    f"relation={relation!r}: the model was learned from edges without relations. "
                    f"Leave it out."
                )
            return None
        row = vocabulary.find(relation)
        if row < 0:
            shown = ", ".join(map(repr, vocabulary.names[:5]))
            raise UnknownRelationError(
                f"Unknown relation {relation!r}: the model has "
                f"{counted(len(vocabulary), 'relation')}, such as {shown}."
                f"{did_you_mean(relation, vocabulary.names)}"
            )
        return np.array([row])

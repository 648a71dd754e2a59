"""EmbeddingPropagation: the scikit-learn-like face of the library."""

from __future__ import annotations

import logging
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from embedprop.closed_form.learned import ClosedFormLearned
from embedprop.closed_form.solve import solve
from embedprop.engines import choose_engine
from embedprop.errors import (
    InvalidGraphError,
    InvalidModelError,
    InvalidParameterError,
    UnknownNodeError,
)
from embedprop.graph import Graph
from embedprop.instance import Instance, require_count
from embedprop.learned import Learned, lengths, most_similar
from embedprop.new_nodes import known_labels, known_speakers, require_source
from embedprop.preparation import (
    choose_label_types,
    require_memory,
    start_vectors,
    tell_what_is_lost,
)
from embedprop.progress import progress_bar, solver_status
from embedprop.training.engine import TrainingResult, Vectors
from embedprop.training.plan import TrainingPlan
from embedprop.training.random_streams import RandomStreams

logger = logging.getLogger(__name__)


class EmbeddingPropagation(BaseEstimator):  # type: ignore[misc]
    """Learns vectors for the nodes and the labels of a graph, without supervision.

    Each node tries to reconstruct the vector of its own labels from its neighbors' labels; the
    gradients of that loss move the label vectors. A node's vector is made of its labels' vectors.

    Parameters
    ----------
    instance : {"epb", "eps"}
        Which instance of the framework. ``"epb"`` is the paper's: means, margin ranking loss,
        concatenation. ``"eps"`` is the closed form: no epochs, no negatives, seconds.
    dim : int or dict
        Dimensions per label type; a dict gives one number for each. 128 as in the paper.
    margin : float or dict
        Margin of the ranking loss. 1 loses least over the paper's graphs; the paper tries 1, 5,
        10 and 20.
    epochs : int
        Passes over all nodes, 200 as in the paper.
    batch_size : int
        Nodes per step of Adam, 64 as in the paper. Larger than the graph means one batch.
    learning_rate : float
        Step size of Adam, 0.001 as in the paper.
    label_types : list of str, optional
        Label types to learn from, for example ``["word"]``; None: all of them, for ``"eps"`` all
        but ids unless there is nothing else.
    max_neighbors : int, optional
        At most so many neighbors speak to a node, drawn afresh at each visit (the paper's kappa).
    n_negatives : int
        Nodes u that each v is compared with per visit, 1 as in the paper.
    negatives : {"uniform", "degree"}
        Every u with the same chance (the paper), or in proportion to degree^0.75.
    neighborhood : {"neighbors"}
        Who speaks to a node.
    regularization : float or dict, optional
        Of ``"eps"``: how much a dimension must gather, in units of the mean degree (ids) or of the
        mean weight of a label; None: 0.3 for ids, 5 for labels.
    restart : float
        Of ``"eps"``: the share of its own labels in the PageRank average of a node.
    engine : {"auto", "fused"}
        How to compute; "auto" takes the fastest that can.
    n_threads : int, optional
        Threads; None: as many as help. The result is the same, to the byte, for any number.
    random_state : int, optional
        Seed of all random draws; None takes a new one each time.
    verbose : bool
        Show a progress bar if the output is a terminal.

    Attributes
    ----------
    node_embeddings_ : ndarray of float32, (n_nodes, sum of dims)
        A vector per node: the type `node` first, then the other label types.
    nodes_ : sequence
        The name of each row.
    label_embeddings_ : dict of ndarray
        Per label type, a vector per label; `labels_` has the labels' names.
    labels_ : dict of sequence
        Per label type, the name of each row of `label_embeddings_`.
    loss_history_ : dict of list of float
        Per label type, the mean loss per visited node of each epoch; empty for ``"eps"``.
    residuals_ : dict of float
        Of ``"eps"``: per label type, how far the solution is from an exact one.
    seed_ : int
        The seed that was used.
    directed_ : bool
        Whether the graph was directed.
    instance_, fit_params_
        The instance that was learned, and the parameters at the time of the fit.

    Examples
    --------
    >>> from embedprop import EmbeddingPropagation, Graph
    >>> graph = Graph.from_edges(
    ...     [("ann", "bob"), ("bob", "cid"), ("cid", "ann"), ("cid", "dan")],
    ...     labels={"likes": {"ann": ["tea"], "bob": ["tea", "jam"], "dan": ["jazz"]}},
    ... )
    >>> model = EmbeddingPropagation(dim=8, epochs=20).fit(graph)
    >>> model.node_embeddings_.shape
    (4, 16)
    >>> len(model.similar("ann", k=2))
    2
    >>> model.transform_node(neighbors=["ann", "bob"]).shape
    (16,)
    """

    def __init__(
        self,
        instance: str = "epb",
        dim: int | Mapping[str, int] = 128,
        margin: float | Mapping[str, float] = 1.0,
        epochs: int = 200,
        batch_size: int = 64,
        learning_rate: float = 1e-3,
        label_types: Sequence[str] | None = None,
        max_neighbors: int | None = None,
        n_negatives: int = 1,
        negatives: str = "uniform",
        neighborhood: str = "neighbors",
        regularization: float | Mapping[str, float] | None = None,
        restart: float = 0.15,
        engine: str = "auto",
        n_threads: int | None = None,
        random_state: int | None = 0,
        verbose: bool = True,
    ) -> None:
        self.instance = instance
        self.dim = dim
        self.margin = margin
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.label_types = label_types
        self.max_neighbors = max_neighbors
        self.n_negatives = n_negatives
        self.negatives = negatives
        self.neighborhood = neighborhood
        self.regularization = regularization
        self.restart = restart
        self.engine = engine
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, graph: Graph, y: None = None) -> Self:
        """Learn label and node vectors from a graph.

        Ctrl-C stops within a moment, after a whole batch: the model is then usable, and
        KeyboardInterrupt is raised.
        """
        del y
        return self._train(graph, previous=None)

    def fit_transform(self, graph: Graph, y: None = None) -> Vectors:
        """Learn from a graph and return the vector of each of its nodes, in `graph.nodes` order."""
        return self.fit(graph, y).node_embeddings_

    def partial_fit(self, graph: Graph, y: None = None) -> Self:
        """Learn `epochs` more on a graph that has grown, from the vectors learned so far.

        Give the whole grown graph: known nodes and labels start from their vectors, new ones as
        usual, and Adam anew. Labels that it lacks keep their vectors; nodes that it lacks are
        forgotten, with a warning. It must have every label type that was learned.
        """
        del y
        return self._train(graph, previous=getattr(self, "_learned", None))

    def transform(self, graph: Graph, source: str | None = None) -> Vectors:
        """Return a vector for each node of a graph that has new nodes, without learning.

        Parameters
        ----------
        graph : Graph
            The new nodes with their edges to known ones. Known nodes keep their vectors.
        source : {"reconstruction", "own", "both"}, optional
            What a new node is computed from: its neighbors' labels, its own known labels, or both
            where both exist. None: "reconstruction" for EP-B as in the paper, "both" for "eps".

        Returns
        -------
        ndarray of float32, (n_nodes, sum of dims)
            Rows in `graph.nodes` order. Labels that were not seen in training do not count; a new
            node of which nothing is known gets zeros, and a warning is logged.
        """
        learned = self._fitted()
        source = source or ("both" if self.instance_.name == "eps" else "reconstruction")
        return learned.transform(_as_graph(graph), require_source(source))

    def transform_node(
        self,
        neighbors: Iterable[Hashable],
        labels: Mapping[str, Iterable[Hashable]] | None = None,
        weights: Sequence[float] | None = None,
        source: str | None = None,
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
        """
        learned = self._fitted()
        both = labels or self.instance_.name == "eps"
        source = source or ("both" if both else "reconstruction")
        speakers = known_speakers(learned.nodes, neighbors, weights)
        own = known_labels(learned.vocabularies, labels or {})
        return learned.transform_one(speakers, own, require_source(source))

    def similar(self, node: Hashable, k: int = 10) -> list[tuple[Hashable, float]]:
        """Return the k nodes most similar to `node` by cosine, as (node, score), best first."""
        learned = self._fitted()
        found = most_similar(
            learned.embedding, learned.norms, self._row(node), require_count("k", k)
        )
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

    def __contains__(self, node: Hashable) -> bool:
        """Return whether the model has a vector for a node."""
        return node in self._fitted().nodes

    def __iter__(self) -> Iterator[Hashable]:
        """Return the nodes, in row order."""
        return iter(self._fitted().nodes)

    def __getitem__(self, node: Hashable) -> NDArray[np.float32]:
        """Return the vector of a node."""
        vector: NDArray[np.float32] = self._fitted().embedding[self._row(node)]
        return vector

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model into a folder, in place of the model that may be there; never half."""
        from embedprop.model_files import save_estimator

        save_estimator(self, self._fitted(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], verify: bool = False) -> Self:
        """Load a saved model; its vectors stay on disk and are read when used.

        With ``verify=True`` every byte is checked against the hashes that were saved.
        """
        from embedprop.model_files import load_estimator

        loaded = load_estimator(path, verify)
        try:
            model = cls(**loaded.params)
        except TypeError as error:
            raise InvalidModelError(
                f"{path}: the model has settings that this version does not know ({error}). "
                f"Load it with the version that wrote it, or train it again."
            ) from error
        model._keep(
            loaded.learned, loaded.instance, loaded.loss_history, loaded.seed, loaded.residuals
        )
        return model

    def _train(self, graph: Graph, previous: Learned | None) -> Self:
        graph = _as_graph(graph)
        label_types = choose_label_types(graph, self.label_types, self.instance)
        instance = Instance.from_params(self.get_params(), label_types)
        streams = RandomStreams.from_random_state(self._seed())
        if instance.name == "eps":
            return self._solve(graph, instance, streams, previous)
        if previous is not None and self.instance_.name != instance.name:
            raise InvalidParameterError(
                f"partial_fit: the model is of instance={self.instance_.name!r}, but is now set to "
                f"{instance.name!r}. Set it back, or learn anew with fit."
            )
        history = {} if previous is None else self.loss_history_
        first_epoch = max(map(len, history.values()), default=0)
        plan = TrainingPlan.from_params(self.get_params(), streams.seed, first_epoch)
        engine = choose_engine(self.engine, instance)
        require_memory(graph, instance)
        if previous is not None:
            tell_what_is_lost(previous, graph, label_types)
        start = start_vectors(graph, instance, streams, previous)
        with progress_bar(plan.epochs, self.verbose) as report:
            result = engine.train(graph, instance, plan, start, report)
        learned = Learned.from_training(graph, result.label_vectors, previous)
        longer = {name: history.get(name, []) + new for name, new in result.loss_history.items()}
        self._keep(learned, instance, longer, streams.seed)
        _stop_if_interrupted(result, plan)
        return self

    def _solve(
        self, graph: Graph, instance: Instance, streams: RandomStreams, previous: Learned | None
    ) -> Self:
        if previous is not None:
            raise InvalidParameterError(
                "partial_fit goes on from a start, but instance='eps' has none: it solves a graph "
                "at once. Call fit with the whole graph; transform gives vectors for new nodes."
            )
        require_memory(graph, instance)
        with solver_status(self.verbose) as told:
            solution = solve(graph, instance, streams, told)
        learned = ClosedFormLearned.from_solution(graph, solution, instance.restart or 0.0)
        logger.info("Residuals: %s", solution.residuals)
        self._keep(learned, instance, {}, streams.seed, dict(solution.residuals))
        return self

    def _fitted(self) -> Learned:
        if not hasattr(self, "_learned"):
            check_is_fitted(self)  # raises NotFittedError with scikit-learn's words
        return self._learned

    def _keep(
        self,
        learned: Learned,
        instance: Instance,
        loss_history: dict[str, list[float]],
        seed: int,
        residuals: dict[str, float] | None = None,
    ) -> None:
        self._learned = learned
        self.instance_ = instance
        self.fit_params_ = self.get_params()
        self.directed_ = learned.directed
        self.node_embeddings_ = learned.embedding
        self.nodes_ = learned.nodes.names
        self.label_embeddings_ = dict(learned.label_vectors)
        self.labels_ = {name: v.names for name, v in learned.vocabularies.items()}
        self.loss_history_ = loss_history
        self.residuals_ = residuals or {}
        self.seed_ = seed

    def _row(self, node: Hashable) -> int:
        row = self._learned.nodes.find(node)
        if row < 0:
            raise UnknownNodeError(
                f"Unknown node {node!r}: it is not among the {len(self._learned.nodes)} nodes of "
                f"the model. Check its spelling and its type ('1' is not 1)."
            )
        return row

    def _seed(self) -> int | None:
        return (
            None
            if self.random_state is None
            else require_count("random_state", self.random_state, 0)
        )


def _as_graph(graph: object) -> Graph:
    if isinstance(graph, Graph):
        return graph
    kind = f"{type(graph).__module__}.{type(graph).__qualname__}".removeprefix("builtins.")
    raise InvalidGraphError(
        f"Expected an embedprop.Graph, got {kind}. Make one with Graph.from_edges, "
        f"Graph.read, Graph.from_networkx, Graph.from_scipy, Graph.from_pandas or Graph.from_pyg."
    )


def _stop_if_interrupted(result: TrainingResult, plan: TrainingPlan) -> None:
    if result.interrupted:
        done = max(map(len, result.loss_history.values()), default=0)
        raise KeyboardInterrupt(
            f"Stopped after {done} of {plan.epochs} epochs; the model holds what was learned."
        )

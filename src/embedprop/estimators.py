"""The scikit-learn interface of both methods: store, learn, and pass queries to the model."""

import os
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Self, final

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from embedprop.errors import (
    InvalidModelError,
    InvalidParameterError,
    UnknownParameterError,
    did_you_mean,
)
from embedprop.graph import Graph
from embedprop.graph.arrays import Vectors, Weights
from embedprop.instance.instance import Instance
from embedprop.instance.parameters import ClosedFormParameters, EPBParameters, fast_settings
from embedprop.instance.parts import Parts
from embedprop.instance.require import require_count
from embedprop.methods.closed_form.method import ClosedFormMethod
from embedprop.methods.epb.method import EPBMethod, WantedTargets
from embedprop.methods.method import Method, Stopped
from embedprop.methods.progress import progress_bar
from embedprop.methods.random_streams import RandomStreams
from embedprop.model.answers import as_graph
from embedprop.model.codec import load_model
from embedprop.model.model import Model, Scored
from embedprop.model.newcomers import GivenLabels, Source
from embedprop.model.search import LinkScores

Node = Hashable


class Estimator(BaseEstimator):  # type: ignore[misc]
    """What both estimators have: the model that was learned, and its answers.

    Attributes
    ----------
    model_ : Model
        What was learned; every query below is answered by it.
    node_embeddings_ : ndarray of float32, (n_nodes, sum of dims)
        A vector per node, the label types side by side: `node` first, then the others.
    nodes_ : sequence
        The name of each row.
    label_embeddings_, labels_ : dict
        Per label type, a vector per label, and the names of these labels.
    """

    method_name: ClassVar[str]
    model_: Model
    random_state: int | None

    def __new__(cls, *args: Any, **given: Any) -> Self:
        """Refuse an unknown parameter, and suggest the one that may be meant."""
        cls._require_known(given)
        made: Self = super().__new__(cls)
        return made

    @classmethod
    def load(cls, path: str | os.PathLike[str], verify: bool = False) -> Self:
        """Load a saved model and the settings it was learned with; vectors are read when used.

        With ``verify=True`` every byte is checked against the saved hashes. If you only want to
        query a model, `embedprop.load` is enough, and faster.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")])).save(folder)
        >>> ClosedForm.load(folder).dim
        2
        """
        model = load_model(path, verify)
        if model.instance.name != cls.method_name:
            raise InvalidModelError(
                f"{path}: expected a model of method {cls.method_name!r}, got one of "
                f"{model.instance.name!r}. Load it with embedprop.load, or with the other class."
            )
        try:
            loaded = cls(**model.learning.parameters)
        except TypeError as error:
            raise InvalidModelError(
                f"{path}: the model has settings that this version does not know ({error}). "
                f"Load it with the version that wrote it, or train it again."
            ) from error
        loaded.model_ = model
        return loaded

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model to a folder, replacing any model there as a whole or not at all.

        >>> import tempfile
        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")]))
        >>> model.save(tempfile.mkdtemp())
        """
        self._fitted().save(path)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep` also those of `parts`, as ``parts__loss``.

        >>> EmbeddingPropagation(parts={"loss": "softmax"}).get_params()["parts__loss"]
        'softmax'
        """
        params: dict[str, Any] = super().get_params(deep=False)
        if deep and "parts" in params:
            parts = Parts.of(params["parts"])
            params |= {f"parts__{one.name}": getattr(parts, one.name) for one in fields(parts)}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``parts__loss`` sets one of `parts`.

        >>> EmbeddingPropagation().set_params(dim=64, parts__distance="cosine").parts
        Parts(distance='cosine')
        """
        prefix = "parts__"
        own = {name: one for name, one in params.items() if not name.startswith(prefix)}
        given = {name[len(prefix) :]: one for name, one in params.items() if name not in own}
        self._require_known([*own, *(["parts"] if given else [])])
        Parts.of(given)  # refuses what is not there, before anything is set
        for name, value in own.items():
            setattr(self, name, value)
        if given:
            parts = replace(Parts.of(self.get_params(deep=False)["parts"]), **given)
            setattr(self, "parts", parts)  # noqa: B010 (of one of the two)
        return self

    @classmethod
    def _require_known(cls, names: Any) -> None:
        known = cls._get_param_names()
        for name in names:
            if name not in known:
                is_part = "parts" in known and name in {field.name for field in fields(Parts)}
                meant = f" Did you mean parts={{{name!r}: ...}}?" if is_part else ""
                raise UnknownParameterError(
                    f"{cls.__name__} has no parameter {name!r}. It has: {', '.join(known)}."
                    f"{meant or did_you_mean(name, known)}"
                )

    @abstractmethod
    def check(self, kinds: Mapping[str, str], *, supervised: bool = False) -> None:
        """Refuse what `fit` would refuse, given the kind of each label type; no graph is needed.

        supervised: whether targets will be given.
        """

    @staticmethod
    @abstractmethod
    def why_not(kind: str) -> str | None:
        """Return why labels of a kind ("set", "numeric", ...) are not read; None if they are."""

    def _learn(self, method: Method, graph: Graph, verbose: bool) -> Self:
        seed = self.random_state
        seed = None if seed is None else require_count("random_state", seed, 0)
        streams = RandomStreams.from_random_state(seed)
        with progress_bar(verbose) as report:
            try:
                self.model_ = method.learn(graph, streams, report)
            except Stopped as stop:
                self.model_ = stop.model  # before the bar closes, where Ctrl-C would lose it
                raise
        return self

    def _fitted(self) -> Model:
        check_is_fitted(self, "model_")
        return self.model_

    # What was learned

    @property
    def node_embeddings_(self) -> Vectors:
        """The vector of each node."""
        return self._fitted().vectors

    @property
    def nodes_(self) -> Sequence[Hashable]:
        """The name of each row of `node_embeddings_`."""
        return self._fitted().nodes.names

    @property
    def label_embeddings_(self) -> dict[str, Vectors]:
        """Per label type, a vector per label."""
        return dict(self._fitted().label_vectors)

    @property
    def labels_(self) -> dict[str, Sequence[Hashable]]:
        """Per label type, the name of each row of `label_embeddings_`."""
        return {name: one.names for name, one in self._fitted().vocabularies.items()}

    @property
    def relation_embeddings_(self) -> dict[str, Vectors]:
        """Per label type, a vector per relation; empty without relations."""
        return dict(self._fitted().relation_vectors)

    @property
    def relations_(self) -> Sequence[Hashable] | None:
        """The name of each row of `relation_embeddings_`; None without relations."""
        relations = self._fitted().relations
        return None if relations is None else relations.names

    @property
    def loss_history_(self) -> Mapping[str, list[float]]:
        """Per label type, the mean loss per visited node and epoch; empty for the closed form."""
        return self._fitted().learning.loss_history

    @property
    def residuals_(self) -> Mapping[str, float]:
        """For the closed form: per label type, how far the solution is from an exact one."""
        return self._fitted().learning.residuals

    @property
    def modules_(self) -> Mapping[str, Any]:
        """Per label type, the torch modules f, g and g~ (`g_tilde`); empty for EP-B's own parts."""
        return getattr(self._fitted().readout, "modules", {})

    @property
    def n_parameters_(self) -> int:
        """How many numbers were learned, as the paper's Table 1 counts them."""
        return self._fitted().n_parameters

    @property
    def seed_(self) -> int:
        """The seed that was used."""
        return self._fitted().learning.seed

    @property
    def directed_(self) -> bool:
        """Whether the graph was directed."""
        return self._fitted().directed

    @property
    def instance_(self) -> Instance:
        """The description of what was learned."""
        return self._fitted().instance

    # What can be asked

    def transform(self, graph: Graph, source: Source = "both") -> Vectors:
        """Return a vector for each node of a graph that has new nodes; see `Model.transform`.

        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")]))
        >>> model.transform(Graph.from_edges([("new", "a"), ("new", "b")])).shape
        (3, 2)
        """
        return self._fitted().transform(graph, source)

    def transform_node(
        self,
        neighbors: Sequence[Node],
        labels: Mapping[str, GivenLabels] | None = None,
        weights: Sequence[float] | None = None,
        source: Source = "both",
        relations: Sequence[Hashable] | None = None,
    ) -> Weights:
        """Return the vector of one new node, in microseconds; see `Model.transform_node`.

        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")]))
        >>> model.transform_node(neighbors=["a", "b"]).shape
        (2,)
        """
        return self._fitted().transform_node(neighbors, labels, weights, source, relations)

    def similar(self, node: Node, k: int = 10) -> Scored:
        """Return the k nodes most similar to `node` by cosine, as (node, score), best first.

        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")]))
        >>> len(model.similar("a", k=1))
        1
        """
        return self._fitted().similar(node, k)

    def similar_labels(self, label_type: str, label: Hashable, k: int = 10) -> Scored:
        """Return the k labels most similar to `label` by cosine, as (label, score), best first.

        >>> words = {"a": ["x", "y"], "b": ["y", "z"], "c": ["x"]}
        >>> graph = Graph.from_edges([("a", "b"), ("b", "c")], labels={"word": words})
        >>> len(ClosedForm(dim=2).fit(graph).similar_labels("word", "x", k=1))
        1
        """
        return self._fitted().similar_labels(label_type, label, k)

    def label_vector(self, label_type: str, label: Hashable) -> Weights:
        """Return the vector of a label.

        >>> graph = Graph.from_edges([("a", "b")], labels={"word": {"a": ["x"], "b": ["x", "y"]}})
        >>> EmbeddingPropagation(dim=2, epochs=1).fit(graph).label_vector("word", "x").shape
        (2,)
        """
        return self._fitted().label_vector(label_type, label)

    def score_edge(self, source: Node, target: Node, relation: Hashable | None = None) -> float:
        """Return how well `target` is reconstructed from `source`; see `Model.score_edge`.

        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")]))
        >>> model.score_edge("a", "c") <= 0
        True
        """
        return self._fitted().score_edge(source, target, relation)

    def predict_tails(self, head: Node, relation: Hashable | None = None, k: int = 10) -> Scored:
        """Return the k likeliest targets of edges from `head`, as (node, score), best first.

        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")]))
        >>> len(model.predict_tails("a"))
        2
        """
        return self._fitted().predict_tails(head, relation, k)

    def predict_heads(self, relation: Hashable | None, tail: Node, k: int = 10) -> Scored:
        """Return the k likeliest sources of edges to `tail`, as (node, score), best first.

        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")]))
        >>> len(model.predict_heads(None, "c"))
        2
        """
        return self._fitted().predict_heads(relation, tail, k)

    def link_scores(self) -> LinkScores:
        """Return the scores of many edges at once, by rows of `nodes_` and `relations_`.

        >>> model = ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")]))
        >>> model.link_scores().tails([0, 1], None).shape
        (2, 3)
        """
        return self._fitted().link_scores()

    def predict(self, graph: Graph | None = None) -> list[Hashable]:
        """Return the likeliest class of each node, if targets were learned.

        >>> graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
        >>> model = EmbeddingPropagation(dim=2, epochs=1)  # doctest: +SKIP
        >>> model.fit(graph, targets={"a": "red", "d": "blue"}).predict()  # doctest: +SKIP
        ['red', 'red', 'blue', 'blue']
        """
        return self._fitted().predict(graph)

    def __getitem__(self, node: Any) -> Vectors:
        """Return the vector of a node, or of each node of a list."""
        return self._fitted()[node]

    def __contains__(self, node: Node) -> bool:
        """Return whether the model has a vector for a node."""
        return node in self._fitted()

    def __iter__(self) -> Iterator[Node]:
        """Return the nodes, in row order."""
        return iter(self._fitted())


def _with_parameters(estimator: Any) -> Any:
    """Return an estimator with the parameters that its first base documents in its docstring."""
    _, section, body = (estimator.__bases__[0].__doc__ or "").partition("    Parameters\n")
    before, examples, after = (estimator.__doc__ or "").partition("    Examples\n")
    estimator.__doc__ = f"{before}{section}{body.rstrip()}\n\n{examples}{after}"
    return estimator


@final
@_with_parameters
class EmbeddingPropagation(EPBParameters, Estimator):
    """Learns vectors for the nodes and the labels of a graph by EP-B, epoch after epoch.

    Each node tries to reconstruct the vector of its own labels from its neighbors' labels; the
    gradients of that loss move the label vectors. A node's vector is made of its labels' vectors.
    Use it for relations, numbers, texts, images, other parts of the framework, and vectors that do
    not fit into memory; otherwise `ClosedForm` is faster, and usually better.

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

    method_name: ClassVar[str] = EPBMethod.name
    why_not = staticmethod(EPBMethod.why_not)

    def check(self, kinds: Mapping[str, str], *, supervised: bool = False) -> None:
        """Refuse what `fit` would refuse, given the kind of each label type.

        >>> EmbeddingPropagation(engine="fused").check({"node": "set"}, supervised=True)
        Traceback (most recent call last):
        ...
        embedprop.errors.InvalidParameterError: engine='fused' computes only EP-B, ...
        """
        EPBMethod.of(self, kinds, targets=WantedTargets(None) if supervised else None)

    @classmethod
    def fast(cls, **settings: Any) -> Self:
        """Return an estimator with the settings that we recommend; those that are given win.

        It reaches the quality of the paper's settings in a fifth to two thirds of the time.

        >>> EmbeddingPropagation.fast(dim=64).epochs
        120
        """
        return cls(**fast_settings(settings))

    def fit(
        self, graph: Graph, y: Any = None, *, targets: Any = None, target_weight: float = 1.0
    ) -> Self:
        """Learn label and node vectors from a graph.

        Ctrl-C stops within a moment, at the end of a batch: the model is then usable, and
        KeyboardInterrupt is raised.

        Parameters
        ----------
        graph : Graph
            Nodes, edges and labels.
        y : ignored
            Present for scikit-learn's pipelines; learning is unsupervised.
        targets : dict or sequence, optional
            Classes to learn along with the reconstruction: {node: class}, or a class for each node
            in order, None where it is not known. `predict` then gives the class of any node.
        target_weight : float
            Weight of the targets' loss.


        Examples
        --------
        >>> graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
        >>> EmbeddingPropagation(dim=2, epochs=1).fit(graph).node_embeddings_.shape
        (4, 2)
        """
        return self._train(graph, None, targets, target_weight)

    def fit_transform(
        self, graph: Graph, y: Any = None, *, targets: Any = None, target_weight: float = 1.0
    ) -> Vectors:
        """Learn from a graph and return the vector of each of its nodes, in `graph.nodes` order.

        >>> graph = Graph.from_edges([("a", "b"), ("b", "c")])
        >>> EmbeddingPropagation(dim=2, epochs=1).fit_transform(graph).shape
        (3, 2)
        """
        return self.fit(graph, y, targets=targets, target_weight=target_weight).node_embeddings_

    def partial_fit(
        self, graph: Graph, y: Any = None, *, targets: Any = None, target_weight: float = 1.0
    ) -> Self:
        """Learn for `epochs` more epochs on a grown graph, from the vectors learned so far.

        Give the whole grown graph: known nodes and labels start from their vectors, new ones as
        usual; Adam starts anew. Labels missing from it keep their vectors; nodes missing from it
        are forgotten, with a warning. It must have every label type that was learned.

        >>> model = EmbeddingPropagation(dim=2, epochs=1).fit(Graph.from_edges([("a", "b")]))
        >>> model.partial_fit(Graph.from_edges([("a", "b"), ("b", "c")])).node_embeddings_.shape
        (3, 2)
        """
        return self._train(graph, getattr(self, "model_", None), targets, target_weight)

    def _train(self, graph: Graph, previous: Model | None, targets: Any, weight: float) -> Self:
        wanted = None if targets is None else WantedTargets(targets, weight)
        graph = as_graph(graph)
        if previous is not None and previous.has_inverses and graph.relations is not None:
            graph = graph if graph.has_inverses else graph.with_inverses()
        n_relations = 0 if graph.relations is None else len(graph.relations)
        method = EPBMethod.of(self, graph.kinds, n_relations, wanted, previous)
        return self._learn(method, graph, self.verbose)


@final
@_with_parameters
class ClosedForm(ClosedFormParameters, Estimator):
    """Solves EP's equation at once: vectors for nodes and labels in seconds, without epochs.

    The distance is squared, and instead of negatives the dimensions are decorrelated: what remains
    is an eigenvector problem. It reads sets of labels (ids, words, categories); edges of all
    relations count alike.

    Examples
    --------
    >>> from embedprop import ClosedForm, Graph
    >>> graph = Graph.from_edges(
    ...     [("ann", "bob"), ("bob", "cid"), ("cid", "ann"), ("cid", "dan")],
    ...     labels={"likes": {"ann": ["tea"], "bob": ["tea", "jam"], "dan": ["jazz"]}},
    ... )
    >>> model = ClosedForm(dim=2).fit(graph)
    >>> model.node_embeddings_.shape
    (4, 2)
    >>> model.transform_node(neighbors=["ann"], labels={"likes": ["jam"]}).shape
    (2,)
    """

    method_name: ClassVar[str] = ClosedFormMethod.name
    why_not = staticmethod(ClosedFormMethod.why_not)

    def check(self, kinds: Mapping[str, str], *, supervised: bool = False) -> None:
        """Refuse what `fit` would refuse, given the kind of each label type.

        >>> ClosedForm(dim=0).check({"node": "set"})
        Traceback (most recent call last):
        ...
        embedprop.errors.InvalidParameterError: dim=0: expected ...
        """
        if supervised:
            raise InvalidParameterError(
                "The closed form learns no targets: EmbeddingPropagation does. Or train a "
                "classifier on node_embeddings_."
            )
        ClosedFormMethod.of(self, kinds)

    def fit(self, graph: Graph, y: Any = None) -> Self:
        """Solve a graph; y is ignored, as in scikit-learn's unsupervised estimators.

        >>> ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")])).nodes_
        ('a', 'b', 'c')
        """
        graph = as_graph(graph)
        return self._learn(ClosedFormMethod.of(self, graph.kinds), graph, self.verbose)

    def fit_transform(self, graph: Graph, y: Any = None) -> Vectors:
        """Solve a graph and return the vector of each of its nodes, in `graph.nodes` order.

        >>> ClosedForm(dim=2).fit_transform(Graph.from_edges([("a", "b"), ("b", "c")])).shape
        (3, 2)
        """
        return self.fit(graph, y).node_embeddings_


ESTIMATORS: Mapping[str, type[EmbeddingPropagation | ClosedForm]] = {
    one.method_name: one for one in (ClosedForm, EmbeddingPropagation)
}

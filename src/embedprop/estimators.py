"""EmbeddingPropagation: the scikit-learn-like face of the library."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from sklearn.base import BaseEstimator

from embedprop.errors import InvalidModelError
from embedprop.graph import Graph
from embedprop.instance.description import Instance, require_count, require_positive
from embedprop.methods.closed_form.solve import solve
from embedprop.methods.epb.engines.choose import choose_engine, make_engine
from embedprop.methods.epb.engines.engine import TrainingResult, Vectors
from embedprop.methods.epb.plan import TrainingPlan
from embedprop.methods.epb.tables.place import Storage, choose_place
from embedprop.methods.epb.tables.storage import MEMORY
from embedprop.methods.preparation import (
    as_learnable,
    check_pretrained,
    check_representation,
    check_same_instance,
    check_solvable,
    choose_label_types,
    own_parts,
    require_memory,
    start_vectors,
    tell_what_is_lost,
)
from embedprop.methods.presets import Asked, Preset, remember_given
from embedprop.methods.progress import progress_bar, solver_status
from embedprop.methods.random_streams import RandomStreams
from embedprop.model.eigen import ClosedFormLearned
from embedprop.model.heads import Targets
from embedprop.model.learned import Learned
from embedprop.model.learned_modules import learned_from
from embedprop.model.notices import tell_unused
from embedprop.model.queries import Queries, as_graph


class EmbeddingPropagation(Queries, Preset, BaseEstimator):  # type: ignore[misc]
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
    schedule : {"constant", "linear"}
        Whether the step size stays, as in the paper, or falls with each epoch.
    label_types : list of str, optional
        Label types to learn from, for example ``["word"]``; None: all of them, for ``"eps"`` all
        but ids unless there is nothing else.
    max_neighbors : int, optional
        At most so many neighbors speak to a node, drawn afresh at each visit (the paper's kappa).
    n_negatives : int
        Nodes u that each v is compared with per visit, 1 as in the paper.
    negatives : {"uniform", "degree", "in_batch", "shared"}
        Every u with the same chance (the paper), in proportion to degree^0.75, the next nodes of
        the batch, or the same uniform ones for the whole batch.
    neighborhood : {"neighbors", "walks", "edges"}
        Who speaks to a node: its neighbors (the paper), the ends of short random walks, or each
        neighbor alone, in a visit of its own.
    label_embedding, aggregator, reconstruction, distance, loss : str, module or dict, optional
        The parts f, g, g~, d and the loss of the framework, by name as `embedprop parts` lists
        them, with parameters as in ``"softmax(temperature=0.2)"``, or a torch module of your own; a
        dict gives one for each label type. None: EP-B's. Others need torch, but for
        ``distance="squared_euclidean"``, which is worth a try where ids are the only labels.
    representation : {"concatenation", "mean", "both", "pagerank"}
        r: how a node's vector is made of its h and h~ of all label types.
    inverse_relations : bool
        Whether each relation of a directed graph gets an inverse, so that labels travel both ways.
    pretrained : dict, optional
        Vectors to start from per label type: a word2vec or GloVe text file, gensim KeyedVectors, a
        dict, or (names, array). Labels without one start as usual.
    refine : bool or dict
        Whether pretrained vectors, or a module of your own as f, are learned further.
    label_dropout : float or dict
        The chance that a label of a node is left out at a visit, against overfitting; never all of
        them. 0 as in the paper.
    target_weight : float
        Weight of the targets' loss when `fit` is given `y`.
    regularization : float or dict, optional
        Of ``"eps"``: how much a dimension must gather, in units of the mean degree (ids) or of the
        mean weight of a label; None: 0.3 for ids, 5 for labels.
    restart : float
        Of ``"eps"``: the share of its own labels in the PageRank average of a node.
    preset : {"paper", "fast"}, optional
        Settings of EP-B for all that is not given: "fast" is what we recommend, the quality of the
        paper's in a fifth to two thirds of the time. None: the defaults here, the paper's.
    engine : {"auto", "fused", "torch"}
        How to compute; "auto" takes the fastest that can.
    storage : {"auto", "memory", "disk"}
        Where EP-B's tables are while they are learned. On disk a pair of partitions of the nodes is
        learned at a time, and a node hears the neighbors that are in its pair;
        ``"disk(partitions=8, folder='/data')"`` chooses their number and the folder. "auto" takes
        the disk if memory does not hold the tables.
    device : str
        Where torch computes: "cpu", "cuda", or "auto" for the best that is there.
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
    relation_embeddings_, relations_
        Per label type, a vector per relation, and the relations' names; empty and None without.
    modules_ : dict
        Per label type, the torch modules f, g and g~ (`g_tilde`); empty where all is EP-B's.
    n_parameters_ : int
        How many numbers were learned, as the paper's Table 1 counts them.
    seed_ : int
        The seed that was used.
    directed_ : bool
        Whether the graph was directed.
    instance_, fit_params_
        The instance that was learned, and the parameters of the fit, with those of the preset.

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

    @remember_given
    def __init__(
        self,
        instance: str = "epb",
        dim: int | Mapping[str, int] = 128,
        margin: float | Mapping[str, float] = 1.0,
        epochs: int = 200,
        batch_size: int = 64,
        learning_rate: float = 1e-3,
        schedule: str = "constant",
        label_types: Sequence[str] | None = None,
        max_neighbors: int | None = None,
        n_negatives: int = 1,
        negatives: str = "uniform",
        neighborhood: str = "neighbors",
        label_embedding: Any = None,
        aggregator: Any = None,
        reconstruction: Any = None,
        distance: Any = None,
        loss: Any = None,
        representation: str = "concatenation",
        inverse_relations: bool = False,
        pretrained: Mapping[str, Any] | None = None,
        refine: bool | Mapping[str, bool] = True,
        label_dropout: float | Mapping[str, float] = 0.0,
        target_weight: float = 1.0,
        regularization: float | Mapping[str, float] | None = None,
        restart: float = 0.15,
        preset: str | None = None,
        engine: str = "auto",
        storage: str = "auto",
        device: str = "auto",
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
        self.schedule = schedule
        self.label_types = label_types
        self.max_neighbors = max_neighbors
        self.n_negatives = n_negatives
        self.negatives = negatives
        self.neighborhood = neighborhood
        self.label_embedding = label_embedding
        self.aggregator = aggregator
        self.reconstruction = reconstruction
        self.distance = distance
        self.loss = loss
        self.representation = representation
        self.inverse_relations = inverse_relations
        self.pretrained = pretrained
        self.refine = refine
        self.label_dropout = label_dropout
        self.target_weight = target_weight
        self.regularization = regularization
        self.restart = restart
        self.preset = preset
        self.engine = engine
        self.storage = storage
        self.device = device
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, graph: Graph, y: Any = None) -> Self:
        """Learn label and node vectors from a graph.

        Ctrl-C stops within a moment, after a whole batch: the model is then usable, and
        KeyboardInterrupt is raised.

        Parameters
        ----------
        graph : Graph
            Nodes, edges and labels.
        y : dict or sequence, optional
            Targets: {node: class}, or a class for each node in order, None where it is not known.
            A linear head is then learned with them, and `predict` gives the class of any node.
        """
        return self._train(graph, previous=None, y=y)

    def fit_transform(self, graph: Graph, y: Any = None) -> Vectors:
        """Learn from a graph and return the vector of each of its nodes, in `graph.nodes` order."""
        return self.fit(graph, y).node_embeddings_

    def partial_fit(self, graph: Graph, y: Any = None) -> Self:
        """Learn `epochs` more on a graph that has grown, from the vectors learned so far.

        Give the whole grown graph: known nodes and labels start from their vectors, new ones as
        usual, and Adam anew. Labels that it lacks keep their vectors; nodes that it lacks are
        forgotten, with a warning. It must have every label type that was learned.
        """
        return self._train(graph, previous=getattr(self, "_learned", None), y=y)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model into a folder, in place of the model that may be there; never half."""
        from embedprop.model.codec import save_estimator

        save_estimator(self, self._fitted(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], verify: bool = False) -> Self:
        """Load a saved model; its vectors stay on disk and are read when used.

        With ``verify=True`` every byte is checked against the hashes that were saved.
        """
        from embedprop.model.codec import load_estimator

        loaded = load_estimator(path, verify)
        try:
            model = cls(**loaded.params)
        except TypeError as error:
            raise InvalidModelError(
                f"{path}: the model has settings that this version does not know ({error}). "
                f"Load it with the version that wrote it, or train it again."
            ) from error
        model._given = loaded.given
        model._keep(
            loaded.learned, loaded.instance, loaded.loss_history, loaded.seed, loaded.residuals
        )
        return model

    def _train(self, graph: Graph, previous: Learned | None, y: Any) -> Self:
        graph = as_graph(graph)
        kinds = choose_label_types(graph, self.label_types, self.instance)
        params = self._settled_params(kinds)
        n_relations = 0 if graph.relations is None else len(graph.relations)
        instance = Instance.from_params(
            params, kinds, n_relations * (2 if self.inverse_relations else 1)
        )
        tell_unused(instance.name, self._changed())
        streams = RandomStreams.from_random_state(self._seed())
        if instance.name == "eps":
            return self._solve(graph, instance, streams, previous, y)
        if previous is not None:
            check_same_instance(self.instance_, instance)
        history = {} if previous is None else self.loss_history_
        first_epoch = max(map(len, history.values()), default=0)
        plan = TrainingPlan.from_params(params, streams.seed, first_epoch)
        weight = require_positive("target_weight", self.target_weight)
        targets = None if y is None else Targets.of(y, graph.nodes, weight)
        name = choose_engine(self.engine, instance, supervised=targets is not None)
        pretrained = check_pretrained(self.pretrained, instance)
        check_representation(instance)
        storage = Storage.parse(self.storage)
        graph = as_learnable(graph, instance)
        place = choose_place(storage, graph, instance, name)
        plan = replace(plan, n_partitions=place.n_partitions)
        if place.tables is MEMORY:
            require_memory(graph, instance)
        if previous is not None:
            tell_what_is_lost(previous, graph, kinds)
        start = start_vectors(graph, instance, streams, previous, pretrained, place.tables)
        engine = make_engine(
            name,
            self.device,
            own_parts(params, kinds),
            start.fixed,
            targets,
            getattr(previous, "modules", None),
            place.tables,
        )
        with progress_bar(plan.epochs, self.verbose) as report:
            result = engine.train(graph, instance, plan, start.labels, report, start.relations)
        learned = learned_from(graph, instance, result, previous, place.tables)
        longer = {name: history.get(name, []) + new for name, new in result.loss_history.items()}
        self._keep(learned, instance, longer, streams.seed)
        _stop_if_interrupted(result, plan)
        return self

    def _solve(
        self,
        graph: Graph,
        instance: Instance,
        streams: RandomStreams,
        previous: Learned | None,
        y: Any,
    ) -> Self:
        check_solvable(previous, y)
        choose_place(Storage.parse(self.storage), graph, instance, "closed form")
        require_memory(graph, instance)
        with solver_status(self.verbose) as told:
            solution = solve(graph, instance, streams, told)
        learned = ClosedFormLearned.from_solution(graph, solution, instance.restart or 0.0)
        self._keep(learned, instance, {}, streams.seed, dict(solution.residuals))
        return self

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
        self._asked = Asked(self.get_params(), self._given)
        self.fit_params_ = self._settled_params(instance.label_types)
        self.directed_ = learned.directed
        self.node_embeddings_ = learned.vectors
        self.nodes_ = learned.nodes.names
        self.label_embeddings_ = dict(learned.label_vectors)
        self.labels_ = {name: v.names for name, v in learned.vocabularies.items()}
        self.relation_embeddings_ = dict(learned.relation_vectors)
        self.relations_ = None if learned.relations is None else learned.relations.names
        self.n_parameters_ = learned.n_parameters
        self.modules_ = getattr(learned, "modules", {})
        self.loss_history_ = loss_history
        self.residuals_ = residuals or {}
        self.seed_ = seed

    def _seed(self) -> int | None:
        return (
            None
            if self.random_state is None
            else require_count("random_state", self.random_state, 0)
        )


def _stop_if_interrupted(result: TrainingResult, plan: TrainingPlan) -> None:
    if result.interrupted:
        done = max(map(len, result.loss_history.values()), default=0)
        raise KeyboardInterrupt(
            f"Stopped after {done} of {plan.epochs} epochs; the model holds what was learned."
        )

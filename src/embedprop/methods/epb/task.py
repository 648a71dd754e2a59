"""What a run learns: the instance, the plan of its epochs, targets, the vectors it starts from."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, get_args

import numpy as np

from embedprop.errors import InvalidParameterError
from embedprop.graph import Vocabulary
from embedprop.graph.arrays import Mask, Rows, Vectors
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.graph.vocabulary import is_missing
from embedprop.instance.epb import EPBInstance
from embedprop.instance.parameters import EPBParameters, Schedule
from embedprop.instance.require import require_count, require_one_of, require_positive
from embedprop.methods.epb.pretrained import PretrainedVectors, start_from
from embedprop.methods.epb.tables.storage import CHUNK, MEMORY, Tables, chunks
from embedprop.methods.random_streams import RandomStreams
from embedprop.model.model import Model
from embedprop.model.readout.means import MeansReadout
from embedprop.model.readout.modules import ModulesReadout


@dataclass(frozen=True)
class TrainingPlan:
    """Settings of a run; the defaults are the paper's.

    epochs: passes over all nodes. batch_size: nodes per step of Adam. learning_rate: Adam's.
    schedule: "linear" lowers it in each epoch, so that it would be 0 after the last. n_threads:
    None for as many as help. seed: of all random draws. first_epoch: how many epochs were learned
    before, so that going on repeats no draws. n_partitions: of the nodes; a pair of them is learned
    at a time, with 2 the whole graph.
    """

    epochs: int = 200
    batch_size: int = 64
    learning_rate: float = 1e-3
    schedule: str = "constant"
    n_threads: int | None = None
    seed: int = 0
    first_epoch: int = 0
    n_partitions: int = 2

    @classmethod
    def of(cls, parameters: EPBParameters) -> Self:
        """Return the plan that the parameters describe, checked; seed and partitions come later."""
        threads = parameters.n_threads
        return cls(
            epochs=require_count("epochs", parameters.epochs, least=0),
            batch_size=require_count("batch_size", parameters.batch_size),
            learning_rate=require_positive("learning_rate", parameters.learning_rate),
            schedule=require_one_of("schedule", parameters.schedule, get_args(Schedule)),
            n_threads=None if threads is None else require_count("n_threads", threads),
        )

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0.

        >>> TrainingPlan(epochs=4, learning_rate=0.1, schedule="linear").rate(1)
        0.075...
        """
        left = (self.epochs - epoch) / self.epochs if self.schedule == "linear" else 1.0
        return self.learning_rate * left


@dataclass(frozen=True, eq=False)
class Targets:
    """The class of each node as a number, -1 where it is not known, and the weight of its loss."""

    classes: Rows
    names: Vocabulary
    weight: float

    @classmethod
    def of(cls, given: Any, nodes: Vocabulary, weight: float) -> Self:
        """Read {node: class}, or one class for each node in order; None and NaN mean unknown.

        >>> targets = Targets.of({"b": "red", "c": "blue"}, Vocabulary.trusted("abc"), 1.0)
        >>> targets.classes.tolist(), targets.names.names
        ([-1, 0, 1], ('red', 'blue'))
        """
        values: list[Hashable] = [None] * len(nodes)
        if isinstance(given, Mapping):
            rows = nodes.find_all(given)
            for row, (node, value) in zip(rows.tolist(), given.items(), strict=True):
                if row < 0:
                    raise InvalidParameterError(
                        f"targets names the node {node!r}, which is not in the graph. Check "
                        f"its spelling and its type ('1' is not 1)."
                    )
                values[row] = value
        else:
            if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != len(nodes):
                got = f"{len(given)}" if hasattr(given, "__len__") else type(given).__name__
                raise InvalidParameterError(
                    f"targets must be a dict {{node: class}}, or hold one class for each of the "
                    f"{len(nodes)} nodes (None where it is not known), got {got}."
                )
            values = [v.item() if isinstance(v, np.generic) else v for v in given]
        try:
            known = list(dict.fromkeys(value for value in values if not is_missing(value)))
        except TypeError as error:
            raise InvalidParameterError(
                f"targets must hold one class for each node, a name or a number ({error})."
            ) from None
        if len(known) < 2:
            raise InvalidParameterError(
                f"targets: expected at least 2 different classes, got {len(known)}."
            )
        number = {value: i for i, value in enumerate(known)}
        classes = [-1 if is_missing(value) else number[value] for value in values]
        return cls(np.array(classes, np.int64), Vocabulary.trusted(known), weight)


class Start(NamedTuple):
    """The vectors that learning starts from: of labels and of relations, and which stay fixed.

    Of numbers, texts and images only dummy labels have vectors of their own.
    """

    labels: dict[str, Vectors]
    relations: dict[str, Vectors]
    fixed: dict[str, Mask]


@dataclass(frozen=True, eq=False)
class Task:
    """All that an engine is given.

    own_parts: the user's modules, {label type: {part: module}}. targets: classes to learn. modules:
    those of the model that it goes on from. tables: where to keep vectors; dtype: their numbers.
    """

    learnable: LearnableGraph
    instance: EPBInstance
    plan: TrainingPlan
    start: Start
    own_parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    targets: Targets | None = None
    modules: Mapping[str, Any] = field(default_factory=dict)
    tables: Tables = MEMORY
    dtype: type[np.floating[Any]] = np.float32


def start_vectors(
    learnable: LearnableGraph,
    instance: EPBInstance,
    streams: RandomStreams,
    previous: Model | None = None,
    pretrained: Mapping[str, Any] | None = None,
    tables: Tables = MEMORY,
) -> Start:
    """Return the vectors to start from: what `previous` knows, given ones, else Glorot's."""
    start = Start({}, {}, {})
    for name, one in instance.label_types.items():
        labels = learnable.labels(name)
        if instance.n_relations:
            start.relations[name] = _relations(learnable, name, one.dim, streams, previous)
        is_known = previous is not None and name in previous.label_vectors
        n_dummies = len(labels.dummy_nodes)
        if one.is_set:
            vectors = glorot(name, labels.n_vectors, one.dim, streams, tables)
        else:
            vectors = glorot(f"dummies of {name}", n_dummies, one.dim, streams)
        if name in (pretrained or {}):
            names = learnable.graph.vocabulary(name).names
            given = PretrainedVectors.of((pretrained or {})[name], only=names)
            start.fixed[name] = np.zeros(len(vectors), bool)
            start.fixed[name][: len(names)] = start_from(vectors[: len(names)], names, given, name)
        if previous is not None and is_known:
            if one.is_set:
                _fill_labels(previous, learnable, name, vectors)
            _fill_dummies(previous, learnable, name, vectors[len(vectors) - n_dummies :])
        start.labels[name] = vectors
    return start


def glorot(
    purpose: str, n_vectors: int, dim: int, streams: RandomStreams, tables: Tables = MEMORY
) -> Vectors:
    """Return Glorot-uniform vectors: within +- sqrt(6 / (n_vectors + dim))."""
    limit = np.sqrt(6.0 / (n_vectors + dim))
    generator = streams.generator(f"init {purpose}")
    vectors: Vectors = tables.zeros((n_vectors, dim), np.float32)
    for some in chunks(vectors):
        generator.random(out=some, dtype=np.float32)
        some -= np.float32(0.5)
        some *= np.float32(2 * limit)
    return vectors


def _relations(
    learnable: LearnableGraph, name: str, dim: int, streams: RandomStreams, previous: Model | None
) -> Vectors:
    relations = learnable.graph.relations
    n_relations = 0 if relations is None else len(relations)
    vectors = glorot(f"relations of {name}", n_relations, dim, streams)
    known = None if previous is None else previous.relation_vectors.get(name)
    if previous and previous.relations and relations is not None and known is not None:
        old = previous.relations.find_all(relations)
        vectors[old >= 0] = known[old[old >= 0]]
    return vectors


def _fill_labels(previous: Model, learnable: LearnableGraph, name: str, fresh: Vectors) -> None:
    """Put the vectors of known labels into `fresh`."""
    known = previous.vocabularies[name].find_all(learnable.graph.vocabulary(name))
    for low in range(0, len(known), CHUNK):
        at = low + np.flatnonzero(known[low : low + CHUNK] >= 0)
        fresh[at] = previous.label_vectors[name][known[at]]


def _fill_dummies(previous: Model, learnable: LearnableGraph, name: str, fresh: Vectors) -> None:
    """Put the vectors of known dummy labels into `fresh`, a row for each dummy label."""
    readout = previous.readout
    if not isinstance(readout, MeansReadout | ModulesReadout):
        return
    dummy_nodes, dummies = learnable.labels(name).dummy_nodes, readout.means.dummies[name]
    old = previous.nodes.find_all([learnable.graph.nodes[node] for node in dummy_nodes])
    kept = np.flatnonzero((old >= 0) & np.isin(old, dummies))
    rows = np.searchsorted(dummies, old[kept])
    fresh[kept] = readout.dummy_vectors(name)[rows]

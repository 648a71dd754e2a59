"""The vectors that learning starts from: Glorot's, given ones, or what is known already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from embedprop.graph.arrays import Vectors
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.epb import EPBInstance
from embedprop.methods.epb.pretrained import PretrainedVectors, start_from
from embedprop.methods.epb.tables.storage import CHUNK, MEMORY, Tables, chunks
from embedprop.methods.epb.task import Start
from embedprop.methods.random_streams import RandomStreams
from embedprop.model.model import Model
from embedprop.model.readout.means import MeansReadout
from embedprop.model.readout.modules import ModulesReadout


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
    dummy_nodes, dummies = learnable.labels(name).dummy_nodes, readout.dummies[name]
    old = previous.nodes.find_all([learnable.graph.nodes[node] for node in dummy_nodes])
    kept = np.flatnonzero((old >= 0) & np.isin(old, dummies))
    rows = np.searchsorted(dummies, old[kept])
    fresh[kept] = readout.dummy_vectors(name)[rows]

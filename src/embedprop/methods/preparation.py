"""What is settled before an engine starts: label types, memory, and the vectors to start from."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph import Graph
from embedprop.graph.changes.inverses import with_inverses
from embedprop.graph.changes.learnable import glorot, learned_labels
from embedprop.graph.changes.texts import as_word_sets
from embedprop.instance.description import PARTS, Instance, own_part
from embedprop.methods.closed_form.solve import needed_bytes
from embedprop.methods.epb.engines.choose import has_torch
from embedprop.methods.epb.engines.engine import Vectors
from embedprop.methods.epb.pretrained import PretrainedVectors, start_from
from embedprop.methods.epb.tables.place import needed_memory, physical_memory
from embedprop.methods.epb.tables.storage import MEMORY, Tables
from embedprop.methods.random_streams import RandomStreams
from embedprop.model.learned import Learned
from embedprop.model.representations import make_representation

logger = logging.getLogger(__name__)


def choose_label_types(
    graph: Graph, wanted: Collection[str] | None, instance: str = "epb"
) -> dict[str, str]:
    """Return the kinds of the label types to learn from, those asked for or all; `node` first."""
    kinds = graph.kinds
    readable = list(kinds) if instance != "eps" and has_torch() else _readable_plainly(kinds)
    if instance == "eps":
        readable = [name for name in readable if kinds[name] == "set"]
    if wanted is None:
        others = [name for name in kinds if name not in readable]
        if others:
            why = "it learns from sets of labels" if instance == "eps" else "torch is not installed"
            logger.warning("Left aside (%s): %s.", why, ", ".join(map(repr, others)))
        chosen = default_label_types(readable, instance)
        if len(chosen) < len(readable):
            logger.info("Left aside (ids, which help the closed form only without labels): 'node'.")
        return {name: kinds[name] for name in chosen}
    if isinstance(wanted, str) or not isinstance(wanted, Collection) or not len(wanted):
        raise InvalidParameterError(
            f"label_types={wanted!r} is not possible: give a list of names, for example "
            f'["word"], or None for all of: {", ".join(map(repr, graph.label_types))}.'
        )
    for name in wanted:
        if not isinstance(name, str) or name not in kinds:
            known = ", ".join(map(repr, kinds))
            raise InvalidParameterError(
                f"label_types={wanted!r}: {name!r} is unknown. There are: {known}."
            )
        if name not in readable:
            hint = "" if instance == "eps" else ": pip install 'embedprop[torch]'"
            who = "instance='eps' learns from sets" if instance == "eps" else "that needs torch"
            raise InvalidParameterError(
                f"label_types={wanted!r}: {name!r} is of kind {kinds[name]!r}, but {who}{hint}. "
                f"There are: {', '.join(map(repr, readable))}."
            )
    return {name: kinds[name] for name in kinds if name in wanted}


def _readable_plainly(kinds: Mapping[str, str]) -> list[str]:
    """Return the label types that need no torch: sets, and texts as sets of words."""
    return [name for name, kind in kinds.items() if kind in ("set", "text")]


def as_learnable(graph: Graph, instance: Instance) -> Graph:
    """Return the graph as the instance reads it: texts as words, inverse relations beside."""
    for name, one in instance.label_types.items():
        if one.kind == "text" and one.is_set and name in graph.values:
            graph = as_word_sets(graph, name)
    return with_inverses(graph) if instance.inverse_relations else graph


def default_label_types(sets: Sequence[str], instance: str) -> list[str]:
    """Return those of all sets of labels that an instance learns from if nothing else is asked.

    The closed form takes ids only if there is nothing else: beside words they do not help.

    >>> default_label_types(["node", "word"], "epb"), default_label_types(["node", "word"], "eps")
    (['node', 'word'], ['word'])
    """
    shared = [name for name in sets if name != "node"]
    return shared if instance == "eps" and shared else list(sets)


class Start(NamedTuple):
    """The vectors that learning starts from: of labels and of relations, and which stay fixed.

    Of numbers, texts and images only dummy labels have vectors of their own.
    """

    labels: dict[str, Vectors]
    relations: dict[str, Vectors]
    fixed: dict[str, NDArray[np.bool_]]


def start_vectors(
    graph: Graph,
    instance: Instance,
    streams: RandomStreams,
    previous: Learned | None,
    pretrained: Mapping[str, Any],
    tables: Tables = MEMORY,
) -> Start:
    """Return the vectors to start from: Glorot's, given ones, or what is known already."""
    start = Start({}, {}, {})
    for name, settings in instance.label_types.items():
        if previous is not None and name in previous.label_vectors:
            _require_same_dim(previous, name, settings.dim)
        if instance.n_relations:
            start.relations[name] = _start_relations(graph, name, settings.dim, streams, previous)
        if not settings.is_set:
            n_dummies = len(learned_labels(graph, name).dummy_nodes)
            start.labels[name] = glorot(f"dummies of {name}", n_dummies, settings.dim, streams)
            if previous is not None and name in previous.label_vectors:
                previous.start_dummies(graph, name, start.labels[name])
            continue
        n_vectors = learned_labels(graph, name).n_vectors
        vectors = glorot(name, n_vectors, settings.dim, streams, tables)
        if name in pretrained:
            names = graph.vocabulary(name).names
            given = PretrainedVectors.of(pretrained[name], only=names)
            matched = start_from(vectors[: len(names)], names, given, name)
            start.fixed[name] = np.zeros(len(vectors), bool)
            start.fixed[name][: len(names)] = matched
        if previous is not None and name in previous.label_vectors:
            vectors = previous.start_vectors(graph, name, vectors)
        start.labels[name] = vectors
    return start


def _require_same_dim(previous: Learned, name: str, dim: int) -> None:
    learned = previous.label_vectors[name].shape[1]
    if dim != learned:
        raise InvalidParameterError(
            f"dim={dim} for label type {name!r}, but the vectors learned so far have {learned}. "
            f"Keep dim={learned}, or learn anew with fit."
        )


def _start_relations(
    graph: Graph, name: str, dim: int, streams: RandomStreams, previous: Learned | None
) -> Vectors:
    """Return Glorot's vectors for the relations, or those that are known already."""
    relations = graph.relations
    n_relations = 0 if relations is None else len(relations)
    vectors = glorot(f"relations of {name}", n_relations, dim, streams)
    known = None if previous is None else previous.relation_vectors.get(name)
    if previous and previous.relations and relations is not None and known is not None:
        old = previous.relations.find_all(relations)
        vectors[old >= 0] = known[old[old >= 0]]
    return vectors


def check_pretrained(pretrained: Any, instance: Instance) -> Mapping[str, Any]:
    """Return the given start vectors per label type."""
    if pretrained is None:
        return {}
    types = instance.label_types
    tables = [name for name, one in types.items() if one.label_embedding == "lookup"]
    if not isinstance(pretrained, Mapping) or not pretrained.keys() <= set(tables):
        came = list(pretrained) if isinstance(pretrained, Mapping) else type(pretrained).__name__
        raise InvalidParameterError(
            f"pretrained must be a dict from label types with a lookup table "
            f"({', '.join(map(repr, tables))}) to vectors, but came {came!r}."
        )
    return pretrained


def own_parts(params: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the modules of the user's own: {label type: {part: module}}."""
    found: dict[str, dict[str, Any]] = {name: {} for name in kinds}
    for part in PARTS:
        for name, kind in kinds.items():
            one = own_part(part, params[part], name, kind)
            if one is not None:
                found[name][part] = one
    return found


def check_representation(instance: Instance) -> None:
    """Refuse an r that cannot be computed, before it is learned for."""
    dims = [one.dim for one in instance.label_types.values()]
    make_representation(instance.representation).width(dims)


def check_solvable(previous: Learned | None, y: Any) -> None:
    """Refuse what only gradients can do: targets, and going on from what was learned."""
    if y is not None:
        raise InvalidParameterError(
            "y is learned by gradients, but instance='eps' has none: use instance='epb', or "
            "train a classifier on node_embeddings_ afterwards."
        )
    if previous is not None:
        raise InvalidParameterError(
            "partial_fit goes on from a start, but instance='eps' has none: it solves a graph "
            "at once. Call fit with the whole graph; transform gives vectors for new nodes."
        )


def check_same_instance(learned: Instance, wanted: Instance) -> None:
    """Refuse to go on with another instance than the one that was learned."""
    if learned.name != wanted.name:
        raise InvalidParameterError(
            f"partial_fit: the model is of instance={learned.name!r}, but is now set to "
            f"{wanted.name!r}. Set it back, or learn anew with fit."
        )


def tell_what_is_lost(previous: Learned, graph: Graph, label_types: Collection[str]) -> None:
    """Refuse to lose a label type, and warn of known nodes that the new graph lacks."""
    missing = [name for name in previous.label_types if name not in label_types]
    if missing:
        raise InvalidParameterError(
            f"The model has learned the label types {', '.join(map(repr, missing))}, which would "
            f"be lost: give them with the graph, or learn anew with fit."
        )
    n_lost = int((graph.nodes.find_all(previous.nodes) < 0).sum())
    if n_lost:
        logger.warning(
            "%d of the %d nodes of the model are not in this graph and are forgotten. To keep "
            "them, give the whole graph.",
            n_lost,
            len(previous.nodes),
        )


def require_memory(graph: Graph, instance: Instance) -> None:
    """Refuse what cannot fit into this machine, before it is tried."""
    is_solved = instance.name == "eps"
    needed = needed_bytes(graph, instance) if is_solved else needed_memory(graph, instance)
    memory = physical_memory()
    if memory is not None and needed > memory:
        dims = ", ".join(f"{name} {one.dim}" for name, one in instance.label_types.items())
        # Which engine it is to be is not known here.
        hint = " The fused engine can keep tables on disk: storage='disk'."
        raise InvalidParameterError(
            f"Learning needs about {needed / 1e9:.1f} GB (dimensions: {dims}), but this machine "
            f"has {memory / 1e9:.1f} GB. Lower dim, or learn from fewer label types."
            f"{hint if instance.is_epb else ''}"
        )

"""What a model answers about new nodes, with what was noticed: pure, nothing is said here."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph import Graph
from embedprop.graph.arrays import Mask, Vectors
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.model.newcomers import (
    Arrivals,
    GivenLabels,
    Heard,
    Placed,
    heard_in_graph,
    known_edges,
    known_labels,
    known_speakers,
    labels_in_graph,
    require_source,
)
from embedprop.model.notices import Notice, other_direction, unknown_node, unknown_nodes

if TYPE_CHECKING:
    from embedprop.model.model import Model


class NewVectors(NamedTuple):
    """Vectors, a row each, and what was noticed."""

    vectors: Vectors
    notices: list[Notice]


class NewClasses(NamedTuple):
    """A class for each node, and what was noticed."""

    classes: list[Hashable]
    notices: list[Notice]


def new_vectors(model: Model, graph: Graph, source: str) -> NewVectors:
    """Return the vectors of all nodes of a graph; see `Model.transform`."""
    placed, notices = _placed(model, graph), list[Notice]()
    if model.directed != placed.graph.directed and not model.readout.is_symmetric:
        notices.append(other_direction(model.directed))
    require_source(source)
    if len(placed.new) == 0:
        return NewVectors(placed.table(model.vectors), notices)
    h, is_known, arrivals = _embedded(model, placed, source, notices)
    unknown = [placed.graph.nodes[node] for node in placed.new[~is_known]]
    if unknown:
        notices.append(unknown_nodes(unknown, len(placed.new)))
    arrivals.vectors[placed.new] = model.readout.represent(h, arrivals)
    return NewVectors(arrivals.vectors, notices)


def new_vector(
    model: Model,
    neighbors: Iterable[Hashable],
    labels: Mapping[str, GivenLabels] | None,
    weights: Sequence[float] | None,
    source: str,
    relations: Sequence[Hashable] | None,
) -> NewVectors:
    """Return the vector of one new node; see `Model.transform_node`."""
    notices = list[Notice]()
    if isinstance(neighbors, str):
        raise InvalidParameterError(
            f"neighbors={neighbors!r} is one string; give a list of nodes: [{neighbors!r}]."
        )
    own = known_labels(model.vocabularies, labels, notices) if labels else {}
    for name in own:
        if name in model.instance.value_types:
            raise InvalidParameterError(
                f"labels has the type {name!r}, which is not a set of labels: transform_node reads "
                f"sets of labels alone. Give the node as a graph to transform."
            )
    if model.relations is None and relations is None:
        heard = Heard(known_speakers(model.nodes, neighbors, weights), None)
    else:
        heard = known_edges(model.nodes, model.relations, list(neighbors), relations, weights)
    arrival = model.readout.arrival(heard, own)
    h, is_known = model.readout.embed(arrival, require_source(source))
    if not is_known[0]:
        notices.append(unknown_node(model.nodes[0], source))
    return NewVectors(model.readout.represent(h, arrival), notices)


def classes(model: Model, graph: Graph | None) -> NewClasses:
    """Return the likeliest class of each node; see `Model.predict`."""
    head, notices = model.head, list[Notice]()
    if head is None:
        raise InvalidParameterError(
            "The model has no head: give the known classes to fit, as in "
            "fit(graph, targets=classes)."
        )
    scores = head.scores
    if graph is not None:
        placed = _placed(model, graph)
        scores = scores[np.maximum(placed.old, 0)]
        if len(placed.new):
            read, _, arrivals = _embedded(model, placed, "both", notices)
            # A head reads h, or r where that is an average of h: its scores are linear in h.
            if model.readout.averages:
                read = model.readout.represent(read, arrivals)
            scores[placed.new] = head.scores_of(read)
    return NewClasses([head.names[best] for best in scores.argmax(axis=1).tolist()], notices)


def _placed(model: Model, graph: Graph) -> Placed:
    """Return a graph as the model reads it, its nodes looked up."""
    words, inverses = model.instance.word_sets, model.has_inverses
    learnable = LearnableGraph.of(as_graph(graph), words, inverses=inverses)
    return Placed.of(learnable.graph, model.nodes)


def _embedded(
    model: Model, placed: Placed, source: str, notices: list[Notice]
) -> tuple[Vectors, Mask, Arrivals]:
    """Return h of the new nodes of a graph, about which anything is known, and from what."""
    heard = heard_in_graph(placed, model.relations, model.readout.is_symmetric, notices)
    labels = {
        name: labels_in_graph(placed.graph, name, vocabulary, placed.new, notices)
        for name, vocabulary in model.vocabularies.items()
        if name != "node"
    }
    arrivals = model.readout.arrivals(placed, heard, labels)
    return *model.readout.embed(arrivals, source), arrivals


def as_graph(graph: object) -> Graph:
    """Return a graph, or say how to make one."""
    if isinstance(graph, Graph):
        return graph
    kind = f"{type(graph).__module__}.{type(graph).__qualname__}".removeprefix("builtins.")
    raise InvalidGraphError(
        f"Expected an embedprop.Graph, got {kind}. Make one with Graph.from_edges, "
        f"Graph.read, Graph.from_networkx, Graph.from_scipy, Graph.from_pandas or Graph.from_pyg."
    )

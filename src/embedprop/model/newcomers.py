"""What is known of a node that arrives after training: its known neighbors and labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from embedprop.errors import InvalidGraphError, InvalidParameterError, did_you_mean
from embedprop.graph import Graph, Multisets, Vocabulary
from embedprop.graph.arrays import Ids, Rows, Vectors, Weights
from embedprop.graph.matrix import speakers_of
from embedprop.instance.require import require_one_of
from embedprop.model.notices import Notice, unknown_labels, unknown_relations

# "reconstruction": h~; "own": h; "both": where both exist, their mean (closed form: their PageRank
# average).
Source = Literal["reconstruction", "own", "both"]
SOURCES: tuple[str, ...] = get_args(Source)
# Labels of one node: a list, or their weights.
GivenLabels = Iterable[Hashable] | Mapping[Hashable, float]


class Heard(NamedTuple):
    """The known neighbors of some new nodes, and the known relation of each edge, if any."""

    speakers: Multisets
    over: Ids | None


class Placed(NamedTuple):
    """A graph with new nodes: the learned row of each node (-1: new), and the new ones."""

    graph: Graph
    old: Ids
    new: Rows

    @classmethod
    def of(cls, graph: Graph, nodes: Vocabulary) -> Placed:
        """Look all nodes of a graph up."""
        old = nodes.find_all(graph.nodes)
        return cls(graph, old, np.flatnonzero(old < 0))

    def table(self, learned: Vectors) -> Vectors:
        """Return a row, or number, for each node of the graph: what is learned, 0 for new ones."""
        table = np.zeros((self.graph.n_nodes, *learned.shape[1:]), np.float32)
        table[self.old >= 0] = learned[self.old[self.old >= 0]]
        return table


class Arrivals(NamedTuple):
    """New nodes, who speaks to them, and what these say.

    table: h of all that may speak, and vectors: their r. masses: how much each of them says, per
    block of columns. speakers: of each new node, as rows of `table`; over: the relation of each.
    own: per label type, h of the new nodes from their own labels and the weight of these. rows:
    where the new nodes stand in `table`; None: nowhere. members: where h~ is more than a mean of
    h, the labels of each row of `table`, and the vectors of all labels.
    """

    table: Vectors
    vectors: Vectors
    masses: Sequence[Weights]
    speakers: Multisets
    over: Ids | None
    own: Mapping[str, tuple[Vectors, Weights]]
    rows: Rows | None = None
    members: Mapping[str, tuple[Multisets, Vectors]] | None = None


def require_source(source: str) -> str:
    """Return `source` if it is one that a new node's vector can be computed from."""
    return source if source in SOURCES else require_one_of("source", source, SOURCES)


def heard_in_graph(
    placed: Placed, relations: Vocabulary | None, symmetric: bool, notices: list[Notice]
) -> Heard:
    """Return who speaks to the new nodes; edges whose relation is not known are left out.

    symmetric: whether a node hears its neighbors on either end of an edge.
    """
    graph, new = placed.graph, placed.new
    if symmetric:
        return Heard(speakers_of(graph, new), None)
    if relations is None:
        return Heard(graph.neighbors.subset(new), None)
    if graph.relations is None or graph.neighbor_relations is None:
        raise InvalidGraphError(
            "The model was learned from edges with relations, but the edges of this graph have "
            "none. Give each edge its relation."
        )
    heard = edges_of(graph, new, relations)
    is_known = np.asarray(heard.over) >= 0
    if is_known.all():
        return heard
    notices.append(unknown_relations(int((~is_known).sum())))
    return Heard(heard.speakers.keeping(is_known), np.asarray(heard.over)[is_known])


def edges_of(graph: Graph, rows: Rows, relations: Vocabulary | None) -> Heard:
    """Return the neighbors of nodes, and the learned id of each edge's relation (-1: unknown)."""
    speakers = graph.neighbors.subset(rows)
    if relations is None or graph.relations is None or graph.neighbor_relations is None:
        return Heard(speakers, None)
    places = Multisets(graph.neighbors.ptr, np.arange(graph.neighbors.n_values)).subset(rows)  # type: ignore[arg-type]
    known = relations.find_all(graph.relations)
    return Heard(speakers, known[graph.neighbor_relations[places.ids]])


def no_labels(n_nodes: int) -> Multisets:
    """Return the labels of nodes that have none."""
    return Multisets(np.zeros(n_nodes + 1, np.int64), np.empty(0, np.int32))


def labels_in_graph(
    graph: Graph, name: str, vocabulary: Vocabulary, nodes: Rows, notices: list[Notice]
) -> Multisets:
    """Return the labels of `nodes` that were seen in training, by their learned ids."""
    if name not in graph.labels:  # values, or a type that this graph does not have
        return no_labels(len(nodes))
    sets = graph.labels[name].subset(nodes)
    ids = vocabulary.find_all(graph.vocabulary(name))[sets.ids]
    is_known = ids >= 0
    if not is_known.all():
        notices.append(unknown_labels(int((~is_known).sum()), len(ids), name))
    kept = sets.keeping(is_known)
    return Multisets(kept.ptr, ids[is_known], kept.weights)


def known_speakers(
    nodes: Vocabulary, neighbors: Iterable[Hashable], weights: Sequence[float] | None
) -> Multisets:
    """Return the known ones of a new node's neighbors as its one multiset."""
    # As in a graph, a neighbor counts once; with weights, those of its edges add up.
    try:
        ids = nodes.find_all(dict.fromkeys(neighbors) if weights is None else neighbors)
    except TypeError as error:
        raise InvalidParameterError(
            f"neighbors must be a list of nodes, that is of hashable names ({error})."
        ) from error
    if weights is not None and len(weights) != len(ids):
        raise InvalidParameterError(
            f"weights has {len(weights)} numbers for {len(ids)} neighbors: give one for each."
        )
    return _one_set(ids, weights)


def known_edges(
    nodes: Vocabulary,
    vocabulary: Vocabulary | None,
    neighbors: Sequence[Hashable],
    relations: Sequence[Hashable] | None,
    weights: Sequence[float] | None,
) -> Heard:
    """Return those edges of a new node whose neighbor and relation are known."""
    if vocabulary is None:
        raise InvalidParameterError(
            "relations must be left out: the model was learned from edges without them."
        )
    relations = () if relations is None else relations
    n_given = len(relations)
    if n_given != len(neighbors):
        raise InvalidParameterError(
            f"expected one relation for each of the {len(neighbors)} neighbors, got {n_given}. "
            f"Give relations= a list with one for each."
        )
    over = vocabulary.find_all(relations)
    kept = [i for i, node in enumerate(neighbors) if over[i] >= 0 and node in nodes]
    chosen = [1.0 if weights is None else weights[i] for i in kept]
    speakers = known_speakers(nodes, [neighbors[i] for i in kept], chosen)
    positive = [i for i, weight in zip(kept, chosen, strict=True) if weight > 0]
    return Heard(speakers, over[positive])


def known_labels(
    vocabularies: Mapping[str, Vocabulary],
    labels: Mapping[str, GivenLabels],
    notices: list[Notice],
) -> dict[str, Multisets]:
    """Return the known ones of a new node's labels, one multiset per label type."""
    if not isinstance(labels, Mapping):
        raise InvalidParameterError(
            f"labels={labels!r} is not a dict: give labels by type, such as {{'word': [...]}}."
        )
    known = {}
    for name, given in labels.items():
        if name not in vocabularies or name == "node":
            types = [one for one in vocabularies if one != "node"]
            raise InvalidParameterError(
                f"labels has the type {name!r}, which the model does not know. It knows: "
                f"{', '.join(map(repr, types)) or 'ids alone'}.{did_you_mean(name, types)}"
            )
        if isinstance(given, str):
            raise InvalidParameterError(
                f"labels[{name!r}]={given!r} is one string; give a list of labels: [{given!r}]."
            )
        weights = list(given.values()) if isinstance(given, Mapping) else None
        ids = vocabularies[name].find_all(given)
        n_unknown = int((ids < 0).sum())
        if n_unknown:
            notices.append(unknown_labels(n_unknown, len(ids), name))
        known[name] = _one_set(ids, weights)
    return known


def _one_set(ids: Ids, weights: Sequence[float] | None) -> Multisets:
    """Return the ids that are not -1 as one multiset, with the weights that are above 0."""
    keep = ids >= 0
    if weights is None:
        ids = ids[keep]
        return Multisets(np.array([0, len(ids)]), ids)
    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold is not finite
            numbers = np.asarray(weights, np.float32)
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        raise InvalidParameterError(
            f"weights={list(weights)!r} must be numbers, finite and not negative."
        )
    keep &= numbers > 0
    return Multisets(np.array([0, int(keep.sum())]), ids[keep], numbers[keep])

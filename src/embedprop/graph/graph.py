"""Graph: the neighbors and the labels of every node. Frozen, checked once, read by all engines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from embedprop.errors import InvalidGraphError, InvalidParameterError, did_you_mean
from embedprop.graph.arrays import Ids, Mask, Rows
from embedprop.graph.inputs import GraphInputs
from embedprop.graph.labels import NODE_TYPE, ImageLabels, NumericLabels, TextLabels
from embedprop.graph.messages import counted
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary

ValueLabels = NumericLabels | TextLabels | ImageLabels
SelfLoops = Literal["drop", "keep"]
UnknownNodes = Literal["error", "ignore", "add"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph(GraphInputs):
    """Nodes, their neighbors (N(v)), and their labels of every label type (l_i(v)).

    Make one with `from_edges`, `read`, `from_networkx`, `from_scipy`, `from_pyg` or `from_pandas`.
    Rows of every array are in the order of `nodes`.

    Attributes
    ----------
    nodes
        The names of the nodes.
    neighbors
        The neighbors of each node (N(v)); in a directed graph, the nodes with an edge to it.
    directed
        Whether labels travel only from the source of an edge to its target.
    labels
        The labels of each node (l_i(v)), for label types that are sets; ``"node"``, each node's own
        id, comes first.
    vocabularies
        The names of the labels of each of these types.
    values
        Labels of the other kinds: numbers, texts, images.
    label_types
        All label types in the order in which they were given, ``"node"`` first.
    relations, neighbor_relations
        The names of the edge types, and the edge type of each entry of ``neighbors.ids``; None
        without relations.
    n_self_loops_dropped, n_duplicates_dropped, n_zero_weights_dropped
        How many rows of the edge table were dropped, for each of the three reasons.

    Examples
    --------
    >>> graph = Graph.from_edges([("a", "b"), ("b", "c")], labels={"word": {"a": ["x", "y"]}})
    >>> graph
    Graph(3 nodes, 2 undirected edges, label types: node, word)
    >>> [graph.nodes[i] for i in graph.neighbors.of(graph.nodes.find("b"))]
    ['a', 'c']
    """

    nodes: Vocabulary
    neighbors: Multisets
    directed: bool
    labels: Mapping[str, Multisets]
    vocabularies: Mapping[str, Vocabulary]
    values: Mapping[str, ValueLabels]
    label_types: tuple[str, ...]
    relations: Vocabulary | None = None
    neighbor_relations: Ids | None = None
    n_self_loops_dropped: int = 0
    n_duplicates_dropped: int = 0
    n_zero_weights_dropped: int = 0

    def __post_init__(self) -> None:
        self._check()
        # A frozen class with dicts inside would not be frozen.
        for name in ("labels", "vocabularies", "values"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def n_nodes(self) -> int:
        """The number of nodes, isolated ones included.

        >>> Graph.from_edges([("a", "b")], nodes=["z"]).n_nodes
        3
        """
        return len(self.nodes)

    @cached_property
    def n_edges(self) -> int:
        """The number of distinct edges in each relation; a kept self-loop counts once.

        >>> Graph.from_edges([("a", "b"), ("b", "a")]).n_edges
        1
        """
        n_entries = self.neighbors.n_values
        if self.directed:
            return n_entries
        # An undirected edge is an entry of both its ends, a self-loop of its one end only.
        n_loops = int(np.count_nonzero(self.neighbors.owners == self.neighbors.ids))
        return (n_entries + n_loops) // 2

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each label type: set, numeric, text or image.

        >>> Graph.from_edges([("a", "b")], labels={"age:numeric": {"a": 4}}).kinds
        {'node': 'set', 'age': 'numeric'}
        """
        return {t: "set" if t in self.labels else self.values[t].kind for t in self.label_types}

    @cached_property
    def degrees(self) -> Rows:
        """The number of neighbors of each node; in a directed graph, in + out.

        >>> Graph.from_edges([("a", "b"), ("b", "c")]).degrees
        array([1, 2, 1])
        """
        degrees = self.neighbors.sizes
        if self.directed:
            degrees = degrees + np.bincount(self.neighbors.ids, minlength=self.n_nodes)
            degrees.flags.writeable = False
        return degrees

    @property
    def has_inverses(self) -> bool:
        """Whether each relation has an inverse beside it, as `with_inverses` makes them.

        >>> graph = Graph.from_edges([("a", "b")], relations=["likes"], directed=True)
        >>> graph.has_inverses, graph.with_inverses().has_inverses
        (False, True)
        """
        from embedprop.graph.changes.inverses import has_inverses

        return has_inverses(self.relations)

    def with_inverses(self) -> Graph:
        """Return the graph with an edge (v, inverse of r, u) for each edge (u, r, v).

        Labels then travel both ways, and each way has a relation of its own. A graph that has
        inverses already is returned as it is.

        Raises
        ------
        InvalidGraphError
            The graph is undirected or has no relations.

        Examples
        --------
        >>> graph = Graph.from_edges([("a", "b")], relations=["likes"], directed=True)
        >>> graph.with_inverses().relations.names
        ('likes', ('inverse', 'likes'))
        """
        from embedprop.graph.changes.inverses import with_inverses

        return with_inverses(self)

    def vocabulary(self, label_type: str) -> Vocabulary:
        """Return the names of the labels of a type that is a set.

        >>> graph = Graph.from_edges([("a", "b")], labels={"word": {"a": ["x", "y"]}})
        >>> graph.vocabulary("word").names
        ('x', 'y')
        """
        if label_type not in self.vocabularies:
            raise _unknown_type(label_type, self.vocabularies, "label type of kind set")
        return self.vocabularies[label_type]

    def has_labels(self, label_type: str) -> Mask:
        """Return for each node whether it has labels of `label_type`.

        >>> graph = Graph.from_edges([("a", "b")], labels={"word": {"a": ["x", "y"]}})
        >>> graph.has_labels("word")
        array([ True, False])
        """
        if label_type in self.labels:
            return self.labels[label_type].sizes > 0
        if label_type in self.values:
            return self.values[label_type].is_present
        raise _unknown_type(label_type, self.label_types, "label type")

    def summary(self) -> str:
        """Return a few lines about what was understood from the input.

        >>> print(Graph.from_edges([("a", "b")]).summary())
        nodes            2, 0 of them isolated
        edges            1 undirected
        dropped          0 self-loops, 0 duplicates
        label type node  each node's own id
        """
        weighted = "" if self.neighbors.weights is None else ", weighted"
        n_isolated = int(np.count_nonzero(self.degrees == 0))
        dropped = [
            counted(self.n_self_loops_dropped, "self-loop"),
            counted(self.n_duplicates_dropped, "duplicate"),
        ]
        if self.n_zero_weights_dropped:
            dropped.append(f"{counted(self.n_zero_weights_dropped, 'edge')} of weight 0")
        rows = {
            "nodes": f"{self.n_nodes:,}, {n_isolated:,} of them isolated",
            "edges": f"{self.n_edges:,} {self._way}{weighted}",
            "dropped": ", ".join(dropped),
        }
        if self.relations is not None:
            rows["relations"] = f"{len(self.relations):,}"
        rows |= {f"label type {name}": self._described(name) for name in self.label_types}
        width = max(map(len, rows))
        return "\n".join(f"{name:<{width}}  {text}" for name, text in rows.items())

    def _described(self, label_type: str) -> str:
        if label_type == NODE_TYPE:
            return "each node's own id"
        n_missing = self.n_nodes - int(np.count_nonzero(self.has_labels(label_type)))
        missing = f"{counted(n_missing, 'node')} without"
        if label_type not in self.labels:
            return f"{self.kinds[label_type]}, {missing}"
        sets = self.labels[label_type]
        weighted = "" if sets.weights is None else ", weighted"
        n_labels = counted(len(self.vocabulary(label_type)), "label")
        return f"{n_labels}, {sets.n_values:,} on nodes{weighted}, {missing}"

    def describe(self) -> None:
        """Print `summary`: nodes, edges, what was dropped, labels per type, missing labels.

        >>> Graph.from_edges([("a", "b")], directed=True).describe()
        nodes            2, 0 of them isolated
        edges            1 directed
        dropped          0 self-loops, 0 duplicates
        label type node  each node's own id
        """
        sys.stdout.write(self.summary() + "\n")

    def _check(self) -> None:
        """Refuse parts that do not fit together."""
        n_nodes, near = self.n_nodes, self.neighbors
        if near.n_sets != n_nodes:
            raise InvalidGraphError(f"Expected the neighbors of {n_nodes} nodes, got {near!r}.")
        if near.n_values and near.ids.max() >= n_nodes:
            raise InvalidGraphError(
                f"Neighbor {near.ids.max()} does not exist: there are {n_nodes} nodes."
            )
        # A relation for each entry of the neighbors, or neither names nor entries.
        n_relations = None if self.neighbor_relations is None else len(self.neighbor_relations)
        if n_relations != (None if self.relations is None else near.n_values):
            raise InvalidGraphError("Expected one relation for every neighbor, or none at all.")
        types = self.label_types
        if types[:1] != (NODE_TYPE,) or set(types) != {*self.labels, *self.values}:
            raise InvalidGraphError(f"Expected 'node' and then every label type once, got {types}.")
        for label_type, sets in self.labels.items():
            n_labels = len(self.vocabularies[label_type])
            if sets.n_sets != n_nodes or (sets.n_values and sets.ids.max() >= n_labels):
                raise InvalidGraphError(
                    f"Label type {label_type!r} does not fit: expected {n_nodes} sets of ids below "
                    f"{n_labels}, got {sets!r}."
                )
        for label_type, values in self.values.items():
            if len(values.is_present) != n_nodes:
                raise InvalidGraphError(
                    f"Label type {label_type!r} does not fit: expected values for {n_nodes} nodes, "
                    f"got {len(values.is_present)}."
                )

    def __repr__(self) -> str:
        sizes = f"{counted(self.n_nodes, 'node')}, {counted(self.n_edges, f'{self._way} edge')}"
        return f"Graph({sizes}, label types: {', '.join(self.label_types)})"

    @property
    def _way(self) -> str:
        return "directed" if self.directed else "undirected"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        # A mapping proxy cannot be pickled; a plain dict can.
        state = (getattr(self, field.name) for field in fields(self))
        return type(self), tuple(dict(s) if isinstance(s, MappingProxyType) else s for s in state)


def _unknown_type(label_type: str, known: Iterable[str], what: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"{label_type!r} is not a {what} in this graph. It has: {', '.join(known)}."
        f"{did_you_mean(label_type, known)}"
    )

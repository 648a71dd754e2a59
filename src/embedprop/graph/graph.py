"""Graph: the neighbours and the labels of every node. Frozen, checked once, read by all engines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.graph.checks import check_graph
from embedprop.graph.labels import ImageLabels, NumericLabels, TextLabels
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ValueLabels = NumericLabels | TextLabels | ImageLabels
SelfLoops = Literal["drop", "keep"]
UnknownNodes = Literal["error", "ignore", "add"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Nodes, their neighbours N(v), and their labels l_i(v) for every label type i.

    Make one with `from_edges`, `read`, `from_networkx`, `from_scipy`, `from_pyg` or `from_pandas`.
    Rows of every array are in the order of `nodes`.

    Attributes
    ----------
    nodes
        The names of the nodes.
    neighbors
        N(v): the neighbours of v; in a directed graph those with an edge to v.
    directed
        Whether labels travel along edges one way only.
    labels
        l_i(v) of the label types that are sets; ``"node"``, each node's own id, comes first.
    vocabularies
        The names of the labels of each of these types.
    values
        Labels of the other kinds: numbers, texts, images.
    relations, neighbor_relations
        The names of the edge types, and the one of each entry of ``neighbors.ids``; None without.
    n_edges
        Distinct pairs of nodes (directed: arcs), in each relation; a kept self-loop counts once.
    label_types
        All label types in the order in which they were given, ``"node"`` first.

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
    relations: Vocabulary | None
    neighbor_relations: NDArray[np.int32] | None
    n_edges: int
    n_self_loops_dropped: int
    n_duplicates_dropped: int
    n_zero_weights_dropped: int
    label_types: tuple[str, ...]

    def __post_init__(self) -> None:
        check_graph(self)
        for name in ("labels", "vocabularies", "values"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def n_nodes(self) -> int:
        """The number of nodes, isolated ones included."""
        return len(self.nodes)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each label type: set, numeric, text or image."""
        return {t: "set" if t in self.labels else self.values[t].kind for t in self.label_types}

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbours of each node; in a directed graph, in + out."""
        degrees = self.neighbors.sizes
        if self.directed:
            degrees = degrees + np.bincount(self.neighbors.ids, minlength=self.n_nodes)
            degrees.flags.writeable = False
        return degrees

    def vocabulary(self, label_type: str) -> Vocabulary:
        """Return the names of the labels of a type that is a set."""
        if label_type not in self.vocabularies:
            raise self._unknown_type(label_type, list(self.vocabularies), "label type of kind set")
        return self.vocabularies[label_type]

    def has_labels(self, label_type: str) -> NDArray[np.bool_]:
        """Return for each node whether it has labels of `label_type`."""
        if label_type in self.labels:
            return self.labels[label_type].sizes > 0
        if label_type in self.values:
            return self.values[label_type].is_present
        raise self._unknown_type(label_type, list(self.label_types), "label type")

    def summary(self) -> str:
        """Return in a few lines what was understood of the input."""
        from embedprop.graph.summary import summary

        return summary(self)

    def describe(self) -> None:
        """Print `summary`: nodes, edges, what was dropped, labels per type, missing labels."""
        sys.stdout.write(self.summary() + "\n")

    def __repr__(self) -> str:
        way = "directed" if self.directed else "undirected"
        return (
            f"Graph({self.n_nodes} nodes, {self.n_edges} {way} edges, "
            f"label types: {', '.join(self.label_types)})"
        )

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        # A mapping proxy cannot be pickled; a plain dict can.
        state = (getattr(self, field.name) for field in fields(self))
        return type(self), tuple(dict(s) if isinstance(s, MappingProxyType) else s for s in state)

    def _unknown_type(self, label_type: str, known: list[str], what: str) -> InvalidParameterError:
        return InvalidParameterError(
            f"{label_type!r} is no {what} of this graph. It has: {', '.join(known)}."
        )

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        labels: Mapping[str, Any] | None = None,
        *,
        directed: bool = False,
        nodes: Iterable[Hashable] | None = None,
        weights: ArrayLike | None = None,
        relations: Iterable[Hashable] | None = None,
        self_loops: SelfLoops = "drop",
        unknown_nodes: UnknownNodes = "error",
    ) -> Graph:
        """Make a graph from pairs of nodes, an integer array or a frame.

        Parameters
        ----------
        edges
            Pairs of hashable names, an array of shape (n, 2), or a pandas, polars or Arrow table
            with columns source, target[, weight][, relation].
        labels
            For each label type ``{node: [labels]}``, ``{node: {label: weight}}``, rows (node,
            label[, weight]), a frame with these columns, or a SciPy sparse matrix (declared nodes x
            labels). A key such as ``"age:numeric"`` gives the kind: numeric, text or image.
        directed
            Whether an edge leads from source to target only. Most graphs are not: False.
        nodes
            Declares nodes; they come first, in this order, and may be isolated.
        weights, relations
            One for each edge, where `edges` has no such columns. Default: every edge weighs 1.
        self_loops
            ``"drop"`` (a node tells itself nothing new) or ``"keep"``.
        unknown_nodes
            What to do with labels of nodes that neither `edges` nor `nodes` name: ``"error"``
            (it is mostly a spelling mistake), ``"ignore"`` them, or ``"add"`` the node, isolated.

        Examples
        --------
        >>> Graph.from_edges(np.array([[0, 1], [1, 2]]), nodes=range(5))
        Graph(5 nodes, 2 undirected edges, label types: node)
        """
        from embedprop.graph.objects.columns import give_memory_back
        from embedprop.graph.objects.convert import graph_from_edges
        from embedprop.graph.objects.edge_input import EdgeInput

        graph = graph_from_edges(
            EdgeInput.of(edges, weights=weights, relations=relations),
            labels,
            directed=directed,
            nodes=nodes,
            self_loops=self_loops,
            unknown_nodes=unknown_nodes,
        )
        give_memory_back()
        return graph

    @classmethod
    def read(
        cls,
        edges: str | Path,
        labels: Mapping[str, str | Path] | None = None,
        *,
        directed: bool = False,
        nodes: str | Path | None = None,
        self_loops: SelfLoops = "drop",
        unknown_nodes: UnknownNodes = "error",
        columns: Mapping[str, str] | None = None,
        has_header: bool | None = None,
        separator: str | None = None,
    ) -> Graph:
        """Read a graph from CSV, TSV or Parquet files, gzipped or not. Names are strings.

        Parameters
        ----------
        edges
            A file with columns source, target[, weight][, relation], or a plain edge list.
        labels
            For each label type a file with columns node, label[, weight]; a key such as
            ``"age:numeric"`` gives the kind.
        nodes
            A file with a column node that declares nodes, isolated ones too.
        directed, self_loops, unknown_nodes
            As in `from_edges`.
        columns
            Other names of columns, such as ``{"source": "from"}``.
        has_header, separator
            How text files are written. None: found out from the file.
        """
        from embedprop.graph.files.readers import read_graph

        return read_graph(
            edges,
            labels,
            directed=directed,
            nodes=nodes,
            self_loops=self_loops,
            unknown_nodes=unknown_nodes,
            columns=columns,
            has_header=has_header,
            separator=separator,
        )

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        labels: Mapping[str, Any] | None = None,
        *,
        weight: str | None = "weight",
        relation: str | None = None,
        self_loops: SelfLoops = "drop",
        unknown_nodes: UnknownNodes = "error",
    ) -> Graph:
        """Make a graph of a NetworkX graph, directed if that one is.

        Parameters
        ----------
        graph
            Any NetworkX graph; parallel edges collapse, isolated nodes stay.
        labels
            As in `from_edges`; a string names a node attribute that holds the labels.
        weight
            The edge attribute that holds weights; an edge without it weighs 1, as in NetworkX.
            None: weights are ignored.
        relation
            The edge attribute that holds the relation. Default: no relations.
        self_loops, unknown_nodes
            As in `from_edges`.
        """
        from embedprop.graph.objects.convert import graph_from_networkx

        return graph_from_networkx(graph, labels, weight, relation, self_loops, unknown_nodes)

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        labels: Mapping[str, Any] | None = None,
        *,
        nodes: Iterable[Hashable] | None = None,
        directed: bool | None = None,
        self_loops: SelfLoops = "drop",
        unknown_nodes: UnknownNodes = "error",
    ) -> Graph:
        """Make a graph of an adjacency matrix: entry (i, j) is the weight of the edge from i to j.

        Parameters
        ----------
        matrix
            A square SciPy sparse matrix. If all entries are 1 the graph has no weights.
        labels
            As in `from_edges`; row i of a matrix belongs to node i.
        nodes
            The names of the nodes. Default: 0, 1, 2, ...
        directed
            Default: whether the matrix is not symmetric.
        self_loops, unknown_nodes
            As in `from_edges`.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> Graph.from_scipy(csr_array([[0, 1], [0, 0]]))
        Graph(2 nodes, 1 directed edges, label types: node)
        """
        from embedprop.graph.objects.convert import graph_from_scipy

        return graph_from_scipy(matrix, labels, nodes, directed, self_loops, unknown_nodes)

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        labels: Mapping[str, Any] | None = None,
        *,
        directed: bool | None = None,
        features: Literal["set", "numeric", "ignore"] = "set",
        self_loops: SelfLoops = "drop",
        unknown_nodes: UnknownNodes = "error",
    ) -> Graph:
        """Make a graph of a PyTorch Geometric `Data`; its nodes are 0, 1, 2, ...

        Parameters
        ----------
        data
            Read are edge_index, edge_weight, edge_type (relations), x and num_nodes.
        labels
            Further labels, as in `from_edges`; row i of a matrix belongs to node i.
        directed
            Default: ``data.is_directed()``.
        features
            How ``data.x`` becomes the label type ``feature``: ``"set"``, each column that is not
            zero is a label with that weight (right for words); ``"numeric"``; or ``"ignore"``.
        self_loops, unknown_nodes
            As in `from_edges`.
        """
        from embedprop.graph.objects.convert import graph_from_pyg

        return graph_from_pyg(data, labels, directed, features, self_loops, unknown_nodes)

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        relation: str | None = None,
        labels: Mapping[str, Any] | None = None,
        *,
        directed: bool = False,
        nodes: Iterable[Hashable] | None = None,
        self_loops: SelfLoops = "drop",
        unknown_nodes: UnknownNodes = "error",
    ) -> Graph:
        """Make a graph of a pandas, polars or Arrow frame of edges, whatever its columns' names.

        Parameters
        ----------
        frame
            One row for each edge.
        source, target
            The columns that name the two nodes of an edge.
        weight, relation
            Default: the columns of these names, where there are such.
        labels, directed, nodes, self_loops, unknown_nodes
            As in `from_edges`.
        """
        from embedprop.graph.objects.convert import graph_from_edges
        from embedprop.graph.objects.edge_input import EdgeInput

        return graph_from_edges(
            EdgeInput.from_frame(frame, source, target, weight, relation),
            labels,
            directed=directed,
            nodes=nodes,
            self_loops=self_loops,
            unknown_nodes=unknown_nodes,
        )

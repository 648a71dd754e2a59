"""The ways into a graph: one method for each kind of input that users have."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from embedprop.graph.graph import Graph, SelfLoops, UnknownNodes


class GraphInputs:
    """Base of `Graph` without any state: what makes one of edges and labels in their many forms."""

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
            ``"drop"`` (a node learns nothing new from itself) or ``"keep"``.
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

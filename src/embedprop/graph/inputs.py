"""The ways into a graph: one method for each kind of input that users have."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from embedprop.graph.graph import Graph, SelfLoops, UnknownNodes


class GraphInputs:
    """Stateless base of `Graph`: makes one from edges and labels in any supported form."""

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
            Whether edges lead from source to target only. Default: False, right for most graphs.
        nodes
            Declares nodes; they come first, in this order, and may be isolated.
        weights, relations
            One for each edge, where `edges` has no such columns. Default: every edge weighs 1.
        self_loops
            ``"drop"`` (a node learns nothing new from itself) or ``"keep"``.
        unknown_nodes
            What to do with labels of nodes that are in neither `edges` nor `nodes`: ``"error"``
            (usually it is a spelling mistake), ``"ignore"`` them, or ``"add"`` the node, isolated.

        Examples
        --------
        >>> import numpy as np
        >>> from embedprop import Graph
        >>> Graph.from_edges(np.array([[0, 1], [1, 2]]), nodes=range(5))
        Graph(5 nodes, 2 undirected edges, label types: node)
        """
        from embedprop.graph.objects.convert import graph_from_edges
        from embedprop.graph.objects.edge_input import EdgeInput

        rows = EdgeInput.of(edges, weights=weights, relations=relations)
        return graph_from_edges(
            rows, labels, nodes, directed, self_loops=self_loops, unknown_nodes=unknown_nodes
        )

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
        r"""Read a graph from CSV, TSV or Parquet files, gzipped or not. Names are strings.

        Parameters
        ----------
        edges
            A file with columns source, target[, weight][, relation], or a plain edge list.
        labels
            For each label type a file with columns node, label[, weight]; a key such as
            ``"age:numeric"`` gives the kind.
        nodes
            A file with a column node that declares nodes, including isolated ones.
        directed, self_loops, unknown_nodes
            As in `from_edges`.
        columns
            Names of columns that differ from the usual ones, such as ``{"source": "from"}``.
        has_header, separator
            Format of text files. Default: detected from the file.

        Examples
        --------
        >>> import tempfile
        >>> from embedprop import Graph
        >>> file = Path(tempfile.mkdtemp()) / "edges.csv"
        >>> _ = file.write_text("from,to\na,b\nb,c\n")
        >>> Graph.read(file, columns={"source": "from", "target": "to"})
        Graph(3 nodes, 2 undirected edges, label types: node)
        """
        from embedprop.graph.files.readers import read_graph
        from embedprop.graph.files.table_layout import TableOptions

        form = TableOptions(columns or {}, has_header, separator)
        return read_graph(
            edges, labels, nodes, form, directed, self_loops=self_loops, unknown_nodes=unknown_nodes
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
        """Make a graph from a NetworkX graph; it is directed if that one is.

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

        Examples
        --------
        >>> import networkx as nx
        >>> from embedprop import Graph
        >>> Graph.from_networkx(nx.path_graph(3))
        Graph(3 nodes, 2 undirected edges, label types: node)
        """
        from embedprop.graph.objects.convert import graph_from_edges
        from embedprop.graph.objects.libraries import of_networkx

        parts = of_networkx(graph, labels, weight, relation)
        return graph_from_edges(*parts, self_loops=self_loops, unknown_nodes=unknown_nodes)

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
        """Make a graph from an adjacency matrix: entry (i, j) is the weight of the edge i to j.

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
        >>> from embedprop import Graph
        >>> from scipy.sparse import csr_array
        >>> Graph.from_scipy(csr_array([[0, 1], [0, 0]]))
        Graph(2 nodes, 1 directed edge, label types: node)
        """
        from embedprop.graph.objects.convert import graph_from_edges
        from embedprop.graph.objects.libraries import of_scipy

        parts = of_scipy(matrix, labels, nodes, directed)
        return graph_from_edges(*parts, self_loops=self_loops, unknown_nodes=unknown_nodes)

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
        """Make a graph from a PyTorch Geometric `Data`; its nodes are 0, 1, 2, ...

        Parameters
        ----------
        data
            Its edge_index, edge_weight, edge_type (relations), x and num_nodes are read.
        labels
            Further labels, as in `from_edges`; row i of a matrix belongs to node i.
        directed
            Default: ``data.is_directed()``.
        features
            How ``data.x`` becomes the label type ``feature``: ``"set"``, each column that is not
            zero is a label with that weight (right for words); ``"numeric"``; or ``"ignore"``.
        self_loops, unknown_nodes
            As in `from_edges`.

        Examples
        --------
        >>> from types import SimpleNamespace  # stands in for torch_geometric.data.Data
        >>> import numpy as np
        >>> from embedprop import Graph
        >>> data = SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=2)
        >>> Graph.from_pyg(data, directed=False)
        Graph(2 nodes, 1 undirected edge, label types: node)
        """
        from embedprop.graph.objects.convert import graph_from_edges
        from embedprop.graph.objects.libraries import of_pyg

        parts = of_pyg(data, labels, directed, features)
        return graph_from_edges(*parts, self_loops=self_loops, unknown_nodes=unknown_nodes)

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
        """Make a graph from a pandas, polars or Arrow frame of edges with any column names.

        Parameters
        ----------
        frame
            One row for each edge.
        source, target
            The columns that name the two nodes of an edge.
        weight, relation
            Default: the columns ``weight`` and ``relation``, if there are any.
        labels, directed, nodes, self_loops, unknown_nodes
            As in `from_edges`.

        Examples
        --------
        >>> import polars as pl
        >>> from embedprop import Graph
        >>> frame = pl.DataFrame({"from": ["a", "b"], "to": ["b", "c"]})
        >>> Graph.from_pandas(frame, "from", "to")
        Graph(3 nodes, 2 undirected edges, label types: node)
        """
        from embedprop.graph.objects.convert import graph_from_edges
        from embedprop.graph.objects.edge_input import EdgeInput

        rows = EdgeInput.from_frame(frame, source, target, weight, relation)
        return graph_from_edges(
            rows, labels, nodes, directed, self_loops=self_loops, unknown_nodes=unknown_nodes
        )

"""The options that say how to read a graph, and the graph they describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from embedprop.cli.options import pairs

if TYPE_CHECKING:
    from embedprop.graph import Graph

EdgesArgument = Annotated[
    Path,
    typer.Argument(
        help="A file with columns source,target[,weight][,relation], or a plain edge list.",
        show_default=False,
    ),
]
LabelOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE=FILE",
        help="Labels: a file with columns node,label[,weight]. Repeat it for more label types; "
        "TYPE:numeric (columns node,value...) and TYPE:text (node,text) are other kinds.",
        show_default=False,
    ),
]
NodesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="A file with a column node that declares nodes, isolated ones too."
    ),
]
DirectedOption = Annotated[
    bool, typer.Option("--directed", help="Labels travel from source to target only.")
]
UnknownNodesOption = Annotated[
    str,
    typer.Option(
        metavar="error|ignore|add", help="What to do with labels of nodes that no edge names."
    ),
]
SelfLoopsOption = Annotated[
    str, typer.Option(metavar="drop|keep", help="What to do with edges from a node to itself.")
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="source=NAME,target=NAME",
        help="Other names of the columns; their numbers if there is no header.",
    ),
]
HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line names the columns. Found out if not given.",
        show_default=False,
    ),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="What separates columns. Found out if not given."),
]


class GraphFiles(NamedTuple):
    """Where a graph is, and how its files are to be read."""

    edges: Path
    labels: dict[str, str]
    columns: dict[str, str] | None
    has_header: bool | None
    separator: str | None

    @classmethod
    def of(
        cls,
        edges: Path,
        label: list[str] | None,
        columns: str | None,
        header: bool | None,
        separator: str | None,
    ) -> GraphFiles:
        """Return what the options say."""
        named = None if columns is None else pairs("--columns", columns.split(","))
        return cls(edges, pairs("--label", label or []), named, header, separator)

    def read(self, **settings: Any) -> Graph:
        """Return the graph; see `Graph.read`."""
        from embedprop.graph import Graph

        return Graph.read(
            self.edges,
            self.labels,
            columns=self.columns,
            has_header=self.has_header,
            separator=self.separator,
            **settings,
        )

    def has_relations(self) -> bool:
        """Return whether the edges have relations, from the beginning of their file."""
        from embedprop.graph.files.readers import has_relations
        from embedprop.graph.files.table_layout import TableOptions

        options = TableOptions(self.columns or {}, self.has_header, self.separator)
        return has_relations(self.edges, options)

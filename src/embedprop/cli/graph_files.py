"""The options that say how to read a graph, and the graph they describe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from embedprop.cli.options import option, pairs

if TYPE_CHECKING:
    from embedprop.graph import Graph

EdgesArgument = Annotated[
    Path,
    typer.Argument(
        help="A file with columns source,target[,weight][,relation], or a plain edge list.",
        show_default=False,
    ),
]
UNKNOWN_NODES = "What to do with labels of nodes that are not in the graph."


@dataclass(frozen=True, kw_only=True)
class GraphFiles:
    """Where the labels of a graph are, and how to read its files."""

    label: list[str] | None = option(
        None,
        "Labels: a file with columns node,label[,weight]. Repeat for more label types. "
        "Other kinds: TYPE:numeric (columns node,value...) and TYPE:text (node,text).",
        "TYPE=FILE",
    )
    columns: str | None = option(
        None,
        "Names of the columns if they differ, or their numbers if there is no header.",
        "source=NAME,target=NAME",
    )
    header: bool | None = option(
        None,
        "Whether the first line names the columns. Default: detected from the file.",
        flags="--header/--no-header",
    )
    separator: str | None = option(
        None, "Separator of columns. Default: detected from the file.", "CHAR"
    )

    @property
    def labels(self) -> dict[str, str]:
        """The file of each label type."""
        return pairs("--label", self.label or [])

    def _layout(self) -> dict[str, Any]:
        named = None if self.columns is None else pairs("--columns", self.columns.split(","))
        return {"columns": named, "has_header": self.header, "separator": self.separator}

    def read(self, edges: Path, **settings: Any) -> Graph:
        """Return the graph; see `Graph.read`."""
        from embedprop.graph import Graph

        return Graph.read(edges, self.labels, **self._layout(), **settings)

    def has_relations(self, edges: Path) -> bool:
        """Return whether the edges have relations, from the beginning of their file."""
        from embedprop.graph.files.readers import has_relations
        from embedprop.graph.files.table_layout import TableOptions

        layout = self._layout()
        return has_relations(edges, TableOptions(**layout | {"columns": layout["columns"] or {}}))


@dataclass(frozen=True, kw_only=True)
class WholeGraphFiles(GraphFiles):
    """The same for a graph that is complete, as `fit` and `compare` need one."""

    nodes: Path | None = option(
        None, "A file with a column node that declares nodes, including isolated ones.", "FILE"
    )
    directed: bool = option(False, "Labels travel from source to target only.")

    def read(self, edges: Path, **settings: Any) -> Graph:
        """Return the graph; see `Graph.read`."""
        return super().read(edges, nodes=self.nodes, directed=self.directed, **settings)

"""`embedprop compare`: several methods on the user's own graph, with the same splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from embedprop.cli.console import speaker
from embedprop.cli.graph_files import (
    ColumnsOption,
    DirectedOption,
    GraphFiles,
    HeaderOption,
    LabelOption,
    NodesOption,
    SeparatorOption,
)
from embedprop.cli.options import QuietOption, bad_value, listed, pairs
from embedprop.cli.results import (
    JsonOption,
    PerClassOption,
    RandomStateOption,
    RunsOption,
    TargetsOption,
    TrainShareOption,
    percent,
    protocols_of,
    show_table,
    write_json,
)
from embedprop.errors import EmbedpropError


def compare(
    edges: Annotated[
        Path,
        typer.Argument(help="A file with columns source,target[,weight].", show_default=False),
    ],
    targets: TargetsOption,
    methods: Annotated[
        str,
        typer.Option(
            metavar="A,B",
            help="Among closed-form, epb, epb-fast, deepwalk, node2vec, line, wvrn, majority, bow, "
            "dw-bow, planetoid-t, planetoid-i, gcn, gcn-i.",
        ),
    ] = "closed-form,epb,wvrn,majority",
    label: LabelOption = None,
    nodes: NodesOption = None,
    directed: DirectedOption = False,
    unknown_nodes: Annotated[
        str,
        typer.Option(
            metavar="error|ignore", help="What to do with labels or classes of unknown nodes."
        ),
    ] = "error",
    columns: ColumnsOption = None,
    header: HeaderOption = None,
    separator: SeparatorOption = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="METHOD.NAME=VALUE",
            help="A parameter of a method, such as epb.margin=5, epb.parts__loss=softmax or "
            "node2vec.p=0.25. Repeat it.",
            show_default=False,
        ),
    ] = None,
    train_share: TrainShareOption = None,
    per_class: PerClassOption = None,
    runs: RunsOption = 10,
    random_state: RandomStateOption = 0,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Compare methods on your graph: quality, CPU time and memory.

    A method that cannot run has its reason in the table; the command then ends with 2.
    """
    from embedprop.evaluation.comparison import COST_NOTE, check_methods
    from embedprop.evaluation.comparison import compare as compared
    from embedprop.evaluation.protocols import metric_names, notes
    from embedprop.evaluation.targets import targets_of
    from embedprop.files.atomic import check_file
    from embedprop.graph.files.readers import read_targets

    say = speaker(quiet)
    chosen = listed("--methods", methods) or []
    settings = _settings(setting or [])
    check_methods(chosen, settings)
    protocols = protocols_of(train_share, per_class, runs, random_state)
    if json is not None:
        check_file(json)
    files = GraphFiles.of(edges, label, columns, header, separator)
    graph = files.read(directed=directed, nodes=nodes, unknown_nodes=unknown_nodes)
    wanted = targets_of(read_targets(targets), graph.nodes.names, targets, unknown_nodes)
    say(graph.summary())
    explained = [*notes(wanted), COST_NOTE]
    for note in explained:
        say(note)
    records = compared(
        graph,
        wanted,
        chosen,
        protocols,
        settings=settings,
        verbose=not quiet,
        report=lambda one: say(f"{one['method']}: {'failed' if 'error' in one else 'done'}"),
    )
    show_table(_table(records, metric_names(wanted)))
    if json is not None:
        head = {"edges": str(edges), "targets": str(targets), "notes": explained}
        write_json(json, head | {"methods": records})
    failed = [record["method"] for record in records if "error" in record]
    if failed:
        raise EmbedpropError(
            f"{len(failed)} of {len(records)} methods could not run: {', '.join(failed)}. The "
            f"table says why."
        )


def _table(records: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> list[list[str]]:
    """Return a row per method and protocol; a method that could not run has its reason."""
    rows = [["method", "protocol", *metrics, "CPU s", "memory MB"]]
    for record in records:
        if "error" in record:
            rows.append([record["method"], " ".join(record["error"].split())])
            continue
        peak = record["peak_bytes"]
        cost = [f"{record['cpu_seconds']:.2f}", "?" if peak is None else f"{peak / 1e6:.0f}"]
        results = record["results"]
        for first in range(0, len(results), len(metrics)):
            group = results[first : first + len(metrics)]
            rows.append([record["method"], group[0]["protocol"], *map(percent, group), *cost])
    return rows


def _settings(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return {"epb": {"margin": 5}} of ["epb.margin=5"]."""
    from json import loads

    found: dict[str, dict[str, Any]] = {}
    for key, text in pairs("--set", texts).items():
        method, dot, name = key.partition(".")
        if not (method and dot and name):
            raise bad_value("--set", f"expected METHOD.NAME=VALUE, got '{key}={text}'")
        try:
            value = loads(text)
        except ValueError:
            value = text  # a word, as in epb.negatives=degree
        found.setdefault(method, {})[name] = value
    return found

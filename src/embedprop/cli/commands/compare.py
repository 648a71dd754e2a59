"""`embedprop compare`: several methods on the user's own graph, with the same splits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json import loads
from typing import Any

from embedprop.cli.console import show_table, speaker
from embedprop.cli.graph_files import EdgesArgument, WholeGraphFiles
from embedprop.cli.options import QuietOption, bad_value, listed, option, pairs
from embedprop.cli.results import Measuring, percent
from embedprop.errors import EmbedpropError


@dataclass(frozen=True, kw_only=True)
class Methods:
    """What is compared."""

    methods: str = option(
        "closed-form,epb,wvrn,majority",
        "Any of closed-form, epb, epb-fast, deepwalk, node2vec, line, wvrn, majority, bow, "
        "dw-bow, planetoid-t, planetoid-i, gcn, gcn-i.",
        "A,B",
    )
    setting: list[str] | None = option(
        None,
        "A parameter of a method, such as epb.margin=5, epb.parts__loss=softmax or "
        "node2vec.p=0.25. Repeat for more.",
        "METHOD.NAME=VALUE",
        "--set",
    )


def compare(
    edges: EdgesArgument,
    wanted: Methods,
    files: WholeGraphFiles,
    measuring: Measuring,
    quiet: QuietOption = False,
) -> None:
    """Compare methods on your graph: quality, CPU time and memory.

    If a method cannot run, the table says why, and the exit code is 2.
    """
    from embedprop.evaluation.comparison import COST_NOTE, check_methods
    from embedprop.evaluation.comparison import compare as compared
    from embedprop.evaluation.protocols import metric_names, notes
    from embedprop.evaluation.targets import targets_of
    from embedprop.graph.files.readers import read_targets

    say = speaker(quiet)
    chosen = listed("--methods", wanted.methods) or []
    settings = _settings(wanted.setting or [])
    check_methods(chosen, settings)
    protocols, unknown_nodes = measuring.protocols(), measuring.unknown_nodes
    graph = files.read(edges, unknown_nodes=unknown_nodes)
    classes = read_targets(measuring.targets)
    targets = targets_of(classes, graph.nodes.names, measuring.targets, unknown_nodes)
    explained = [*notes(targets), COST_NOTE]
    for text in (graph.summary(), *explained):
        say(text)

    def report(record: Mapping[str, Any]) -> None:
        say(f"{record['method']}: {'failed' if 'error' in record else 'done'}")

    records = compared(
        graph, targets, chosen, protocols, settings=settings, verbose=not quiet, report=report
    )
    show_table(_table(records, metric_names(targets)))
    head = {"edges": str(edges), "targets": str(measuring.targets), "notes": explained}
    measuring.write_json(head | {"methods": records})
    failed = [record["method"] for record in records if "error" in record]
    if failed:
        raise EmbedpropError(
            f"{len(failed)} of {len(records)} methods could not run: {', '.join(failed)}. See the "
            f"table for the reasons."
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

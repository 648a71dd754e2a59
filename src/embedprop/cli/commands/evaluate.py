"""`embedprop evaluate`: how well a model's vectors tell the classes of nodes."""

from __future__ import annotations

from typing import Annotated

import typer

from embedprop.cli.console import speaker
from embedprop.cli.options import ModelArgument, QuietOption
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


def evaluate(
    model: ModelArgument,
    targets: TargetsOption,
    train_share: TrainShareOption = None,
    per_class: PerClassOption = None,
    runs: RunsOption = 10,
    unknown_nodes: Annotated[
        str,
        typer.Option(metavar="error|ignore", help="What to do with nodes that the model lacks."),
    ] = "error",
    random_state: RandomStateOption = 0,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Measure how well a linear classifier on the vectors finds the classes of nodes."""
    from embedprop.cli.spelling import as_known
    from embedprop.evaluation.protocols import evaluate_vectors, notes
    from embedprop.evaluation.targets import targets_of
    from embedprop.files.atomic import check_file
    from embedprop.graph.files.readers import read_targets
    from embedprop.model.codec import load_model

    say = speaker(quiet)
    protocols = protocols_of(train_share, per_class, runs, random_state)
    if json is not None:
        check_file(json)
    fitted = load_model(model)
    known = set(fitted.nodes)
    pairs = [(as_known(node, known), name) for node, name in read_targets(targets)]
    wanted = targets_of(pairs, fitted.nodes.names, targets, unknown_nodes)
    kind = "several classes per node" if wanted.is_multi_label else "one class per node"
    say(f"{len(wanted.nodes):,} nodes, {len(wanted.class_names):,} classes, {kind}.")
    for note in notes(wanted):
        say(note)
    results = evaluate_vectors(fitted.vectors, wanted, protocols)
    rows = [[one["protocol"], one["metric"], percent(one)] for one in results]
    show_table([["protocol", "metric", "percent"], *rows])
    if json is not None:
        data = {"n_nodes": len(wanted.nodes), "n_classes": len(wanted.class_names)}
        head = {"model": str(model), "targets": str(targets), **data, "notes": notes(wanted)}
        write_json(json, head | {"results": results})

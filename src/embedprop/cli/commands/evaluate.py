"""`embedprop evaluate`: how well a model's vectors predict the classes of nodes."""

from embedprop.cli.console import show_table, speaker
from embedprop.cli.options import ModelArgument, QuietOption
from embedprop.cli.results import Measuring, percent


def evaluate(model: ModelArgument, measuring: Measuring, quiet: QuietOption = False) -> None:
    """Measure how well vectors predict the classes of nodes.

    The classifier is linear: logistic regression.
    """
    from embedprop.cli.spelling import as_known
    from embedprop.evaluation.protocols import evaluate_vectors, notes
    from embedprop.evaluation.targets import targets_of
    from embedprop.graph.files.readers import read_targets
    from embedprop.model.codec import load_model

    say = speaker(quiet)
    protocols, targets = measuring.protocols(), measuring.targets
    fitted = load_model(model)
    known = set(fitted.nodes)
    pairs = [(as_known(node, known), name) for node, name in read_targets(targets)]
    wanted = targets_of(pairs, fitted.nodes.names, targets, measuring.unknown_nodes)
    kind = "several classes per node" if wanted.is_multi_label else "one class per node"
    say(f"{len(wanted.nodes):,} nodes, {len(wanted.class_names):,} classes, {kind}.")
    for note in notes(wanted):
        say(note)
    results = evaluate_vectors(fitted.vectors, wanted, protocols)
    rows = [[one["protocol"], one["metric"], percent(one)] for one in results]
    show_table([["protocol", "metric", "percent"], *rows])
    data = {"n_nodes": len(wanted.nodes), "n_classes": len(wanted.class_names)}
    head = {"model": str(model), "targets": str(targets), **data, "notes": notes(wanted)}
    measuring.write_json(head | {"results": results})

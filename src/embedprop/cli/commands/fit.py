"""`embedprop fit`: files → a model folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from embedprop.cli.console import StoppedError, speaker
from embedprop.cli.graph_files import (
    ColumnsOption,
    DirectedOption,
    EdgesArgument,
    GraphFiles,
    HeaderOption,
    LabelOption,
    NodesOption,
    SelfLoopsOption,
    SeparatorOption,
    UnknownNodesOption,
)
from embedprop.cli.method_options import (
    DEFAULT_METHOD,
    FAST_METHOD,
    WITH_RELATIONS,
    chosen_parameters,
    require_options_of,
    with_parameter_options,
)
from embedprop.cli.options import QuietOption
from embedprop.errors import InvalidParameterError
from embedprop.instance.parameters import PARAMETERS
from embedprop.instance.require import require_one_of

if TYPE_CHECKING:
    from embedprop.model.model import Model


@with_parameter_options
def fit(
    edges: EdgesArgument,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where to save the model.", show_default=False)
    ],
    method: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(PARAMETERS),
            help="The closed form, in seconds; or EP-B of the paper, by gradients. Default: "
            f"{DEFAULT_METHOD}, but {WITH_RELATIONS} where edges have relations.",
            show_default=False,
        ),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="[epb] The settings that we recommend; implies epb.")
    ] = False,
    label: LabelOption = None,
    nodes: NodesOption = None,
    directed: DirectedOption = False,
    inverse_relations: Annotated[
        bool,
        typer.Option(
            "--inverse-relations", help="Give each relation an inverse: labels travel back."
        ),
    ] = False,
    unknown_nodes: UnknownNodesOption = "error",
    self_loops: SelfLoopsOption = "drop",
    columns: ColumnsOption = None,
    header: HeaderOption = None,
    separator: SeparatorOption = None,
    targets: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="[epb] Classes of some nodes (node,class) to learn; 'embedprop predict' gives the "
            "rest.",
            show_default=False,
        ),
    ] = None,
    target_weight: Annotated[
        float | None,
        typer.Option(metavar="X", help="[epb] Weight of the targets' loss. Default: 1."),
    ] = None,
    quiet: QuietOption = False,
    **given: Any,
) -> None:
    """Learn vectors for nodes and labels; save a model."""
    from embedprop.estimators import ESTIMATORS
    from embedprop.files.folder.save import check_target
    from embedprop.graph.labels import split_kinds
    from embedprop.methods.method import Stopped
    from embedprop.methods.progress import InterruptWatch

    say = speaker(quiet)
    files = GraphFiles.of(edges, label, columns, header, separator)
    name = chosen_method(method, fast, files, say)
    of_fit = {"fast": fast or None, "targets": targets, "target_weight": target_weight}
    require_options_of(name, {**given, **of_fit})
    check_target(out)  # before the work, not after it
    estimator = ESTIMATORS[name](**chosen_parameters(given, fast=fast), verbose=not quiet)
    kinds = {"node": "set"} | dict(split_kinds(files.labels).values())
    estimator.check(kinds, supervised=targets is not None)  # before a large graph is read
    start = perf_counter()
    try:
        graph = files.read(
            directed=directed, nodes=nodes, self_loops=self_loops, unknown_nodes=unknown_nodes
        )
        graph = graph.with_inverses() if inverse_relations else graph
        say(graph.summary())
        wanted: dict[str, Any] = {} if targets is None else {"targets": classes_of(targets)}
        if target_weight is not None:
            wanted["target_weight"] = target_weight
        estimator.fit(graph, **wanted)
    except Stopped as stop:
        with InterruptWatch():
            place = _beside(out)
            stop.model.save(place)
        raise StoppedError(f"{stop} It is saved in {place}.") from None
    except KeyboardInterrupt:
        raise StoppedError(
            f"Stopped before there was a model: nothing was written to {out}."
        ) from None
    with InterruptWatch():
        estimator.save(out)
    _say_what_is_next(estimator.model_, out, perf_counter() - start, quiet)


def chosen_method(
    wanted: str | None, fast: bool, files: GraphFiles, say: Callable[[str], None]
) -> str:
    """Return the method that is meant; said where it is not the usual one."""
    if wanted is not None:
        return require_one_of("method", wanted, list(PARAMETERS))
    if fast:
        return FAST_METHOD
    if files.has_relations():
        say(f"The edges have relations: --method {WITH_RELATIONS}, which tells them apart.")
        return WITH_RELATIONS
    return DEFAULT_METHOD


def classes_of(file: Path) -> dict[str, str]:
    """Return the class of each node of a file; a node has one."""
    from embedprop.graph.files.readers import read_targets

    classes: dict[str, str] = {}
    for node, name in read_targets(file):
        if classes.setdefault(node, name) != name:
            raise InvalidParameterError(
                f"{file}: node {node!r} has several classes ({classes[node]!r}, {name!r}); one "
                f"head learns one class per node. Keep one of them."
            )
    return classes


def _say_what_is_next(model: Model, out: Path, seconds: float, quiet: bool) -> None:
    from embedprop.cli.spelling import shell_word
    from embedprop.graph.messages import counted

    say, folder, learning = speaker(quiet), shell_word(out), model.learning
    losses = [f"{name} {one[-1]:.4f}" for name, one in learning.loss_history.items() if one]
    residuals = [f"{name} {one:.0e}" for name, one in learning.residuals.items()]
    how = f"residual: {', '.join(residuals)}" if residuals else f"loss: {', '.join(losses)}"
    n_epochs = max(map(len, learning.loss_history.values()), default=0)
    what = counted(n_epochs, "epoch") if n_epochs else "Solved"
    say(f"\n{what} ({how}) in {seconds:.0f} s.")
    say(f"The model is in {out}. Try next:")
    say(f"  embedprop similar {folder} {shell_word(model.nodes[0])}")
    say(f"  embedprop export {folder} --format parquet")


def _beside(out: Path) -> Path:
    """Return where an interrupted model goes: a finished one is worth more, and stays."""
    return out.with_name(f"{out.name}-stopped") if (out / "manifest.json").exists() else out

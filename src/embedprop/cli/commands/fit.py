"""`embedprop fit`: files → a model folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from embedprop.cli.console import StoppedError, speaker
from embedprop.cli.graph_files import UNKNOWN_NODES, EdgesArgument, WholeGraphFiles
from embedprop.cli.method_options import (
    DEFAULT_METHOD,
    FAST_METHOD,
    FIT_OPTIONS,
    WITH_RELATIONS,
    chosen_parameters,
    require_options_of,
)
from embedprop.cli.options import QuietOption, option
from embedprop.errors import InvalidParameterError
from embedprop.instance.parameters import PARAMETERS
from embedprop.instance.require import require_one_of

if TYPE_CHECKING:
    from embedprop.model.model import Model


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """How a graph is read and learned, and where the model goes."""

    out: Path = option(..., "Where to save the model.", "FOLDER")
    method: str | None = option(
        None,
        "The closed form, in seconds; or EP-B of the paper, by gradients. Default: "
        f"{DEFAULT_METHOD}, but {WITH_RELATIONS} where edges have relations.",
        "|".join(PARAMETERS),
    )
    fast: bool = option(False, "[epb] The settings that we recommend; implies epb.")
    inverse_relations: bool = option(False, "Give each relation an inverse: labels travel back.")
    unknown_nodes: str = option("error", UNKNOWN_NODES, "error|ignore|add")
    self_loops: str = option("drop", "What to do with edges from a node to itself.", "drop|keep")
    targets: Path | None = option(
        None,
        "[epb] Classes of some nodes (node,class) to learn; 'embedprop predict' gives the rest.",
        "FILE",
    )
    target_weight: float | None = option(
        None, "[epb] Weight of the targets' loss. Default: 1.", "X"
    )


def fit(
    edges: EdgesArgument,
    wanted: Fitting,
    files: WholeGraphFiles,
    quiet: QuietOption = False,
    **given: Any,
) -> None:
    """Learn vectors for nodes and labels; save a model."""
    from embedprop.estimators import ESTIMATORS
    from embedprop.files.folder.save import check_target
    from embedprop.graph.labels import split_kinds
    from embedprop.methods.interrupt import InterruptWatch
    from embedprop.methods.method import Stopped

    say, out, targets = speaker(quiet), wanted.out, wanted.targets
    method = chosen_method(wanted, edges, files, say)
    given = {name: value for name, value in given.items() if value not in (None, [])}
    of_fit = [name for name in FIT_OPTIONS if getattr(wanted, name) is not getattr(Fitting, name)]
    require_options_of(method, [*given, *of_fit])
    check_target(out)  # before the work, not after it
    estimator = ESTIMATORS[method](**chosen_parameters(given, fast=wanted.fast), verbose=not quiet)
    kinds = {"node": "set"} | dict(split_kinds(files.labels).values())
    estimator.check(kinds, supervised=targets is not None)  # before a large graph is read
    start = perf_counter()
    try:
        odd = {"self_loops": wanted.self_loops, "unknown_nodes": wanted.unknown_nodes}
        graph = files.read(edges, **odd)
        graph = graph.with_inverses() if wanted.inverse_relations else graph
        say(graph.summary())
        known: dict[str, Any] = {} if targets is None else {"targets": classes_of(targets)}
        if wanted.target_weight is not None:
            known["target_weight"] = wanted.target_weight
        estimator.fit(graph, **known)
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
    wanted: Fitting, edges: Path, files: WholeGraphFiles, say: Callable[[str], None]
) -> str:
    """Return the method that is meant; said where it is not the usual one."""
    if wanted.method is not None:
        return require_one_of("method", wanted.method, list(PARAMETERS))
    if wanted.fast:
        return FAST_METHOD
    if files.has_relations(edges):
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

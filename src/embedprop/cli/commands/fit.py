"""`embedprop fit`: files → a model folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from embedprop.cli.console import StoppedError, speaker
from embedprop.cli.graph_files import UNKNOWN_NODES, EdgesArgument, WholeGraphFiles
from embedprop.cli.method_options import FAST_METHOD, chosen_parameters, require_options_of
from embedprop.cli.options import QuietOption, option
from embedprop.errors import InvalidParameterError
from embedprop.instance.parameters import PARAMETERS
from embedprop.instance.require import require_one_of

if TYPE_CHECKING:
    from embedprop.graph import Graph
    from embedprop.model.model import Model

Say = Callable[[str], None]

DEFAULT_METHOD, WITH_RELATIONS = "closed-form", "epb"
# Options of EP-B that are not parameters of its estimator.
EPB_OPTIONS = ("fast", "targets", "target_weight")


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
    from embedprop.files.folder.save import check_target
    from embedprop.methods.progress import InterruptWatch

    say, out = speaker(quiet), wanted.out
    cleaning = {"self_loops": wanted.self_loops, "unknown_nodes": wanted.unknown_nodes}
    # A pipe can be read only once: there the edges themselves tell whether they have relations.
    is_pipe = edges.exists() and not edges.is_file()
    graph = files.read(edges, **cleaning) if is_pipe else None
    method = chosen_method(wanted, edges, files, graph, say)
    check_target(out)  # before the work, not after it
    given = {name: value for name, value in given.items() if value not in (None, [])}
    estimator = _estimator(method, wanted, files, given, verbose=not quiet)
    if (out / "manifest.json").exists():
        say(f"{out} holds a model: the new one will replace it.")
    start = perf_counter()
    with _saved_if_stopped(out):
        graph = graph or files.read(edges, **cleaning)
        graph = graph.with_inverses() if wanted.inverse_relations else graph
        say(graph.summary())
        targets = wanted.targets
        known: dict[str, Any] = {} if targets is None else {"targets": classes_of(targets)}
        if wanted.target_weight is not None:
            known["target_weight"] = wanted.target_weight
        estimator.fit(graph, **known)
    with InterruptWatch():
        estimator.save(out)
    _say_what_is_next(estimator.model_, out, perf_counter() - start, say)


def _estimator(
    method: str, wanted: Fitting, files: WholeGraphFiles, given: Mapping[str, Any], *, verbose: bool
) -> Any:
    """Return the estimator, or refuse what `fit` would refuse: before a large graph is read."""
    from embedprop.estimators import ESTIMATORS
    from embedprop.graph.labels import split_kinds

    of_epb = [one for one in EPB_OPTIONS if getattr(wanted, one) is not getattr(Fitting, one)]
    require_options_of(method, [*given, *of_epb])
    if wanted.target_weight is not None and wanted.targets is None:
        raise InvalidParameterError("--target-weight has no use without --targets FILE.")
    settings = chosen_parameters(given, fast=wanted.fast)
    estimator = ESTIMATORS[method](**settings, verbose=verbose)
    kinds = {"node": "set"} | dict(split_kinds(files.labels).values())
    if "label_types" not in settings:
        _require_readable(method, kinds)
    estimator.check(kinds, supervised=wanted.targets is not None)
    return estimator


def _require_readable(method: str, kinds: Mapping[str, str]) -> None:
    """Refuse labels that would not be learned from: whoever names a file wants it to count."""
    from embedprop.estimators import ESTIMATORS

    for name, kind in kinds.items():
        objection = ESTIMATORS[method].why_not(kind)
        if objection is not None:
            able = [one for one in ESTIMATORS if ESTIMATORS[one].why_not(kind) is None]
            add = f"Add --method {able[0]}, or leave" if able else "Install it, or leave"
            raise InvalidParameterError(f"--label {name}:{kind}: {objection}. {add} the file out.")


@contextmanager
def _saved_if_stopped(out: Path) -> Iterator[None]:
    """After Ctrl-C, save the model if there is one, and say what has become of the work."""
    from embedprop.methods.method import Stopped
    from embedprop.methods.progress import InterruptWatch

    try:
        yield
    except Stopped as stop:
        # A finished model is worth more than an interrupted one, and stays.
        is_taken = (out / "manifest.json").exists()
        place = out.with_name(f"{out.name}-stopped") if is_taken else out
        with InterruptWatch():
            stop.model.save(place)
        why = f" ({out} holds a finished model)" if is_taken else ""
        raise StoppedError(f"{stop} It is saved in {place}{why}.") from None
    except KeyboardInterrupt:
        text = f"Stopped before there was a model: nothing was written to {out}."
        raise StoppedError(text) from None


def chosen_method(
    wanted: Fitting, edges: Path, files: WholeGraphFiles, graph: Graph | None, say: Say
) -> str:
    """Return the method that is meant; said where it is not the usual one."""
    if wanted.method is not None:
        return require_one_of("method", wanted.method, list(PARAMETERS))
    if wanted.fast:
        return FAST_METHOD
    if files.has_relations(edges) if graph is None else graph.relations is not None:
        say(f"The edges have relations, so --method {WITH_RELATIONS} is used.")
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


def _say_what_is_next(model: Model, out: Path, seconds: float, say: Say) -> None:
    from embedprop.cli.spelling import shell_word
    from embedprop.graph.messages import counted

    folder, learning = shell_word(out), model.learning
    losses = [f"{name} {one[-1]:.4f}" for name, one in learning.loss_history.items() if one]
    residuals = [f"{name} {one:.0e}" for name, one in learning.residuals.items()]
    how = f"residual: {', '.join(residuals)}" if residuals else f"loss: {', '.join(losses)}"
    n_epochs = max(map(len, learning.loss_history.values()), default=0)
    what = "Solved" if residuals else counted(n_epochs, "epoch")
    say(f"\n{what} ({how}) in {seconds:.0f} s.")
    say(f"The model is in {out}. Try next:")
    say(f"  embedprop similar {folder} {shell_word(model.nodes[0])}")
    say(f"  embedprop export {folder} --format parquet")

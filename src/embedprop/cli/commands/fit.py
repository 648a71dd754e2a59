"""`embedprop fit`: files → a model folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, cast

import typer

from embedprop.cli.console import StoppedError, speaker
from embedprop.cli.options import (
    ColumnsOption,
    DirectedOption,
    HeaderOption,
    LabelOption,
    NodesOption,
    QuietOption,
    SelfLoopsOption,
    SeparatorOption,
    UnknownNodesOption,
    integer_or_none,
    is_given,
    listed,
    pairs,
    per_type,
)
from embedprop.cli.part_options import (
    AggregatorOption,
    DeviceOption,
    DistanceOption,
    DropoutOption,
    EmbeddingOption,
    FitTargetsOption,
    InverseOption,
    LossOption,
    PretrainedOption,
    ReconstructionOption,
    RefineOption,
    RepresentationOption,
    TargetWeightOption,
    part_of,
)

if TYPE_CHECKING:
    from embedprop.estimators import EmbeddingPropagation
    from embedprop.graph.graph import SelfLoops, UnknownNodes


def fit(
    context: typer.Context,
    edges: Annotated[
        Path,
        typer.Argument(
            help="A file with columns source,target[,weight][,relation], or a plain edge list.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where to save the model.", show_default=False)
    ],
    label: LabelOption = None,
    nodes: NodesOption = None,
    directed: DirectedOption = False,
    unknown_nodes: UnknownNodesOption = "error",
    self_loops: SelfLoopsOption = "drop",
    columns: ColumnsOption = None,
    header: HeaderOption = None,
    separator: SeparatorOption = None,
    instance: Annotated[
        str,
        typer.Option(
            metavar="epb|eps", help="The paper's EP-B, or the closed form: seconds, no epochs."
        ),
    ] = "epb",
    dim: Annotated[
        str, typer.Option(metavar="N", help="Dimensions per label type; or node=64,word=128.")
    ] = "128",
    margin: Annotated[
        str, typer.Option(metavar="X", help="Margin of the loss; or node=1,word=5.")
    ] = "1.0",
    epochs: Annotated[int, typer.Option(metavar="N", help="Passes over all nodes.")] = 200,
    batch_size: Annotated[int, typer.Option(metavar="N", help="Nodes per step of Adam.")] = 64,
    learning_rate: Annotated[float, typer.Option(metavar="X", help="Step size of Adam.")] = 1e-3,
    schedule: Annotated[
        str, typer.Option(metavar="constant|linear", help="Whether the step size falls.")
    ] = "constant",
    label_types: Annotated[
        str | None, typer.Option(metavar="A,B", help="Learn from these label types only.")
    ] = None,
    max_neighbors: Annotated[
        int | None, typer.Option(metavar="N", help="Neighbors drawn per visit. Default: all.")
    ] = None,
    n_negatives: Annotated[
        int, typer.Option(metavar="N", help="Nodes that each node is compared with per visit.")
    ] = 1,
    negatives: Annotated[
        str, typer.Option(metavar="uniform|degree|in_batch|shared", help="How these are drawn.")
    ] = "uniform",
    neighborhood: Annotated[
        str, typer.Option(metavar="neighbors|walks|edges", help="Who speaks to a node.")
    ] = "neighbors",
    label_embedding: EmbeddingOption = None,
    aggregator: AggregatorOption = None,
    reconstruction: ReconstructionOption = None,
    distance: DistanceOption = None,
    loss: LossOption = None,
    representation: RepresentationOption = "concatenation",
    inverse_relations: InverseOption = False,
    pretrained: PretrainedOption = None,
    refine: RefineOption = True,
    label_dropout: DropoutOption = "0",
    targets: FitTargetsOption = None,
    target_weight: TargetWeightOption = 1.0,
    regularization: Annotated[
        str | None,
        typer.Option(
            metavar="X", help="Of eps; or word=5,topic=2. Default: 0.3 for ids, 5 for labels."
        ),
    ] = None,
    restart: Annotated[
        float, typer.Option(metavar="X", help="Of eps: the share of a node's own labels.")
    ] = 0.15,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="paper|fast", help="Settings for all that is not given. Default: the paper's."
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option(metavar="auto|fused|torch", help="How to compute.")
    ] = "auto",
    storage: Annotated[
        str,
        typer.Option(
            metavar="auto|memory|disk",
            help="Where tables are; or disk(partitions=8,folder='/data').",
        ),
    ] = "auto",
    device: DeviceOption = "auto",
    n_threads: Annotated[
        int | None, typer.Option(metavar="N", help="Threads. Default: as many as help.")
    ] = None,
    random_state: Annotated[
        str, typer.Option(metavar="N", help="Seed of all random draws; none for a new one.")
    ] = "0",
    quiet: QuietOption = False,
) -> None:
    """Learn vectors for nodes and labels; save a model."""
    from embedprop.cli.spelling import shell_word
    from embedprop.estimators import EmbeddingPropagation
    from embedprop.files.folder.save import check_target
    from embedprop.graph.graph import Graph

    say = speaker(quiet)
    model = EmbeddingPropagation()
    params = {
        "instance": instance,
        "dim": per_type("--dim", dim, int),
        "margin": per_type("--margin", margin, float),
        "epochs": epochs,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "schedule": schedule,
        "label_types": listed("--label-types", label_types),
        "max_neighbors": max_neighbors,
        "n_negatives": n_negatives,
        "negatives": negatives,
        "neighborhood": neighborhood,
        "label_embedding": part_of("--label-embedding", label_embedding),
        "aggregator": part_of("--aggregator", aggregator),
        "reconstruction": part_of("--reconstruction", reconstruction),
        "distance": part_of("--distance", distance),
        "loss": part_of("--loss", loss),
        "representation": representation,
        "inverse_relations": inverse_relations,
        "pretrained": pairs("--pretrained", pretrained) if pretrained else None,
        "refine": refine,
        "label_dropout": per_type("--label-dropout", label_dropout, float),
        "target_weight": target_weight,
        "regularization": None
        if regularization is None
        else per_type("--regularization", regularization, float),
        "restart": restart,
        "preset": preset,
        "engine": engine,
        "storage": storage,
        "device": device,
        "n_threads": n_threads,
        "random_state": integer_or_none("--random-state", random_state),
        "verbose": not quiet,
    }
    model.set_params(**{name: value for name, value in params.items() if is_given(context, name)})
    labels = pairs("--label", label or [])
    check_target(out)  # before the work, not after it
    _check_settings(model, labels, targets is not None)
    start = perf_counter()
    try:
        graph = Graph.read(
            edges,
            labels,
            directed=directed,
            nodes=nodes,
            self_loops=cast("SelfLoops", self_loops),
            unknown_nodes=cast("UnknownNodes", unknown_nodes),
            columns=None if columns is None else pairs("--columns", columns.split(",")),
            has_header=header,
            separator=separator,
        )
        say(graph.summary())
        model.fit(graph, y=None if targets is None else classes_of(targets))
    except KeyboardInterrupt as stop:
        raise StoppedError(_save_what_is_there(model, out, str(stop))) from None
    model.save(out)
    folder = shell_word(out)
    say(f"\n{_summary(model)} in {perf_counter() - start:.0f} s.")
    say(f"The model is in {out}. Try next:")
    say(f"  embedprop similar {folder} {shell_word(model.nodes_[0])}")
    say(f"  embedprop export {folder} --format parquet")


def _summary(model: EmbeddingPropagation) -> str:
    if model.instance == "eps":
        residuals = ", ".join(f"{name} {one:.0e}" for name, one in model.residuals_.items())
        return f"Solved (residual: {residuals})"
    losses = ", ".join(f"{name} {one[-1]:.4f}" for name, one in model.loss_history_.items() if one)
    return f"{model.fit_params_['epochs']} epochs (loss: {losses})"


def _check_settings(
    model: EmbeddingPropagation, labels: Mapping[str, str], supervised: bool
) -> None:
    """Refuse settings that `fit` would refuse, before a large graph is read."""
    from embedprop.graph.labels import split_kinds
    from embedprop.instance.description import Instance
    from embedprop.methods.epb.engines.choose import choose_engine, has_torch
    from embedprop.methods.epb.plan import TrainingPlan
    from embedprop.methods.epb.tables.place import Storage, require_possible
    from embedprop.methods.preparation import check_representation, default_label_types

    kinds = {"node": "set"} | dict(split_kinds(labels).values())
    if model.instance == "eps":
        kinds = {name: kind for name, kind in kinds.items() if kind == "set"}
    elif model.label_types is None and not has_torch():
        kinds = {name: kind for name, kind in kinds.items() if kind in ("set", "text")}
    wanted = model.label_types or default_label_types(list(kinds), model.instance)
    params = model._settled_params(wanted)
    instance = Instance.from_params(params, {name: kinds.get(name, "set") for name in wanted})
    engine = "closed form"
    if instance.name != "eps":
        TrainingPlan.from_params(params, seed=0)
        engine = choose_engine(model.engine, instance, supervised=supervised)
        check_representation(instance)
    require_possible(Storage.parse(model.storage), engine)


def classes_of(file: Path) -> dict[str, str]:
    """Return the class of each node of a file; a node has one."""
    from embedprop.errors import InvalidParameterError
    from embedprop.graph.files.readers import read_targets

    classes: dict[str, str] = {}
    for node, name in read_targets(file):
        if classes.setdefault(node, name) != name:
            raise InvalidParameterError(
                f"{file}: node {node!r} has several classes ({classes[node]!r}, {name!r}); one "
                f"head learns one class per node. Keep one of them."
            )
    return classes


def _save_what_is_there(model: EmbeddingPropagation, out: Path, message: str) -> str:
    """Save an interrupted model; return what to say."""
    if not hasattr(model, "node_embeddings_"):
        return (
            f"Stopped before there was a model: nothing was written to {out}. "
            f"One Ctrl-C during training keeps what was learned; a second one at once does not."
        )
    # A finished model is worth more than a part of the next one: that goes beside it.
    place = out.with_name(f"{out.name}-stopped") if (out / "manifest.json").exists() else out
    model.save(place)
    return f"{message} It is saved in {place}."

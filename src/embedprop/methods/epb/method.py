"""EP-B and the other instances of the framework: learned by gradients, epoch after epoch."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, ClassVar, Self, final

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph import Graph
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.catalog import NEIGHBORHOODS
from embedprop.instance.epb import EPBInstance, own_part
from embedprop.instance.parameters import EPBParameters, settings_of
from embedprop.instance.parts import PARTS_OF_TYPE, Parts
from embedprop.instance.require import require_positive
from embedprop.methods.epb.engines.choose import Engine, choose_engine, has_torch
from embedprop.methods.epb.epochs import EpochReport, learn
from embedprop.methods.epb.finish import model_of
from embedprop.methods.epb.tables.place import Place, needed_memory
from embedprop.methods.epb.tables.storage import MEMORY
from embedprop.methods.epb.task import Targets, Task, TrainingPlan, start_vectors
from embedprop.methods.method import Estimate, Report, Stopped, chosen_types, not_used, silent
from embedprop.methods.progress import InterruptWatch
from embedprop.methods.random_streams import RandomStreams
from embedprop.model.model import Learning, Model
from embedprop.model.notices import Notice, log_notices
from embedprop.model.readout.modules import ModulesReadout
from embedprop.model.representations import make_representation

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class WantedTargets:
    """Classes to learn beside the reconstruction, as they were given, and their loss's weight."""

    given: Any
    weight: float = 1.0


@final
@dataclass(frozen=True, eq=False)
class EPBMethod:
    """How EP-B is learned: the instance, the plan of its epochs, the engine that computes.

    own_parts: the user's modules, {label type: {part: module}}. pretrained: vectors to start from.
    previous: what to go on from. settings: the parameters as a model keeps them.
    """

    name: ClassVar[str] = "epb"

    instance: EPBInstance
    plan: TrainingPlan
    engine: Engine
    own_parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    pretrained: Mapping[str, Any] = field(default_factory=dict)
    targets: WantedTargets | None = None
    previous: Model | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    notices: Sequence[Notice] = ()

    @classmethod
    def of(
        cls,
        parameters: EPBParameters,
        kinds: Mapping[str, str],
        n_relations: int = 0,
        targets: WantedTargets | None = None,
        previous: Model | None = None,
    ) -> Self:
        """Return the method that the parameters describe for a graph with these label types."""
        chosen = chosen_types(kinds, parameters.label_types, cls.why_not)
        instance = EPBInstance.of(parameters, chosen, n_relations)
        make_representation(instance.representation).width(list(instance.dims.values()))
        if targets is not None:
            require_positive("target_weight", targets.weight)
        if instance.n_relations and not NEIGHBORHOODS[instance.neighborhood].has_edges:
            raise InvalidParameterError(
                f"neighborhood={instance.neighborhood!r} cannot be combined with relations: a walk "
                f"of two steps goes over two edges, and has no relation of its own. Choose "
                f"neighborhood='neighbors' or 'edges', or leave the relations out of the graph."
            )
        return cls(
            instance=instance,
            plan=TrainingPlan.of(parameters),
            engine=choose_engine(parameters.engine, instance, supervised=targets is not None),
            own_parts=_own_parts(Parts.of(parameters.parts), chosen),
            pretrained=_checked_pretrained(parameters.pretrained, instance),
            targets=targets,
            previous=previous,
            settings=settings_of(parameters),
            notices=not_used(kinds, cls.why_not) if parameters.label_types is None else (),
        )

    @staticmethod
    def why_not(kind: str) -> str | None:
        """Return None for all kinds where torch is; without it, for sets, and texts as words."""
        if has_torch() or kind in ("set", "text"):
            return None
        return "that needs torch, which is not installed: pip install 'embedprop[torch]'"

    def check(self, graph: Graph) -> None:
        """Refuse a graph that cannot be learned from with these parameters, before any work."""
        if graph.n_nodes < 2:
            raise InvalidGraphError(
                "EP-B compares each node with another one: the graph needs at least 2 nodes, got 1."
            )
        if self.previous is not None:
            _check_previous(self.previous, self.instance)

    def estimate(self, graph: Graph) -> Estimate:
        """Return how much memory it takes to learn from a graph."""
        learnable = self._learnable(graph)
        return self._estimate(learnable, self.engine.place(learnable, self.instance))

    def learn(self, graph: Graph, streams: RandomStreams, report: Report = silent) -> Model:
        """Return the model after all epochs; `Stopped` holds it after Ctrl-C."""
        self.check(graph)
        learnable, previous, instance = self._learnable(graph), self.previous, self.instance
        wanted = self.targets
        targets = None if wanted is None else Targets.of(wanted.given, graph.nodes, wanted.weight)
        place = self.engine.place(learnable, instance)
        self._estimate(learnable, place).require_memory()
        log_notices([*self.notices, *([] if place.notice is None else [place.notice])])
        if previous is not None:
            _say_what_is_lost(previous, graph)
        start = start_vectors(learnable, instance, streams, previous, self.pretrained, place.tables)
        plan, modules = self._plan(streams, place), self._modules()
        task = Task(
            learnable, instance, plan, start, self.own_parts, targets, modules, place.tables
        )
        with InterruptWatch() as watch:
            with self.engine.learner(task) as learner:
                result = learn(learner, task, _of_epochs(report, plan), lambda: watch.pressed)
            learning = Learning(self.settings, streams.seed, self._history(result.loss_history))
            model = model_of(task, result, learning, previous)
        if result.interrupted or watch.pressed:
            done = max(map(len, result.loss_history.values()), default=0)
            said = (
                f"Stopped after {done} of {plan.epochs} epochs; the model holds what was learned."
            )
            raise Stopped(said, model)
        return model

    def _learnable(self, graph: Graph) -> LearnableGraph:
        return LearnableGraph.of(graph, self.instance.word_sets)

    def _plan(self, streams: RandomStreams, place: Place) -> TrainingPlan:
        """Return the plan with what only a run knows; going on repeats no draws."""
        history = {} if self.previous is None else self.previous.learning.loss_history
        first = max(map(len, history.values()), default=0)
        n_partitions = place.n_partitions
        return replace(self.plan, seed=streams.seed, first_epoch=first, n_partitions=n_partitions)

    def _modules(self) -> Mapping[str, Any]:
        """Return the modules to go on from."""
        readout = None if self.previous is None else self.previous.readout
        return readout.modules if isinstance(readout, ModulesReadout) else {}

    def _history(self, new: Mapping[str, list[float]]) -> dict[str, list[float]]:
        """Return the losses of all epochs, those before this run too."""
        before = {} if self.previous is None else self.previous.learning.loss_history
        return {name: [*before.get(name, []), *losses] for name, losses in new.items()}

    def _estimate(self, learnable: LearnableGraph, place: Place) -> Estimate:
        needed = needed_memory(learnable, self.instance, place.n_partitions)
        cure = " The fused engine can keep tables on disk: engine=\"fused(storage='disk')\"."
        could_be_on_disk = self.engine.name == "fused" and place.tables is MEMORY
        return Estimate(needed, self.instance.dims, cure if could_be_on_disk else "")


def _of_epochs(report: Report, plan: TrainingPlan) -> EpochReport:
    """Return what hears of epochs and tells `report`."""

    def heard(epoch: int, share: float, losses: Mapping[str, float]) -> None:
        shown = ", ".join(f"{name} {loss:.4f}" for name, loss in losses.items())
        report(epoch + share, plan.epochs, f"epoch {epoch + 1}/{plan.epochs}, loss {shown}")

    return heard


def _own_parts(parts: Parts, kinds: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the modules of the user's own: {label type: {part: module}}."""
    found: dict[str, dict[str, Any]] = {name: {} for name in kinds}
    for part, (name, kind) in product(PARTS_OF_TYPE, kinds.items()):
        one = own_part(part, getattr(parts, part), name, kind)
        if one is not None:
            found[name][part] = one
    return found


def _checked_pretrained(pretrained: Any, instance: EPBInstance) -> Mapping[str, Any]:
    """Return the given start vectors per label type."""
    if pretrained is None:
        return {}
    types = instance.label_types
    tables = [name for name, one in types.items() if one.label_embedding == "lookup"]
    if not isinstance(pretrained, Mapping) or not pretrained.keys() <= set(tables):
        got = list(pretrained) if isinstance(pretrained, Mapping) else type(pretrained).__name__
        raise InvalidParameterError(
            f"pretrained must be a dict from label types with a lookup table "
            f"({', '.join(map(repr, tables))}) to vectors, got {got!r}."
        )
    return pretrained


def _check_previous(previous: Model, instance: EPBInstance) -> None:
    """Refuse to go on from a model of another method, or to lose or resize a label type."""
    if not isinstance(previous.instance, EPBInstance):
        raise InvalidParameterError(
            f"partial_fit: the model was learned by method={previous.instance.name!r}, which has "
            f"nothing to go on from. Learn anew with fit."
        )
    missing = [name for name in previous.label_types if name not in instance.dims]
    if missing:
        raise InvalidParameterError(
            f"The model has learned the label types {', '.join(map(repr, missing))}, which would "
            f"be lost: give them with the graph, or learn anew with fit."
        )
    for name, learned in previous.instance.dims.items():
        if instance.dims[name] != learned:
            raise InvalidParameterError(
                f"dim={instance.dims[name]} for label type {name!r}, but the vectors learned so "
                f"far have {learned}. Keep dim={learned}, or learn anew with fit."
            )


def _say_what_is_lost(previous: Model, graph: Graph) -> None:
    """Warn of known nodes that the new graph lacks."""
    n_lost = int((graph.nodes.find_all(previous.nodes) < 0).sum())
    if n_lost:
        logger.warning(
            f"{n_lost} of the {len(previous.nodes)} nodes of the model are not in this graph and "
            f"are forgotten. To keep them, give the whole graph."
        )

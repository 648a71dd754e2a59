"""Any instance of the framework by autograd: the readable reference."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from embedprop.errors import InvalidParameterError, TrainingError
from embedprop.framework.heads import Head
from embedprop.framework.labels import labels_of
from embedprop.framework.modules import TypeModule
from embedprop.graph import Graph
from embedprop.graph.arrays import Vectors
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.catalog import NEIGHBORHOODS
from embedprop.instance.epb import EPBInstance
from embedprop.kernels.epb.batch import Draws
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.engines.engine import NOBODY, EpochReport, TrainingResult, Watch
from embedprop.methods.epb.plan import TrainingPlan
from embedprop.methods.epb.targets import Targets
from embedprop.methods.random_streams import RandomStreams

# Seconds between two looks at the progress bar.
_LOOK = 0.1
# Nodes whose h is computed at a time.
_CHUNK = 4096


class TorchEngine:
    """Builds the modules of each label type and moves their parameters by Adam."""

    def __init__(
        self,
        device: str = "auto",
        own_parts: Mapping[str, Mapping[str, Any]] | None = None,
        fixed: Mapping[str, NDArray[np.bool_]] | None = None,
        targets: Targets | None = None,
        previous: Mapping[str, TypeModule] | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self._device, self._own = choose_device(device), own_parts or {}
        self._fixed, self._targets, self._dtype = fixed or {}, targets, dtype
        self._previous = previous or {}

    def train(
        self,
        learnable: LearnableGraph,
        instance: EPBInstance,
        plan: TrainingPlan,
        start: Mapping[str, Vectors],
        report: EpochReport,
        start_relations: Mapping[str, Vectors] | None = None,
        watch: Watch = NOBODY,
    ) -> TrainingResult:
        """Learn the parameters of every part, lookup tables from `start` on."""
        streams = RandomStreams(plan.seed)
        n_threads = torch.get_num_threads()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(streams.key("modules") >> np.uint64(1)))
            if plan.n_threads is not None:
                torch.set_num_threads(plan.n_threads)
            try:
                modules = self._modules(learnable, instance, start, start_relations or {})
                run = _Run(
                    learnable.graph, instance, plan, modules, self._head(instance), self._device
                )
                return run.train(report, watch)
            finally:
                torch.set_num_threads(n_threads)

    def _modules(
        self,
        learnable: LearnableGraph,
        instance: EPBInstance,
        start: Mapping[str, Vectors],
        start_relations: Mapping[str, Vectors],
    ) -> nn.ModuleDict:
        modules = nn.ModuleDict()
        n_edges = learnable.graph.neighbors.n_values
        for name, settings in instance.label_types.items():
            labels = labels_of(learnable, name, settings)
            own = {part: copy.deepcopy(one) for part, one in self._own.get(name, {}).items()}
            module = TypeModule(name, settings, labels, n_edges, instance.n_relations, own)
            _require_edges(module, instance)
            with torch.no_grad():
                if settings.label_embedding == "lookup":
                    module.f.table.copy_(torch.from_numpy(np.array(start[name])))
                elif not settings.is_set:
                    module.dummies.copy_(torch.from_numpy(np.array(start[name])))
                if name in start_relations:
                    module.relations.copy_(torch.from_numpy(np.array(start_relations[name])))
                if name in self._previous:
                    module.go_on_from(self._previous[name])
                elif hasattr(module.f, "adapt") and labels.contents is not None:
                    module.f.adapt(torch.from_numpy(labels.contents))
            if not settings.refine:
                _freeze(module, "label_embedding" in own, self._fixed.get(name))
            # A name may hold a point, which torch reserves: modules go by their number.
            modules[str(len(modules))] = module.to(self._device, self._dtype)
        return modules

    def _head(self, instance: EPBInstance) -> Head | None:
        if self._targets is None:
            return None
        width = sum(instance.dims.values())
        targets = self._targets
        head = Head(targets.classes, len(targets.names), width, targets.weight)
        return head.to(self._device, self._dtype)


def _require_edges(module: TypeModule, instance: EPBInstance) -> None:
    """Refuse weights of edges where those who speak do so over none."""
    has_edges = NEIGHBORHOODS[instance.neighborhood].has_edges
    if getattr(module.g_tilde, "uses_edges", False) and not has_edges:
        raise InvalidParameterError(
            f"reconstruction={module.settings.reconstruction!r} of label type {module.name!r} "
            f"learns a weight for each edge, but neighborhood={instance.neighborhood!r} has none. "
            f"Choose neighborhood='neighbors', or another reconstruction."
        )


def choose_device(device: str) -> torch.device:
    """Return the device that is meant: "auto" takes CUDA where it is."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidParameterError(
            f"device={device!r} cannot be used here ({reason}). Choose 'cpu', or 'auto' for the "
            f"best that is there."
        ) from None
    return chosen


def _freeze(module: TypeModule, is_own: bool, fixed: NDArray[np.bool_] | None) -> None:
    """Keep a given module, or given vectors, as they are."""
    if is_own and isinstance(module.f, nn.Module):
        module.f.requires_grad_(False)
    elif fixed is not None:
        moves = torch.from_numpy(~fixed)[:, None]
        module.f.table.register_hook(lambda gradient: gradient * moves.to(gradient.device))


class _Run:
    """The epochs of one training."""

    def __init__(
        self,
        graph: Graph,
        instance: EPBInstance,
        plan: TrainingPlan,
        modules: nn.ModuleDict,
        head: Head | None,
        device: torch.device,
    ) -> None:
        self._graph, self._instance, self._plan, self._head = graph, instance, plan, head
        self._modules: dict[str, TypeModule] = dict(
            zip(instance.label_types, modules.values(), strict=True)  # type: ignore[arg-type]
        )
        streams = RandomStreams(plan.seed)
        self._drawer = Drawer(
            graph, instance, streams, np.float32, plan.batch_size, plan.n_partitions
        )
        parameters = [p for p in modules.parameters() if p.requires_grad and p.numel()]
        parameters += [] if head is None else list(head.parameters())
        self._optimizer = (
            torch.optim.Adam(parameters, lr=plan.learning_rate, fused=True) if parameters else None
        )
        self._has_edges = NEIGHBORHOODS[instance.neighborhood].has_edges
        self._device = device
        self.history: dict[str, list[float]] = {name: [] for name in self._names()}

    def _names(self) -> list[str]:
        return [*self._modules, *([] if self._head is None else ["target"])]

    def train(self, report: EpochReport, watch: Watch) -> TrainingResult:
        """Go through all epochs; return what was learned."""
        looked = time.monotonic()
        for epoch, share, losses in self._steps():
            now = time.monotonic()
            if share == 1 or now - looked > _LOOK:
                looked = now
                report(epoch, share, losses)
            if watch.pressed:
                break
        return self._result(watch.pressed)

    def _steps(self) -> Iterator[tuple[int, float, Mapping[str, float]]]:
        size = self._plan.batch_size
        for epoch in range(self._plan.epochs):
            counter = self._plan.first_epoch + epoch
            for group in [] if self._optimizer is None else self._optimizer.param_groups:
                group["lr"] = self._plan.rate(epoch)
            sums, n_done = dict.fromkeys(self._names(), 0.0), 0
            losses = sums
            for part in self._drawer.rounds(counter):
                for low in range(0, len(part.order), size):
                    visits = part.order[low : low + size]
                    for name, loss in self._step(part.draw(visits)).items():
                        sums[name] += loss
                    n_done += len(visits)
                    losses = {name: total / n_done for name, total in sums.items()}
                    share = part.share(low + len(visits))
                    if share < 1:
                        yield epoch, share, losses
            for name, loss in losses.items():
                self.history[name].append(loss)
            yield epoch, 1.0, losses

    def _step(self, draws: Draws) -> dict[str, float]:
        """Move all parameters by one batch; return the summed loss of each label type."""
        if not self._has_edges:  # -1: no edge of the graph
            draws = draws._replace(places=np.full(len(draws.neighbor_ids), -1))
        losses, h_tildes, hs = {}, [], []
        for name, module in self._modules.items():
            loss, h_tilde, h = module(draws)
            losses[name] = loss.sum()
            h_tildes.append(h_tilde)
            hs.append(h)
        total = torch.stack(list(losses.values())).sum()
        if self._head is not None:
            nodes = torch.from_numpy(draws.nodes).long().to(self._device)
            losses["target"] = self._head.loss(nodes, torch.cat(hs, 1), torch.cat(h_tildes, 1))
            total = total + self._head.weight * losses["target"]
        if self._optimizer is not None:
            self._optimizer.zero_grad()
            total.backward()  # type: ignore[no-untyped-call]
            self._optimizer.step()
        return {name: float(loss.detach()) for name, loss in losses.items()}

    @torch.no_grad()
    def _result(self, interrupted: bool) -> TrainingResult:
        vectors, embeddings, relations = {}, {}, {}
        plain = all(one.is_mean for one in self._instance.label_types.values())
        for name, module in self._modules.items():
            module.eval()
            vectors[name] = _in_chunks(module.label_vectors, module.labels.n_vectors, self._device)
            embeddings[name] = _in_chunks(module.embed, self._graph.n_nodes, self._device)
            if len(module.relations):
                relations[name] = module.relations.cpu().numpy().astype(np.float32)
            if not np.isfinite(embeddings[name]).all():
                raise TrainingError(
                    f"The vectors of label type {name!r} are not finite after "
                    f"{len(self.history[name])} epochs with "
                    f"learning_rate={self._plan.learning_rate:g}. Lower it."
                )
        return TrainingResult(
            vectors,
            self.history,
            interrupted,
            relations,
            None if plain else embeddings,
            None if plain else {name: module.cpu() for name, module in self._modules.items()},
            None if self._head is None else self._head.cpu(),
        )


def _in_chunks(function: Any, n: int, device: torch.device) -> Vectors:
    """Return function(ids) of all ids below n as one array."""
    parts: list[Tensor] = [
        function(torch.arange(low, min(low + _CHUNK, n), device=device)).cpu()
        for low in range(0, n, _CHUNK)
    ]
    return torch.cat(parts).float().numpy()

"""Any instance of the framework by autograd: the readable reference."""

from __future__ import annotations

import copy
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from embedprop.errors import InvalidParameterError
from embedprop.framework.labels import labels_of
from embedprop.framework.losses import Head
from embedprop.framework.modules import TypeModule
from embedprop.graph.arrays import Vectors
from embedprop.instance.catalog import NEIGHBORHOODS
from embedprop.instance.epb import EPBInstance
from embedprop.kernels.epb.batch import Draws
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.epochs import TrainingResult
from embedprop.methods.epb.neighborhoods import Ranges
from embedprop.methods.epb.tables.storage import Array
from embedprop.methods.epb.task import Task
from embedprop.methods.random_streams import RandomStreams

# Nodes whose h is computed at a time.
_CHUNK = 4096


@contextmanager
def torch_learner(task: Task, device: str = "auto") -> Iterator[TorchLearner]:
    """Build the modules; torch's own random numbers and threads are as before in the end."""
    chosen, n_threads = choose_device(device), torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(RandomStreams(task.plan.seed).key("modules") >> np.uint64(1)))
        # Modules draw their start from torch's own numbers: from a key of ours they repeat.
        if task.plan.n_threads is not None:
            torch.set_num_threads(task.plan.n_threads)
        try:
            yield TorchLearner(task, chosen)
        finally:
            torch.set_num_threads(n_threads)


def _modules_of(task: Task) -> dict[str, TypeModule]:
    """Return the module of each label type, at its start."""
    modules, instance, start = {}, task.instance, task.start
    n_edges = task.learnable.graph.neighbors.n_values
    for name, settings in instance.label_types.items():
        labels = labels_of(task.learnable, name, settings)
        own = {part: copy.deepcopy(one) for part, one in task.own_parts.get(name, {}).items()}
        module = TypeModule(name, settings, labels, n_edges, instance.n_relations, own)
        _require_edges(module, instance)
        with torch.no_grad():
            if settings.label_embedding == "lookup":
                module.f.table.copy_(torch.from_numpy(np.array(start.labels[name])))
            elif not settings.is_set:
                module.dummies.copy_(torch.from_numpy(np.array(start.labels[name])))
            if name in start.relations:
                module.relations.copy_(torch.from_numpy(np.array(start.relations[name])))
            if name in task.modules:
                module.go_on_from(task.modules[name])
            elif hasattr(module.f, "adapt") and labels.contents is not None:
                module.f.adapt(torch.from_numpy(labels.contents))
        if not settings.refine:
            _freeze(module, "label_embedding" in own, start.fixed.get(name))
        modules[name] = module
    return modules


def _require_edges(module: TypeModule, instance: EPBInstance) -> None:
    """Refuse edge weights where messages travel over no edge."""
    has_edges = NEIGHBORHOODS[instance.neighborhood].has_edges
    if getattr(module.g_tilde, "uses_edges", False) and not has_edges:
        raise InvalidParameterError(
            f"reconstruction={module.settings.reconstruction!r} of label type {module.name!r} "
            f"learns a weight for each edge, but neighborhood={instance.neighborhood!r} has none. "
            f"Choose neighborhood='neighbors', or another reconstruction."
        )


def choose_device(device: str) -> torch.device:
    """Return the device to use: "auto" takes CUDA if it is available."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidParameterError(
            f"device={device!r} cannot be used here ({reason}). Choose 'cpu', or 'auto' for the "
            f"best device available."
        ) from None
    return chosen


def _freeze(module: TypeModule, is_own: bool, fixed: NDArray[np.bool_] | None) -> None:
    """Keep a given module, or given vectors, as they are."""
    if is_own and isinstance(module.f, nn.Module):
        module.f.requires_grad_(False)
    elif fixed is not None:
        moves = torch.from_numpy(~fixed)[:, None]
        module.f.table.register_hook(lambda gradient: gradient * moves.to(gradient.device))


class TorchLearner:
    """One run: the modules of every label type, moved by Adam."""

    def __init__(self, task: Task, device: torch.device) -> None:
        instance, graph = task.instance, task.learnable.graph
        self.drawer = Drawer(graph, instance, task.plan)
        self.visits_per_step = task.plan.batch_size
        self._n_nodes, self._instance, self._device = graph.n_nodes, instance, device
        self._modules, self._head = _modules_of(task), None
        if (targets := task.targets) is not None:
            width = sum(instance.dims.values())
            self._head = Head(targets.classes, len(targets.names), width, targets.weight)
        heads = {} if self._head is None else {"target": self._head}
        names = [*self._modules, *heads]
        self.highest_losses: Mapping[str, float] = dict.fromkeys(names, sys.float_info.max)
        # A name may hold a point, which torch reserves: modules go by their number.
        modules = nn.ModuleDict({str(i): one for i, one in enumerate(self._modules.values())})
        self._all = nn.ModuleList([modules, *heads.values()])
        self._all.to(device, getattr(torch, np.dtype(task.dtype).name))
        parameters = [p for p in self._all.parameters() if p.requires_grad and p.numel()]
        rate = task.plan.learning_rate
        # Adam refuses an empty list, as it is where nothing can be learned.
        self._adam = torch.optim.Adam(parameters or [torch.zeros(0)], lr=rate, fused=True)
        self._has_edges = NEIGHBORHOODS[instance.neighborhood].has_edges

    def begin_epoch(self, rate: float) -> None:
        """Go on with this learning rate."""
        for group in self._adam.param_groups:
            group["lr"] = rate

    def turn_to(self, ranges: Ranges) -> None:
        """Do nothing: all modules are in memory."""

    def step(self, draws: Draws) -> dict[str, float]:
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
        if total.requires_grad:
            self._adam.zero_grad()
            total.backward()  # type: ignore[no-untyped-call]
            self._adam.step()
        return {name: float(loss.detach()) for name, loss in losses.items()}

    @torch.no_grad()
    def finished(self) -> TrainingResult:
        """Return the vectors and, where they are more than EP-B's, the modules."""
        vectors, embeddings, relations = {}, {}, {}
        plain = all(map(_is_plain, self._modules.values()))
        for name, module in self._modules.items():
            module.eval()
            vectors[name] = _in_chunks(module.label_vectors, module.labels.n_vectors, self._device)
            if not plain:
                embeddings[name] = _in_chunks(module.embed, self._n_nodes, self._device)
            if len(module.relations):
                relations[name] = module.relations.cpu().numpy().astype(np.float32)
        return TrainingResult(
            vectors,
            relation_vectors=relations,
            embeddings=None if plain else embeddings,
            modules=None if plain else {name: one.cpu() for name, one in self._modules.items()},
            head=None if self._head is None else self._head.cpu(),
        )

    def state(self) -> dict[str, Array]:
        """Return parameters and buffers, Adam's moments, and torch's own random numbers."""
        tensors = {f"module {key}": value for key, value in self._all.state_dict().items()}
        for number, moments in self._adam.state_dict()["state"].items():
            tensors |= {f"adam {number} {key}": value for key, value in moments.items()}
        tensors["random"] = torch.get_rng_state()  # dropout draws from it
        if self._device.type == "cuda":
            tensors["random of device"] = torch.cuda.get_rng_state(self._device)
        return {key: value.cpu().numpy() for key, value in tensors.items()}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from the state of another run."""
        tensors = {key: torch.from_numpy(value.copy()) for key, value in state.items()}
        self._all.load_state_dict({key: tensors[f"module {key}"] for key in self._all.state_dict()})
        # Adam keeps nothing for a parameter that has had no gradient yet.
        moments: dict[int, dict[str, Tensor]] = defaultdict(dict)
        for key, value in tensors.items():
            if key.startswith("adam "):
                _, number, part = key.split()
                moments[int(number)][part] = value
        self._adam.load_state_dict(self._adam.state_dict() | {"state": moments})
        torch.set_rng_state(tensors["random"])
        if self._device.type == "cuda":
            torch.cuda.set_rng_state(tensors["random of device"], self._device)


def _is_plain(module: TypeModule) -> bool:
    """Return whether label vectors say all that was learned: d may have parameters as well."""
    learned = list(module.d.parameters()) if isinstance(module.d, nn.Module) else []
    return module.settings.is_mean and not learned


def _in_chunks(function: Any, n: int, device: torch.device) -> Vectors:
    """Return function(ids) of all ids below n as one array."""
    parts: list[Tensor] = [
        function(torch.arange(low, min(low + _CHUNK, n), device=device)).cpu()
        for low in range(0, n, _CHUNK)
    ]
    return torch.cat(parts).float().numpy()

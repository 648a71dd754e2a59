"""The engines, what each of them must do, and "auto", the first that has no objection.

An engine is chosen as a text, ``"fused(storage='disk')"``; what it names is one of these small
frozen classes, which know what the engine cannot do without loading it.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar, Protocol

from embedprop.errors import InvalidParameterError
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.catalog import ENGINES, parse_part
from embedprop.instance.epb import EPBInstance
from embedprop.methods.epb.epochs import Learner
from embedprop.methods.epb.tables.place import Place, check_storage, choose_place
from embedprop.methods.epb.task import Task


class Engine(Protocol):
    """One way to compute an instance, with its parameters; made before anything of it is loaded."""

    name: ClassVar[str]

    def why_not(self, instance: EPBInstance, supervised: bool) -> str | None:
        """Return why the engine cannot compute an instance and what to do; None if it can."""
        ...

    def place(self, graph: LearnableGraph, instance: EPBInstance) -> Place:
        """Return where the tables of a run go."""
        ...

    def learner(self, task: Task) -> AbstractContextManager[Learner]:
        """Return a run that stands at the start, in a context that frees what it holds."""
        ...


@dataclass(frozen=True)
class Fused:
    """Numba kernels for EP-B only, without torch; tables in memory or on disk."""

    name: ClassVar[str] = "fused"

    storage: str = "auto"
    partitions: int | None = None
    folder: str | None = None

    def __post_init__(self) -> None:
        check_storage(self.storage, self.partitions, self.folder)

    def why_not(self, instance: EPBInstance, supervised: bool) -> str | None:
        """Return what of an instance is not EP-B."""
        beyond = instance.beyond_epb or ("targets are given" if supervised else None)
        if beyond is None:
            return None
        return f"computes only EP-B, but {beyond}"

    def place(self, graph: LearnableGraph, instance: EPBInstance) -> Place:
        """Return where the tables of a run go."""
        return choose_place(self.storage, self.partitions, self.folder, graph, instance)

    def learner(self, task: Task) -> AbstractContextManager[Learner]:
        """Return a run of the kernels."""
        from embedprop.methods.epb.engines.fused import fused_learner

        return fused_learner(task)


@dataclass(frozen=True)
class Torch:
    """Every instance of the framework by autograd; needs torch."""

    name: ClassVar[str] = "torch"

    device: str = "auto"

    def why_not(self, instance: EPBInstance, supervised: bool) -> str | None:
        """Return what to do where torch is not installed."""
        if has_torch():
            return None
        beyond = instance.beyond_epb or ("targets are given" if supervised else None)
        why = "" if beyond is None else f", and {beyond}, which needs it"
        return f"needs torch, which is not installed{why}: pip install 'embedprop[torch]'"

    def place(self, graph: LearnableGraph, instance: EPBInstance) -> Place:
        """Return memory: tensors are nowhere else."""
        del graph, instance
        return Place()

    def learner(self, task: Task) -> AbstractContextManager[Learner]:
        """Return a run of the modules."""
        from embedprop.methods.epb.engines.torch import torch_learner

        return torch_learner(task, self.device)


def choose_engine(text: str, instance: EPBInstance, *, supervised: bool = False) -> Engine:
    """Return the engine that is written as `text`; "auto": the first that has no objection."""
    if text != "auto":
        part = parse_part("engine", text)
        chosen: Engine = ENGINES[part.name](**part.parameters)
        objection = chosen.why_not(instance, supervised)
        if objection is not None:
            raise InvalidParameterError(
                f"engine={text!r} {objection}. Choose another, or 'auto', the first that can."
            )
        return chosen
    objections = []
    for name in ENGINES:
        chosen = ENGINES[name]()
        objection = chosen.why_not(instance, supervised)
        if objection is None:
            return chosen
        objections.append(f"{name!r} {objection}")
    raise InvalidParameterError(f"No engine can compute this: {'; '.join(objections)}.")


def has_torch() -> bool:
    """Return whether torch is installed."""
    return find_spec("torch") is not None

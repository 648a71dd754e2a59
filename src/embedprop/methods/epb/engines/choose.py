"""Which engine computes: what can be chosen, and "auto", the first that has no objection.

An engine is chosen as a text, ``"fused(storage='disk')"``; what it names is one of these small
frozen classes, which know what the engine cannot do without loading it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, ClassVar, Protocol

from embedprop.errors import InvalidParameterError
from embedprop.graph.arrays import Mask
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.instance.catalog import ENGINES, parse_part
from embedprop.instance.epb import EPBInstance
from embedprop.methods.epb.engines.engine import Engine
from embedprop.methods.epb.tables.place import Place, Storage, choose_place
from embedprop.methods.epb.tables.storage import MEMORY, Tables
from embedprop.methods.epb.targets import Targets


@dataclass(frozen=True)
class Given:
    """What an engine is given beside the graph and the vectors to start from.

    own_parts: the user's modules, {label type: {part: module}}. fixed: labels whose vectors stay.
    targets: classes to learn. modules: what it goes on from. tables: where to keep vectors.
    """

    own_parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fixed: Mapping[str, Mask] = field(default_factory=dict)
    targets: Targets | None = None
    modules: Mapping[str, Any] = field(default_factory=dict)
    tables: Tables = MEMORY


class EngineChoice(Protocol):
    """An engine that was chosen, with its parameters."""

    name: ClassVar[str]

    def why_not(self, instance: EPBInstance, supervised: bool) -> str | None:
        """Return why the engine cannot compute an instance and what to do; None if it can."""
        ...

    def place(self, graph: LearnableGraph, instance: EPBInstance) -> Place:
        """Return where the tables of a run go."""
        ...

    def make(self, given: Given) -> Engine:
        """Return the engine, ready to train."""
        ...


@dataclass(frozen=True)
class Fused:
    """Numba kernels that compute EP-B alone, without torch; tables in memory or on disk."""

    name: ClassVar[str] = "fused"

    storage: str = "auto"
    partitions: int | None = None
    folder: str | None = None

    def __post_init__(self) -> None:
        Storage(self.storage, self.partitions, self.folder)  # refuses

    def why_not(self, instance: EPBInstance, supervised: bool) -> str | None:
        """Return what of an instance is not EP-B."""
        beyond = instance.beyond_epb or ("targets are given" if supervised else None)
        if beyond is None:
            return None
        return f"computes EP-B alone, but {beyond}"

    def place(self, graph: LearnableGraph, instance: EPBInstance) -> Place:
        """Return where the tables of a run go."""
        return choose_place(Storage(self.storage, self.partitions, self.folder), graph, instance)

    def make(self, given: Given) -> Engine:
        """Return the engine, ready to train."""
        from embedprop.methods.epb.engines.fused import FusedEngine

        return FusedEngine(tables=given.tables)


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

    def make(self, given: Given) -> Engine:
        """Return the engine, ready to train."""
        from embedprop.methods.epb.engines.torch import TorchEngine

        return TorchEngine(self.device, given.own_parts, given.fixed, given.targets, given.modules)


def choose_engine(text: str, instance: EPBInstance, *, supervised: bool = False) -> EngineChoice:
    """Return the engine that is written as `text`; "auto": the first that has no objection."""
    if text != "auto":
        part = parse_part("engine", text)
        chosen: EngineChoice = ENGINES[part.name](**part.parameters)
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

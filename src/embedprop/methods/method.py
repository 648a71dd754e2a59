"""What every method does: read a graph's kinds of labels, refuse, estimate, learn."""

import logging
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, TypeAlias

from embedprop.errors import InvalidParameterError, did_you_mean
from embedprop.graph import Graph
from embedprop.instance.instance import Instance
from embedprop.methods.random_streams import RandomStreams
from embedprop.model.model import Model
from embedprop.model.notices import Notice

logger = logging.getLogger(__name__)

_CGROUPS, _OWN_CGROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


class Report(Protocol):
    """Hears of progress; it is called often, so it must be cheap."""

    def __call__(self, done: float, total: float | None, text: str) -> None:
        """Of `total` (None: not known beforehand) so much is done; `text` says what goes on."""
        ...


def silent(done: float, total: float | None, text: str) -> None:
    """Hear of progress and say nothing."""
    del done, total, text


class Stopped(KeyboardInterrupt):
    """Ctrl-C while learning; `model` holds what was learned until then."""

    def __init__(self, message: str, model: Model) -> None:
        super().__init__(message)
        self.model = model


@dataclass(frozen=True)
class Estimate:
    """How much memory learning takes, beside the graph. cure: what would make it less."""

    needed: int
    dims: Mapping[str, int]
    cure: str = ""

    def require_memory(self) -> None:
        """Refuse what cannot fit into this machine, before it is tried."""
        memory = physical_memory()
        if memory is None or self.needed <= memory:
            return
        dims = ", ".join(f"{name} {dim}" for name, dim in self.dims.items())
        raise InvalidParameterError(
            f"Learning needs about {self.needed / 1e9:.1f} GB (dimensions: {dims}), but this "
            f"machine has {memory / 1e9:.1f} GB. Lower dim, or learn from fewer label types."
            f"{self.cure}"
        )


def physical_memory() -> int | None:
    """Return the bytes of memory of this machine or container; None where nobody tells."""
    found = _container_limits()
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(found, default=None)


def _container_limits() -> list[int]:
    """Return the limits of this process's control groups, of both versions, and of those above."""
    files = [_CGROUPS / "memory.max", _CGROUPS / "memory/memory.limit_in_bytes"]
    with suppress(OSError):
        for line in _OWN_CGROUPS.read_text(encoding="utf-8", errors="replace").splitlines():
            _, controllers, place = [*line.split(":", 2), "", ""][:3]
            steps = [step for step in place.split("/") if step]
            above = ["/".join(steps[:n]) for n in range(1, len(steps) + 1)]
            if not controllers:
                files += [_CGROUPS / group / "memory.max" for group in above]
            elif "memory" in controllers.split(","):
                files += [_CGROUPS / "memory" / group / "memory.limit_in_bytes" for group in above]
    limits = []
    for file in files:
        with suppress(ValueError, OSError):  # "max": as much as the machine has
            limits.append(int(file.read_text()))
    return limits


class Method(Protocol):
    """One way to find the vectors: made from typed parameters by `of`, frozen."""

    name: ClassVar[str]

    @property
    def instance(self) -> Instance:
        """The description of what is learned."""
        ...

    @staticmethod
    def why_not(kind: str) -> str | None:
        """Return why labels of a kind cannot be read; None if they can."""
        ...

    def check(self, graph: Graph) -> None:
        """Refuse a graph that cannot be learned from with these parameters, before any work."""
        ...

    def estimate(self, graph: Graph) -> Estimate:
        """Return how much memory it takes to learn from a graph."""
        ...

    def learn(self, graph: Graph, streams: RandomStreams, report: Report = silent) -> Model:
        """Return what can be learned from a graph; `Stopped` holds it after Ctrl-C."""
        ...


# Why labels of a kind cannot be read; None if they can.
WhyNot: TypeAlias = Callable[[str], str | None]


def chosen_types(
    kinds: Mapping[str, str], wanted: Sequence[str] | None, why_not: WhyNot
) -> dict[str, str]:
    """Return the kinds of the label types that are wanted, in the graph's order; None: readable."""
    if wanted is None:
        return {name: kind for name, kind in kinds.items() if why_not(kind) is None}
    if isinstance(wanted, str) or not isinstance(wanted, Collection) or not len(wanted):
        raise InvalidParameterError(
            f"label_types={wanted!r} is not possible: give a list of names, for example "
            f'["word"], or None for all of: {", ".join(map(repr, kinds))}.'
        )
    for name in wanted:
        if not isinstance(name, str) or name not in kinds:
            raise InvalidParameterError(
                f"label_types={wanted!r}: {name!r} is unknown. There are: "
                f"{', '.join(map(repr, kinds))}.{did_you_mean(name, kinds)}"
            )
        objection = why_not(kinds[name])
        if objection is not None:
            raise InvalidParameterError(
                f"label_types={wanted!r}: {name!r} is of kind {kinds[name]!r}, but {objection}."
            )
    return {name: kind for name, kind in kinds.items() if name in wanted}


def not_used(kinds: Mapping[str, str], why_not: WhyNot) -> list[Notice]:
    """Notice the label types of a graph that are not learned from, as they cannot be read."""
    objections = {name: why_not(kind) for name, kind in kinds.items()}
    return [Notice(f"Not used: {name!r} ({why}).") for name, why in objections.items() if why]

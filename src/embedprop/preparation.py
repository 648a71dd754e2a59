"""What is settled before an engine starts: label types, memory, and the vectors to start from."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Sequence

from embedprop.closed_form.solve import needed_bytes
from embedprop.errors import InvalidParameterError
from embedprop.graph import Graph
from embedprop.instance import Instance
from embedprop.learned import Learned
from embedprop.training.engine import Vectors
from embedprop.training.labels import glorot, learned_labels
from embedprop.training.random_streams import RandomStreams

logger = logging.getLogger(__name__)


def choose_label_types(
    graph: Graph, wanted: Collection[str] | None, instance: str = "epb"
) -> list[str]:
    """Return the label types to learn from: those asked for, or the default; `node` first."""
    if wanted is None:
        others = [name for name, kind in graph.kinds.items() if kind != "set"]
        if others:
            logger.warning(
                "Learning is from sets of labels; left aside: %s.", ", ".join(map(repr, others))
            )
        sets = [name for name in graph.label_types if graph.kinds[name] == "set"]
        return default_label_types(sets, instance)
    if isinstance(wanted, str) or not isinstance(wanted, Collection) or not len(wanted):
        raise InvalidParameterError(
            f"label_types={wanted!r} is not possible: give a list of names, for example "
            f'["word"], or None for all of: {", ".join(map(repr, graph.label_types))}.'
        )
    kinds = graph.kinds
    for name in wanted:
        found = kinds.get(name) if isinstance(name, str) else None
        if found != "set":
            kind = "is unknown" if found is None else f"is of kind {found!r}"
            known = ", ".join(repr(n) for n, k in kinds.items() if k == "set")
            raise InvalidParameterError(
                f"label_types={wanted!r}: {name!r} {kind}. There are: {known}."
            )
    return [name for name in graph.label_types if name in wanted]


def default_label_types(sets: Sequence[str], instance: str) -> list[str]:
    """Return those of all sets of labels that an instance learns from if nothing else is asked.

    The closed form takes ids only if there is nothing else: beside words they do not help.

    >>> default_label_types(["node", "word"], "epb"), default_label_types(["node", "word"], "eps")
    (['node', 'word'], ['word'])
    """
    shared = [name for name in sets if name != "node"]
    return shared if instance == "eps" and shared else list(sets)


def start_vectors(
    graph: Graph, instance: Instance, streams: RandomStreams, previous: Learned | None
) -> dict[str, Vectors]:
    """Return the vectors that learning starts from: Glorot's, or what is known already."""
    start = {}
    for name, settings in instance.label_types.items():
        vectors = glorot(name, learned_labels(graph, name).n_vectors, settings.dim, streams)
        if previous is not None and name in previous.label_vectors:
            dim = previous.label_vectors[name].shape[1]
            if dim != settings.dim:
                raise InvalidParameterError(
                    f"dim={settings.dim} for label type {name!r}, but the vectors learned so far "
                    f"have {dim}. Keep dim={dim}, or learn anew with fit."
                )
            vectors = previous.start_vectors(graph, name, vectors)
        start[name] = vectors
    return start


def tell_what_is_lost(previous: Learned, graph: Graph, label_types: Sequence[str]) -> None:
    """Refuse to lose a label type, and warn of known nodes that the new graph lacks."""
    missing = [name for name in previous.label_types if name not in label_types]
    if missing:
        raise InvalidParameterError(
            f"The model has learned the label types {', '.join(map(repr, missing))}, which would "
            f"be lost: give them with the graph, or learn anew with fit."
        )
    n_lost = int((graph.nodes.find_all(previous.nodes) < 0).sum())
    if n_lost:
        logger.warning(
            "%d of the %d nodes of the model are not in this graph and are forgotten. To keep "
            "them, give the whole graph.",
            n_lost,
            len(previous.nodes),
        )


def require_memory(graph: Graph, instance: Instance) -> None:
    """Refuse what cannot fit into this machine, before it is tried."""
    if instance.name == "eps":
        needed = needed_bytes(graph, instance)
    else:
        # Start, vectors, direction and root of each label; h of each node.
        needed = 4 * sum(
            settings.dim * (4 * learned_labels(graph, name).n_vectors + graph.n_nodes)
            for name, settings in instance.label_types.items()
        )
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return
    if needed > memory:
        dims = ", ".join(f"{name} {one.dim}" for name, one in instance.label_types.items())
        raise InvalidParameterError(
            f"Learning needs about {needed / 1e9:.1f} GB (dimensions: {dims}), but this machine "
            f"has {memory / 1e9:.1f} GB. Lower dim, or learn from fewer label types."
        )

"""What users are told: parameters without effect, new nodes of which a model does not know all."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Sequence

logger = logging.getLogger(__name__)


def tell_direction(learned_directed: bool, directed: bool) -> None:
    """Warn of a graph whose neighbors are not those of the graph that was learned from."""
    if directed != learned_directed:
        words = ("undirected", "directed")
        logger.warning(
            "The model was trained on a graph that is %s, but this one is %s: neighbors do not "
            "mean the same in both.",
            words[learned_directed],
            words[directed],
        )


# Parameters that an instance leaves aside: the closed form has no epochs and no negatives, and
# hears all neighbors. (Parts of the framework it refuses: see `instance`.)
UNUSED = {
    "eps": frozenset(
        {
            "margin",
            "epochs",
            "batch_size",
            "learning_rate",
            "schedule",
            "max_neighbors",
            "n_negatives",
            "negatives",
            "neighborhood",
            "inverse_relations",
            "refine",
            "label_dropout",
            "target_weight",
            "preset",
            "engine",
            "device",
        }
    ),
    "epb": frozenset({"regularization", "restart"}),
}


def tell_unused(instance: str, changed: Iterable[str]) -> None:
    """Warn of parameters that were changed and that the instance does not use."""
    unused = sorted(UNUSED[instance].intersection(changed))
    if unused:
        (other,) = UNUSED.keys() - {instance}
        logger.warning(
            "instance=%r does not use %s. Leave that out, or choose instance=%r.",
            instance,
            ", ".join(unused),
            other,
        )


def tell_unknown_node(example: Hashable, source: str) -> None:
    """Warn of a new node of which nothing is known; `example` is a node that is."""
    if source == "own":
        logger.warning(
            "None of the new node's own labels is known, and source='own' uses nothing else: its "
            "vector is zeros."
        )
        return
    logger.warning(
        "Nothing is known of the new node: its vector is zeros. Known nodes are spelled like %r "
        "('1' is not 1).",
        example,
    )


def tell_unknown_nodes(unknown: Sequence[Hashable], n_new: int) -> None:
    """Warn of those among new nodes of which nothing is known."""
    if unknown:
        logger.warning(
            "Nothing is known of %d of the %d new nodes (for example %s): zeros.",
            len(unknown),
            n_new,
            ", ".join(map(repr, unknown[:3])),
        )


def tell_own_labels() -> None:
    """Say how the labels of new nodes can count for their own vectors, too."""
    logger.info(
        "New nodes have labels of their own: source='reconstruction' uses them for their neighbors "
        "only, source='both' for their own vectors too."
    )


def tell_unknown_relations(n_edges: int) -> None:
    """Warn of edges with a relation that the model does not know."""
    logger.warning(
        "%d edges have a relation that was not seen in training and do not count.", n_edges
    )


def tell_unknown_labels(n_unknown: int, n_labels: int, label_type: str) -> None:
    """Say how many labels of new nodes the model does not know."""
    if n_unknown:
        logger.info(
            "%d of the %d labels of type %r of new nodes were not seen in training and do not "
            "count.",
            n_unknown,
            n_labels,
            label_type,
        )

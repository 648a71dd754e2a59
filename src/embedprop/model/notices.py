"""What was noticed while answering: returned with the answer, for the caller to log."""

import logging
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

logger = logging.getLogger("embedprop")


class Notice(NamedTuple):
    """One remark; a warning if the answer is not what the user may think."""

    text: str
    is_warning: bool = True


def log_notices(notices: Iterable[Notice]) -> None:
    """Say what was noticed, by logging."""
    for notice in notices:
        logger.log(logging.WARNING if notice.is_warning else logging.INFO, notice.text)


def other_direction(learned_directed: bool) -> Notice:
    """Notice a graph whose neighbors are not those of the graph that was learned from."""
    words = ("undirected", "directed")
    return Notice(
        f"The model was trained on a graph that is {words[learned_directed]}, but this one is "
        f"{words[not learned_directed]}: neighbors mean different things in the two."
    )


def unknown_node(example: Hashable, source: str) -> Notice:
    """Notice a new node about which nothing is known; `example` is a node that is."""
    if source == "own":
        return Notice(
            "None of the new node's own labels is known, and source='own' uses nothing else: its "
            "vector is zeros."
        )
    return Notice(
        f"Nothing is known about the new node: its vector is zeros. Known nodes are spelled like "
        f"{example!r} ('1' is not 1)."
    )


def unknown_nodes(unknown: Sequence[Hashable], n_new: int) -> Notice:
    """Notice those among new nodes about which nothing is known."""
    examples = ", ".join(map(repr, unknown[:3]))
    return Notice(
        f"Nothing is known about {len(unknown)} of the {n_new} new nodes (for example {examples}): "
        f"their vectors are zeros."
    )


def unknown_relations(n_edges: int) -> Notice:
    """Notice edges with a relation that the model does not know."""
    edges = "1 edge has" if n_edges == 1 else f"{n_edges} edges have"
    return Notice(f"{edges} a relation that was not seen in training: ignored.")


def unknown_labels(n_unknown: int, n_labels: int, label_type: str) -> Notice:
    """Notice labels of new nodes that the model does not know."""
    return Notice(
        f"{n_unknown} of the {n_labels} labels of type {label_type!r} of new nodes were not seen "
        f"in training and are ignored.",
        is_warning=False,
    )

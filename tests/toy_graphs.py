"""Graphs small enough to draw by hand, for which it is known by construction what must come out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from embedprop.graph import Graph


@dataclass(frozen=True)
class TwoCliques:
    """Two cliques of six nodes and one edge between them; each clique has words of its own."""

    graph: Graph
    clique_of: dict[str, str]
    words_of: dict[str, list[str]]


def two_cliques(size: int = 6) -> TwoCliques:
    words_of = {"a": ["red", "rose", "wine"], "b": ["blue", "sea", "sky"]}
    edges, words, clique_of = [("a0", "b0")], {}, {}
    for clique in "ab":
        names = [f"{clique}{i}" for i in range(size)]
        edges += list(combinations(names, 2))
        clique_of |= dict.fromkeys(names, clique)
        for i, name in enumerate(names):
            # Two of the three words each: no word belongs to one node alone.
            words[name] = [words_of[clique][i % 3], words_of[clique][(i + 1) % 3]]
    return TwoCliques(Graph.from_edges(edges, labels={"word": words}), clique_of, words_of)


def path(n_nodes: int = 5) -> Graph:
    return Graph.from_edges([(i, i + 1) for i in range(n_nodes - 1)])


def star_with_words() -> Graph:
    """A hub with four leaves, and words with weights; leaf3 has none."""
    return Graph.from_edges(
        [("hub", f"leaf{i}") for i in range(1, 5)],
        labels={
            "word": {
                "hub": {"x": 1.0, "y": 3.0},
                "leaf1": {"x": 1.0},
                "leaf2": {"y": 2.0, "z": 0.5},
                "leaf4": {"z": 2.0},
            }
        },
    )


def messy(
    n_nodes: int = 22,
    *,
    words: bool = True,
    directed: bool = False,
    weighted_edges: bool = False,
    weighted_labels: bool = False,
    missing: bool = False,
    isolated: bool = False,
    self_loops: str = "drop",
    n_relations: int = 0,
    seed: int = 0,
) -> Graph:
    """A random graph of about three edges per node, with the difficulties that are asked for.

    missing: every fourth node has no words. isolated: three further nodes without edges.
    n_relations: edges are of this many types, and some pairs of nodes have edges of several.
    """
    rng = np.random.default_rng(seed)
    pairs = rng.integers(n_nodes, size=(3 * n_nodes, 2))
    pairs = np.concatenate([pairs, np.repeat(np.arange(0, n_nodes, 5), 2).reshape(-1, 2)])
    if n_relations:
        pairs = np.concatenate([pairs, pairs[:n_nodes]])
    n_all = n_nodes + 3 * isolated
    labels = {}
    if words:
        rows = [
            (node, f"w{word}", float(weight) if weighted_labels else 1.0)
            for node in range(n_all)
            if not (missing and node % 4 == 1)
            for word, weight in zip(
                rng.choice(9, size=1 + node % 4, replace=False),
                rng.uniform(0.2, 3.0, size=1 + node % 4),
                strict=True,
            )
        ]
        labels["word"] = rows if weighted_labels else [row[:2] for row in rows]
    weights = rng.uniform(0.1, 2.0, size=len(pairs)) if weighted_edges else None
    return Graph.from_edges(
        pairs,
        labels=labels,
        directed=directed,
        nodes=range(n_all),
        weights=weights,
        relations=rng.integers(n_relations, size=len(pairs)).tolist() if n_relations else None,
        self_loops=self_loops,
    )

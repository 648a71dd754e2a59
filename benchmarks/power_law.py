"""Power-law graphs of any size, with communities and words where they are asked for; seeded.

    python benchmarks/power_law.py --nodes 1000000 --edges 10000000 --out edges.npy
    python benchmarks/power_law.py --nodes 10000 --edges 100000 --communities 20 \
        --out edges.tsv --words words.tsv --targets targets.tsv

Chung and Lu's model: both ends of an edge are drawn by the expected degrees of the nodes, which
fall as rank^(-1 / (exponent - 1)), so that the number of nodes of degree k falls as k^(-exponent).
Self-loops and repeated edges are drawn again until there are as many distinct edges as were asked
for, which takes a little from the largest hubs. Names are shuffled: they say nothing of the degree.

Communities are planted: a share of 1 - `mixing` of all draws keeps both ends in one community. Each
has the same degrees and about the same size. A node's words come from its community's part of the
vocabulary, or from all of it. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]

EXPONENT = 2.5
MIXING = 0.2
# Draws at a time: their float64 numbers take 32 MB each, whatever the graph.
_CHUNK = 2**22
_MAX_ROUNDS = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--edges", type=int, required=True)
    parser.add_argument("--exponent", type=float, default=EXPONENT, help="of the degrees")
    parser.add_argument("--communities", type=int, default=1)
    parser.add_argument("--mixing", type=float, default=MIXING, help="share of draws across them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="edges, .npy or .tsv")
    parser.add_argument("--words", type=Path, help="rows node, word; .npy or .tsv")
    parser.add_argument("--vocabulary", type=int, default=10_000, help="how many words there are")
    parser.add_argument("--targets", type=Path, help="rows node, community; .npy or .tsv")
    options = parser.parse_args()
    shape = options.nodes, options.edges, options.exponent, options.seed
    write(options.out, power_law_edges(*shape, options.communities, options.mixing), "target")
    planted = communities(options.nodes, options.communities, options.seed)
    if options.words:
        words = power_law_words(planted, options.vocabulary, seed=options.seed)
        write(options.words, words, "label")
    if options.targets:
        nodes = np.arange(options.nodes, dtype=np.int32)
        write(options.targets, np.stack([nodes, planted], axis=1), "class")


def power_law_edges(
    n_nodes: int,
    n_edges: int,
    exponent: float = EXPONENT,
    seed: int = 0,
    n_communities: int = 1,
    mixing: float = MIXING,
) -> Ids:
    """Return `n_edges` distinct undirected edges between `n_nodes` nodes, without self-loops.

    Parameters
    ----------
    n_nodes, n_edges
        The size of the graph. A node of small expected degree may remain without an edge.
    exponent
        The number of nodes of degree k falls as k^(-exponent); above 2.
    seed
        The same number gives the same bytes.
    n_communities
        How many communities are planted; `communities` gives that of each node.
    mixing
        The share of the draws that do not look at communities.

    Returns
    -------
    (n_edges, 2) int32, the smaller node first, in order.
    """
    if exponent <= 2:
        raise ValueError(
            f"exponent: expected more than 2, where degrees have a mean; got {exponent}."
        )
    if not 1 <= n_communities <= n_nodes:
        raise ValueError(f"n_communities: expected 1 to {n_nodes}, got {n_communities}.")
    rng = np.random.default_rng([seed, 0])
    names = _names(n_nodes, seed)
    keys = np.empty(0, np.int64)
    for _ in range(_MAX_ROUNDS):
        fresh = np.empty(n_edges - len(keys), np.int64)
        for low in range(0, len(fresh), _CHUNK):
            part = fresh[low : low + _CHUNK]
            part[:] = _draw(rng, len(part), names, exponent, n_communities, mixing)
        fresh.sort()
        keys = np.concatenate([keys, fresh]) if len(keys) else fresh
        keys.sort(kind="stable")  # merges two sorted runs in one pass
        keys = keys[_is_new(keys)]
        if len(keys) == n_edges:
            return _pairs(keys, n_nodes)
    raise ValueError(
        f"{n_edges} distinct edges between {n_nodes} nodes are too many for exponent {exponent}: "
        f"after {_MAX_ROUNDS} rounds there are {len(keys)}. Ask for fewer edges or more nodes."
    )


def communities(n_nodes: int, n_communities: int, seed: int = 0) -> Ids:
    """Return the planted community of each node, for the same seed as the edges."""
    found = np.empty(n_nodes, np.int32)
    found[_names(n_nodes, seed)] = np.arange(n_nodes) % n_communities
    return found


def power_law_words(
    planted: Ids,
    n_words: int = 10_000,
    max_words: int = 200,
    own_share: float = 0.7,
    seed: int = 0,
) -> Ids:
    """Return rows (node, word): a Zipf-distributed number of Zipf-distributed words for each node.

    Parameters
    ----------
    planted
        The community of each node.
    n_words
        The size of the vocabulary. Word w belongs to the community w modulo their number, and is
        drawn by 1 / (w + 1): common words are those of small w.
    max_words
        A node draws k words with a chance that falls as 1 / k, from 1 to `max_words`; a word
        that it draws twice is one row.
    own_share
        The share of draws from the words of the own community; the others are from all.
    seed
        The same number gives the same bytes.

    Returns
    -------
    (rows, 2) int32, in the order of nodes, then of words.
    """
    n_communities = int(planted.max()) + 1
    if n_words < n_communities:
        raise ValueError(f"{n_words} words are too few for {n_communities} communities.")
    rng = np.random.default_rng([seed, 2])
    counts = 1 + _ranks(rng, len(planted), max_words, 1.0)
    ends = np.cumsum(counts)
    chunks, low = [], 0
    while low < len(planted):
        done = ends[low] - counts[low]
        high = max(low + 1, int(np.searchsorted(ends, done + _CHUNK, side="right")))
        nodes = np.repeat(np.arange(low, high), counts[low:high])
        words = _ranks(rng, len(nodes), n_words, 1.0)
        own = rng.random(len(nodes)) < own_share
        words[own] = _within(words[own], planted[nodes[own]], n_communities, n_words)
        keys = np.sort(nodes * n_words + words)
        chunks.append(_pairs(keys[_is_new(keys)], n_words))
        low = high
    return np.concatenate(chunks)


def write(path: Path, rows: Ids, second: str) -> None:
    """Write rows of two columns: as an array if the file is to be .npy, else as a TSV table."""
    if path.suffix == ".npy":
        np.save(path, rows)
        return
    import polars as pl

    first = "source" if second == "target" else "node"
    pl.DataFrame({first: rows[:, 0], second: rows[:, 1]}).write_csv(path, separator="\t")


def _names(n_nodes: int, seed: int) -> Ids:
    """Return the name of the node of each rank, by degree."""
    return np.random.default_rng([seed, 1]).permutation(np.arange(n_nodes, dtype=np.int32))


def _ranks(rng: np.random.Generator, size: int, n: int, power: float) -> NDArray[np.int64]:
    """Draw from 0..n-1, rank i by about (i + 1)^(-power): the inverse of its continuous form."""
    numbers = rng.random(size)
    if power == 1.0:
        np.power(n + 1.0, numbers, out=numbers)
    else:
        numbers *= (n + 1.0) ** (1.0 - power) - 1.0
        numbers += 1.0
        np.power(numbers, 1.0 / (1.0 - power), out=numbers)
    ranks = numbers.astype(np.int64)
    ranks -= 1
    return np.minimum(ranks, n - 1, out=ranks)


def _within(
    ranks: NDArray[np.int64], community: NDArray[np.integer], n_communities: int, n: int
) -> NDArray[np.int64]:
    """Return the rank nearest to each that belongs to the wanted community."""
    moved = ranks - ranks % n_communities + community
    moved[moved >= n] -= n_communities
    return moved


def _draw(
    rng: np.random.Generator,
    size: int,
    names: Ids,
    exponent: float,
    n_communities: int,
    mixing: float,
) -> NDArray[np.int64]:
    """Draw edges as keys low * n_nodes + high; a self-loop is -1."""
    n_nodes, power = len(names), 1.0 / (exponent - 1.0)
    sources, targets = (_ranks(rng, size, n_nodes, power) for _ in range(2))
    if n_communities > 1:
        inside = rng.random(size) >= mixing
        community = sources[inside] % n_communities
        targets[inside] = _within(targets[inside], community, n_communities, n_nodes)
    a, b = names[sources], names[targets]
    keys = np.minimum(a, b).astype(np.int64)
    keys *= n_nodes
    keys += np.maximum(a, b)
    keys[a == b] = -1
    return keys


def _is_new(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the sorted keys are edges, each where it stands first."""
    new = keys >= 0
    new[1:] &= keys[1:] != keys[:-1]
    return new


def _pairs(keys: NDArray[np.int64], n: int) -> Ids:
    pairs = np.empty((len(keys), 2), np.int32)
    np.floor_divide(keys, n, out=pairs[:, 0], casting="unsafe")
    np.remainder(keys, n, out=pairs[:, 1], casting="unsafe")
    return pairs


if __name__ == "__main__":
    main()

"""What a fit does, counted: rows touched, arrays made, kernels compiled. Run in a fresh process."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from tests import toy_graphs

from embedprop import EmbeddingPropagation, Graph
from embedprop.graph.changes.learnable import learned_labels
from embedprop.kernels.epb.batch import Draws, Problem
from embedprop.kernels.epb.epoch import Share
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.engines import fused_state

DIM, BATCH_SIZE = 6, 6
KERNELS = ("epb_ids", "epb_shared_labels")


def in_fresh_process(function: Callable[..., Any], *arguments: Any, **environment: str) -> Any:
    """Return what a function of this file says in a process of its own."""
    program = (
        f"import json; from tests.methods.epb.work import {function.__name__} as count; "
        f"print(json.dumps(count(*json.loads({json.dumps(json.dumps(arguments))}))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[3],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class CountedRows(np.ndarray):
    """A table that counts how often one of its rows is looked up."""

    name = ""
    counts: ClassVar[Counter[str]] = Counter()

    def __array_finalize__(self, parent: Any) -> None:
        self.name = getattr(parent, "name", "")

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if self.ndim == 2 and isinstance(key, int | np.integer):
            type(self).counts[self.name] += 1
            return found.view(np.ndarray)
        return found


def row_counts(graph_name: str, settings: dict[str, Any]) -> dict[str, int]:
    """Return how often rows of each table are looked up in a fit.

    Needs NUMBA_DISABLE_JIT=1: then the kernels are plain Python, and do what they always do.
    """

    def around(kernel: Any) -> Any:
        return lambda *arguments: kernel(*map(_with_counted_rows, arguments))

    _put_around_kernels(around)
    fit(made(graph_name), **settings)
    return dict(CountedRows.counts)


def fit(graph: Graph, **settings: Any) -> None:
    """Learn with the sizes of these tests; a process that needs no torch starts faster."""
    sizes = {"dim": DIM, "batch_size": BATCH_SIZE, "n_threads": 1, "verbose": False}
    EmbeddingPropagation(**sizes | settings).fit(graph)


def _put_around_kernels(around: Callable[[Any], Any]) -> None:
    """Put something around both kernels, where the engine looks for them."""
    for name in KERNELS:
        setattr(fused_state, name, around(getattr(fused_state, name)))


def _with_counted_rows(argument: Any) -> Any:
    """Return a named tuple whose tables, and those of tuples in it, count their rows."""
    if not hasattr(argument, "_replace"):
        return argument
    counted = {}
    for name, value in argument._asdict().items():
        if isinstance(value, np.ndarray) and value.ndim == 3 and value.dtype.kind == "f":
            counted[name] = value.view(CountedRows)
            counted[name].name = f"{type(argument).__name__}.{name}"
        else:
            counted[name] = _with_counted_rows(value)
    return argument._replace(**counted)


def made(graph_name: str) -> Graph:
    """Return one of the graphs of these tests."""
    if graph_name == "words":
        return toy_graphs.messy(weighted_labels=True)
    if graph_name == "lonely":  # most nodes are read as negatives only
        return Graph.from_edges([(i, i + 1) for i in range(9)], nodes=range(60))
    return toy_graphs.messy(30, words=False)


class Work(NamedTuple):
    """What a fit in which every visit sends gradients has to do, counted from what is drawn.

    visits; reads: embeddings that are averaged and compared, each time; nodes: distinct ones of
    each batch; labels: of these nodes; labels_per_read: as many as if each read added up labels;
    rows: distinct labels of each batch; caught_up: those of them that an earlier batch has moved.
    """

    visits: int
    reads: int
    nodes: int
    labels: int
    labels_per_read: int
    rows: int
    caught_up: int


def work(graph_name: str, settings: dict[str, Any]) -> Work:
    """Return what there is to do."""
    from tests.methods.epb.runs import Run

    graph = made(graph_name)
    run = Run.of(graph, dim=DIM, batch_size=BATCH_SIZE, **settings)
    (label_type,) = run.instance.label_types
    labels = learned_labels(graph, label_type).sets
    drawer = Drawer(graph, run.instance, run.plan)
    counts: Counter[str] = Counter()
    moved: set[int] = set()
    for epoch in range(run.plan.epochs):
        order = drawer.order(epoch)
        for low in range(0, len(order), BATCH_SIZE):
            read = read_nodes(drawer.draw(epoch, order[low : low + BATCH_SIZE]))
            nodes = np.unique(read)
            rows = set(labels.subset(nodes).ids.tolist())
            counts += Counter(
                visits=len(order[low : low + BATCH_SIZE]),
                reads=len(read),
                nodes=len(nodes),
                labels=int(labels.sizes[nodes].sum()),
                labels_per_read=int(labels.sizes[read].sum()),
                rows=len(rows),
                caught_up=len(rows & moved),
            )
            moved |= rows
    return Work(**counts)


def receivers(graph_name: str, settings: dict[str, Any]) -> tuple[set[int], set[int]]:
    """Return the nodes that receive a gradient in a step that visits all, and those it reads."""
    from tests.methods.epb.runs import Run

    graph = made(graph_name)
    run = Run.of(graph, **settings)
    h = run.start["node"].astype(np.float64)
    drawer = Drawer(graph, run.instance, run.plan)
    draws = drawer.draw(0, drawer.order(0))
    found: set[int] = set()
    for i, v in enumerate(draws.nodes.tolist()):
        neighbors = draws.neighbor_ids[draws.starts[i] : draws.ends[i]]
        h_tilde = h[neighbors].mean(axis=0)
        own = settings["margin"] + np.linalg.norm(h_tilde - h[v])
        violated = own > np.linalg.norm(h_tilde - h[draws.negatives[i]], axis=1)
        if violated.any():
            found |= {v, *neighbors.tolist(), *draws.negatives[i][violated].tolist()}
    return found, set(read_nodes(draws).tolist())


def read_nodes(draws: Draws) -> np.ndarray:
    """Return whose embeddings some visits read: their neighbors', their own, their negatives'."""
    spans = zip(draws.starts, draws.ends, strict=True)
    neighbors = [draws.neighbor_ids[start:end] for start, end in spans]
    return np.concatenate([*neighbors, draws.nodes, draws.negatives.ravel()])


def native_allocations(epochs: int) -> dict[int, list[int]]:
    """Return how many arrays the kernels take or make in each run: {visits: counts}.

    Needs NUMBA_NRT_STATS=1. The arrays that Python hands over count too, in every run the same.
    """
    from numba.core.runtime import rtsys

    graph = made("ids")
    fit(graph, epochs=1)  # loads the kernels; before that nothing is counted
    counts = defaultdict(list)

    def around(kernel: Any) -> Any:
        def counted(share: Share, problem: Problem, *more: Any) -> bool:
            before = rtsys.get_allocation_stats().mi_alloc
            done: bool = kernel(share, problem, *more)
            n_made = rtsys.get_allocation_stats().mi_alloc - before
            counts[len(problem.draws.nodes)].append(n_made)
            return done

        return counted

    _put_around_kernels(around)
    fit(graph, epochs=epochs)
    return counts


def traced_memory(n_epochs: list[int]) -> list[tuple[int, int]]:
    """Return the bytes that a fit leaves behind, and those at its peak, for so many epochs."""
    graph = Graph.from_edges(
        np.random.default_rng(0).integers(2_000, size=(20_000, 2)), nodes=range(2_000)
    )
    seen = []
    for epochs in [n_epochs[0], *n_epochs]:
        gc.collect()
        tracemalloc.start()
        fit(graph, dim=64, batch_size=64, epochs=epochs)
        _, peak = tracemalloc.get_traced_memory()
        gc.collect()
        left, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        seen.append((left, peak))
    return seen[1:]


def compilations(rounds: int) -> list[dict[str, int]]:
    """Return how many signatures each kernel has after each round of fits of every kind."""
    found = []
    for number in range(rounds):
        for graph, settings in every_kind(number):
            fit(graph, dim=4 + number, epochs=2, **settings)
        found.append(signatures())
    return found


def every_kind(seed: int) -> list[tuple[Graph, dict[str, Any]]]:
    """Return a graph and settings for each way in which arrays can be laid out."""
    plain = toy_graphs.messy(20 + seed, seed=seed, words=False)
    return [
        (plain, {}),
        (plain, {"max_neighbors": 2}),
        (plain, {"neighborhood": "walks"}),
        (plain, {"negatives": "degree", "n_negatives": 3}),
        (toy_graphs.messy(20 + seed, seed=seed), {}),
        (toy_graphs.messy(20 + seed, seed=seed, weighted_edges=True, directed=True), {}),
        (toy_graphs.messy(20 + seed, seed=seed, weighted_labels=True, missing=True), {}),
        (toy_graphs.messy(20 + seed, seed=seed, n_relations=2), {"max_neighbors": 2}),
    ]


def signatures() -> dict[str, int]:
    """Return how many signatures each kernel has that other modules call.

    Those that kernels call have some only where nothing was kept from an earlier process.
    """
    found = {}
    for module_name, module in sorted(sys.modules.items()):
        if module_name.startswith("embedprop.") and ".kernels" not in module_name:
            for name, kernel in vars(module).items():
                if hasattr(kernel, "signatures"):
                    found[name] = len(kernel.signatures)
    return {name: count for name, count in found.items() if count}

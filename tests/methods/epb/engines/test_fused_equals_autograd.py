"""The fused engine answers to the plain one: autograd and torch's own dense Adam."""

from __future__ import annotations

import numpy as np
import pytest
from tests import toy_graphs
from tests.methods.epb.runs import Run, assert_equal_to_autograd, assert_near

from embedprop import Graph
from embedprop.instance.catalog import NEGATIVES, NEIGHBORHOODS
from embedprop.kernels.epb.adam import YOUNG
from embedprop.kernels.machine.arrays import USUAL_WIDTH
from embedprop.methods.epb.draws import Drawer

RUNS = {
    "ids only": lambda: Run.of(toy_graphs.messy(words=False)),
    "words only": lambda: Run.of(toy_graphs.messy(), label_types=("word",)),
    "ids and words": lambda: Run.of(toy_graphs.messy()),
    "edge weights": lambda: Run.of(toy_graphs.messy(weighted_edges=True)),
    "label weights": lambda: Run.of(toy_graphs.messy(weighted_labels=True)),
    "directed": lambda: Run.of(toy_graphs.messy(directed=True)),
    "at most two neighbors": lambda: Run.of(toy_graphs.messy(), max_neighbors=2),
    "at most two neighbors, weighted": lambda: Run.of(
        toy_graphs.messy(weighted_edges=True), max_neighbors=2
    ),
    "three negatives": lambda: Run.of(toy_graphs.messy(), n_negatives=3),
    "negatives by degree": lambda: Run.of(toy_graphs.messy(isolated=True), negatives="degree"),
    "nodes without words": lambda: Run.of(toy_graphs.messy(missing=True, weighted_labels=True)),
    "isolated nodes": lambda: Run.of(toy_graphs.messy(isolated=True)),
    "self-loops kept": lambda: Run.of(toy_graphs.messy(self_loops="keep")),
    "a batch larger than the graph": lambda: Run.of(toy_graphs.messy(), batch_size=1000),
    "one node per batch": lambda: Run.of(toy_graphs.messy(8), batch_size=1),
    "no partial batch": lambda: Run.of(toy_graphs.messy(), batch_size=11),
    "dim and margin per type": lambda: Run.of(
        toy_graphs.messy(), dim={"node": 3, "word": 9}, margin={"node": 0.5, "word": 4.0}
    ),
    "five ends of walks by weight, against arrows": lambda: Run.of(
        toy_graphs.messy(weighted_edges=True, directed=True), neighborhood="walks", max_neighbors=5
    ),
    "relations": lambda: Run.of(toy_graphs.messy(n_relations=3)),
    "relations, one edge at a time": lambda: Run.of(
        toy_graphs.messy(n_relations=3, directed=True), neighborhood="edges", batch_size=40
    ),
    "more relations than nodes": lambda: Run.of(toy_graphs.messy(8, n_relations=40), batch_size=5),
    "a falling learning rate": lambda: Run.of(
        toy_graphs.messy(missing=True, n_relations=2), schedule="linear", batch_size=11
    ),
    "squared distances": lambda: Run.of(
        toy_graphs.messy(missing=True, weighted_edges=True, n_relations=2),
        distance="squared_euclidean",
        n_negatives=2,
    ),
    "columns shared by two threads": lambda: Run.of(
        toy_graphs.messy(missing=True, n_relations=2), dim=72, n_threads=2, n_negatives=2
    ),
    "one dimension": lambda: Run.of(toy_graphs.messy(), dim=1),
    "columns of the usual width": lambda: Run.of(
        toy_graphs.messy(n_relations=2), dim=2 * USUAL_WIDTH, n_threads=2
    ),
    "everything": lambda: Run.of(
        toy_graphs.messy(
            directed=True,
            weighted_edges=True,
            weighted_labels=True,
            missing=True,
            isolated=True,
            self_loops="keep",
        ),
        dim={"node": 5, "word": 7},
        margin={"node": 2.0, "word": 0.3},
        max_neighbors=3,
        n_negatives=2,
        negatives="degree",
        batch_size=7,
        seed=3,
    ),
    "everything, with relations": lambda: Run.of(
        toy_graphs.messy(
            directed=True,
            weighted_edges=True,
            weighted_labels=True,
            missing=True,
            isolated=True,
            self_loops="keep",
            n_relations=4,
        ),
        dim={"node": 5, "word": 7},
        margin={"node": 2.0, "word": 0.3},
        max_neighbors=3,
        n_negatives=2,
        negatives="shared",
        batch_size=7,
        seed=3,
    ),
}


@pytest.fixture(params=RUNS, ids=[name.replace(" ", "_") for name in RUNS])
def run(request: pytest.FixtureRequest) -> Run:
    return RUNS[request.param]()


def test_one_step_equals_a_step_by_autograd(run: Run) -> None:
    assert_equal_to_autograd(run.in_one_step(), np.float64, relative=1e-6, absolute=1e-8)


def test_one_epoch_equals_an_epoch_by_autograd(run: Run) -> None:
    assert_equal_to_autograd(run, np.float64, relative=1e-6, absolute=1e-6)


def test_twenty_epochs_equal_twenty_by_autograd(run: Run) -> None:
    assert_equal_to_autograd(run.lasting(20), np.float64, relative=1e-6, absolute=1e-6)


# In one dimension a gradient is a sign, which one bit of float32 turns for every third seed.
@pytest.mark.parametrize("name", [name for name in RUNS if name != "one dimension"])
def test_twenty_epochs_in_float32_stay_near_autograd(name: str) -> None:
    run = RUNS[name]().lasting(20)
    assert_equal_to_autograd(run, np.float32, relative=1e-3, absolute=1e-3)


@pytest.mark.parametrize("negatives", list(NEGATIVES))
@pytest.mark.parametrize("neighborhood", list(NEIGHBORHOODS))
def test_every_neighborhood_goes_with_all_negatives(neighborhood: str, negatives: str) -> None:
    run = Run.of(
        toy_graphs.messy(missing=True, isolated=True, weighted_edges=True),
        neighborhood=neighborhood,
        negatives=negatives,
        n_negatives=3,
        batch_size=10,
    )
    assert_equal_to_autograd(run.lasting(3), np.float64, relative=1e-6, absolute=1e-6)


def test_with_ids_relations_and_one_edge_at_a_time_the_loss_is_that_of_transe() -> None:
    graph = toy_graphs.messy(words=False, directed=True, n_relations=3)
    run = Run.of(graph, neighborhood="edges", margin=0.5).in_one_step()
    entities, relations = run.start["node"], run.start_relations["node"]
    tails = np.repeat(np.arange(graph.n_nodes), graph.neighbors.sizes)
    translated = entities[graph.neighbors.ids] + relations[graph.neighbor_relations]
    drawer = Drawer(graph, run.instance, run.plan, np.float64)
    order = drawer.order(0)
    corrupted = np.empty(len(order), np.int64)
    corrupted[order] = drawer.draw(0, order).negatives[:, 0]
    assert (corrupted != tails).all()
    true, false = (
        np.linalg.norm(translated - entities[x].astype(np.float64), axis=1)
        for x in (tails, corrupted)
    )
    losses = np.maximum(0, 0.5 + true - false)
    assert 0 < (losses > 0).sum() < len(losses)
    assert run.fused(np.float64).loss_history["node"] == [pytest.approx(losses.mean())]


@pytest.mark.parametrize("seed", range(3))
def test_other_seeds_agree_too(seed: int) -> None:
    run = Run.of(toy_graphs.messy(seed=seed, weighted_edges=True), seed=seed)
    assert_equal_to_autograd(run.lasting(20), np.float64, relative=1e-6, absolute=1e-6)


def test_beyond_the_young_steps_of_adam_both_still_agree() -> None:
    run = Run.of(
        toy_graphs.messy(12, missing=True), label_types=("word",), batch_size=2, learning_rate=1e-3
    ).lasting(200)
    assert run.plan.epochs * 6 > YOUNG
    assert_equal_to_autograd(run, np.float64, relative=1e-6, absolute=1e-6)


def test_where_a_node_equals_its_reconstruction_the_gradient_is_zero_as_in_autograd() -> None:
    run = Run.of(Graph.from_edges([("hub", f"leaf{i}") for i in range(6)]), n_negatives=2)
    run.start["node"][[0, 1, 2]] = run.start["node"][0]  # hub, leaf0 and leaf1 fall together
    assert_equal_to_autograd(run.in_one_step(), np.float64, relative=1e-6, absolute=1e-8)
    assert_equal_to_autograd(run.lasting(20), np.float64, relative=1e-6, absolute=1e-6)


def test_nodes_that_all_share_one_word_do_not_move_it() -> None:
    words = {node: ["same"] for node in range(5)}
    run = Run.of(
        Graph.from_edges([(i, i + 1) for i in range(4)], labels={"word": words}),
        label_types=("word",),
        margin=2.5,
        n_negatives=3,
    )
    result = run.lasting(3).fused(np.float64)
    np.testing.assert_array_equal(result.label_vectors["word"], run.start["word"])
    assert result.loss_history["word"] == [3 * 2.5] * 3


@pytest.fixture(scope="module")
def cora_run(cora: Graph) -> Run:
    return Run.of(cora, dim=8, batch_size=64, learning_rate=1e-3)


def test_one_step_of_cora_equals_autograd(cora_run: Run) -> None:
    assert_equal_to_autograd(cora_run.in_one_step(), np.float64, relative=1e-6, absolute=1e-8)


def test_one_epoch_of_cora_equals_autograd(cora_run: Run) -> None:
    assert_equal_to_autograd(cora_run, np.float64, relative=1e-5, absolute=1e-6)


@pytest.mark.slow
def test_twenty_epochs_of_cora_equal_autograd_in_both_precisions(cora_run: Run) -> None:
    run = cora_run.lasting(20)
    reference = run.autograd()
    assert_near(run, run.fused(np.float64), reference, relative=1e-6, absolute=1e-6)
    assert_near(run, run.fused(np.float32), reference, relative=1e-3, absolute=1e-3)

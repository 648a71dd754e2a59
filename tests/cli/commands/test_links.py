"""`embedprop tails` and `embedprop predict`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import QUICK, Shell, assert_refused

from embedprop import EmbeddingPropagation, Graph

TRIPLES = "source,target,relation\nann,bob,likes\nbob,cid,likes\ncid,ann,knows\ncid,dan,knows\n"
CLASSES = "node,class\nann,red\ndan,blue\n"


@pytest.fixture
def triples(shell: Shell) -> EmbeddingPropagation:
    Path("triples.csv").write_text(TRIPLES)
    command = ["fit", "triples.csv", "--directed", "--out", "m", *QUICK, "--inverse-relations"]
    assert shell(*command, "--neighborhood", "edges").code == 0
    return EmbeddingPropagation.load("m")


def test_tails_are_a_table_of_the_likeliest(shell: Shell, triples: EmbeddingPropagation) -> None:
    answer = shell("tails", "m", "ann", "likes", "-k", "2")
    lines = [f"{n}\t{s:.4f}" for n, s in triples.predict_tails("ann", "likes", k=2)]
    assert answer == (0, "\n".join(["tail\tscore", *lines, ""]), "")


def test_without_relations_a_head_suffices(shell: Shell, model: Path) -> None:
    answer = shell("tails", model, "ann")
    expected = EmbeddingPropagation.load(model).predict_tails("ann")
    assert answer.out.splitlines() == ["tail\tscore", *(f"{n}\t{s:.4f}" for n, s in expected)]


def test_nodes_and_relations_that_are_numbers_are_found_by_their_digits(shell: Shell) -> None:
    graph = Graph.from_edges([(1, 2), (2, 3)], relations=[7, 8], directed=True)
    EmbeddingPropagation(dim=4, epochs=1, n_threads=1).fit(graph).save("numbers")
    answer = shell("tails", "numbers", "1", "7")
    assert (answer.code, len(answer.out.splitlines())) == (0, 3)


def test_mistakes_of_tails(shell: Shell, triples: EmbeddingPropagation, model: Path) -> None:
    del triples
    assert_refused(shell("tails", "m", "eve", "likes"), "Unknown node 'eve'")
    assert_refused(shell("tails", "m", "ann", "hates"), "Unknown relation 'hates'", "'likes'")
    assert_refused(shell("tails", "m", "ann"), "Unknown relation None")
    assert_refused(shell("tails", model, "ann", "likes"), "from edges without relations")
    assert_refused(shell("tails", "m", "ann", "likes", "-k", "0"), "k=0: expected")
    assert_refused(shell("tails", "nowhere", "ann"), "nowhere")


def test_predict_writes_the_class_of_every_node(shell: Shell) -> None:
    Path("classes.csv").write_text(CLASSES)
    command = ["fit", "edges.csv", "--targets", "classes.csv", "--out", "m", *QUICK]
    assert shell(*command, "--target-weight", "2").code == 0
    answer = shell("predict", "m", "--out", "predicted.csv")
    assert answer == (0, "Wrote the classes of 4 nodes to predicted.csv.\n", "")
    table = pl.read_csv("predicted.csv")
    model = EmbeddingPropagation.load("m")
    assert table.columns == ["node", "class"]
    assert table["node"].to_list() == list(model.nodes_)
    assert table["class"].to_list() == model.predict()
    assert set(table["class"]) <= {"red", "blue"}
    assert shell("predict", "m", "--out", "predicted.csv", "--quiet") == (0, "", "")


def test_mistakes_of_predict_write_nothing(shell: Shell, model: Path) -> None:
    assert_refused(shell("predict", model, "--out", "p.csv"), "The model has no head")
    assert_refused(shell("predict", "nowhere", "--out", "p.csv"), "nowhere")
    assert not Path("p.csv").exists()


def test_relation_vectors_are_exported(shell: Shell, triples: EmbeddingPropagation) -> None:
    answer = shell("export", "m", "--relations", "node", "--format", "npy", "--out", "r.npy")
    assert answer.code == 0, answer.err
    np.testing.assert_array_equal(np.load("r.npy"), triples.relation_embeddings_["node"])
    assert shell("export", "m", "--relations", "node").code == 0
    table = pl.read_parquet("m-node-relations.parquet")
    assert table["relation"].to_list()[:2] == ["likes", "knows"]
    assert_refused(shell("export", "m", "--relations", "word"), "the model has none for 'word'")
    both = ["export", "m", "--relations", "node", "--labels", "node"]
    assert_refused(shell(*both), "--relations: expected either this or --labels")

"""`embedprop similar`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Shell, assert_refused

from embedprop import EmbeddingPropagation, Graph


def test_similar_nodes_are_a_tab_separated_table(shell: Shell, model: Path) -> None:
    answer = shell("similar", model, "ann", "-k", "2")
    expected = EmbeddingPropagation.load(model).similar("ann", k=2)
    lines = [f"{node}\t{score:.4f}" for node, score in expected]
    assert answer == (0, "\n".join(["node\tscore", *lines, ""]), "")


def test_similar_labels(shell: Shell, model: Path) -> None:
    answer = shell("similar", model, "tea", "--label-type", "word")
    expected = EmbeddingPropagation.load(model).similar_labels("word", "tea")
    assert answer.out.splitlines() == ["word\tscore", *(f"{n}\t{s:.4f}" for n, s in expected)]


def test_on_a_terminal_the_columns_are_aligned(
    shell: Shell, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    lines = shell("similar", model, "ann").out.splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "\t" not in "".join(lines)


def test_a_node_that_is_a_number_is_found_by_its_digits(
    shell: Shell, model_of_numbers: Path
) -> None:
    assert shell("similar", model_of_numbers, "1").out.startswith("node\tscore\n")
    answer = shell("similar", model_of_numbers, "10", "--label-type", "size")
    assert answer.out.splitlines()[1].startswith("20\t")


def test_a_name_with_a_tab_stays_on_its_line(shell: Shell) -> None:
    graph = Graph.from_edges([("a", "b\tc\nd")])
    EmbeddingPropagation(dim=4, epochs=1, n_threads=1).fit(graph).save("odd")
    assert shell("similar", "odd", "a").out.splitlines()[1].startswith("b\\tc\\nd\t")


def test_unknown_names_are_refused(shell: Shell, model: Path) -> None:
    assert_refused(shell("similar", model, "zoe"), "Unknown node 'zoe'")
    assert_refused(shell("similar", model, "x", "--label-type", "word"), "Unknown label 'x'")
    assert_refused(shell("similar", model, "x", "--label-type", "y"), "Unknown label type 'y'")
    assert_refused(shell("similar", model, "ann", "-k", "0"), "k=0: expected")

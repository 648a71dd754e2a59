from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.peers import environments, methods
from benchmarks.peers.claims import compared, judged, rows, tally
from benchmarks.peers.jobs import environment_variables, pairs_of, run_job
from benchmarks.peers.methods import METHODS, Method
from benchmarks.peers.page import conditions, graph_table, section, verdict
from benchmarks.peers.picture import heights, overlap, placed
from benchmarks.peers.quality import of_split, standardized, summary
from benchmarks.peers.records import latest, missing
from tests.benchmarks.measurements import THREE, measurement

from embedprop import Graph
from embedprop.evaluation.splits import share_split


def test_the_cheapest_of_ours_that_is_not_worse_is_compared() -> None:
    (one,) = judged(rows(THREE))
    assert one.ours is not None
    assert (one.ours.method, one.ratio, one.holds) == ("epb", 7.5, False)


def test_equal_quality_is_good_enough_and_ten_times_less_holds() -> None:
    (one,) = judged(rows([*THREE[:2], measurement("ppi", "deepwalk", 5.0, 18.0)]))
    assert one.ours is not None
    assert (one.ours.method, one.ratio, one.holds) == ("closed-form", 10.0, True)


def test_a_peer_that_is_better_than_all_of_ours_has_no_ratio_and_does_not_hold() -> None:
    (one,) = judged(rows([*THREE[:2], measurement("ppi", "deepwalk", 5000.0, 19.1)]))
    assert (one.ours, one.ratio, one.holds) == (None, None, False)


def test_ours_on_another_graph_does_not_count() -> None:
    found = rows([measurement("pos", "closed-form", 0.1, 50.0), THREE[2]])
    assert judged(found)[0].ours is None


def test_the_figure_to_judge_by_can_be_another_one() -> None:
    found = rows([THREE[0], THREE[2] | {"macro": 1.0}])
    peer = found[-1]
    assert compared(peer, found, "micro").ours is None
    assert compared(peer, found, "macro").ratio == 60.0


def test_a_row_is_the_mean_of_its_seeds_and_the_last_record_of_each_counts() -> None:
    records = [
        measurement("ppi", "epb", 100.0, 10.0),
        measurement("ppi", "epb", 2.0, 18.0),
        measurement("ppi", "epb", 4.0, 20.0, seed=1),
        measurement("ppi", "epb", 4.0, 99.0, train_share=0.5),
        measurement("ppi", "epb", 4.0, 99.0, benchmark="epoch"),
    ]
    (row,) = rows(records)
    assert (row.cpu_seconds, row.figures["micro"], row.n_seeds) == (3.0, 19.0, 2)


def test_what_was_measured_with_older_settings_is_left_out() -> None:
    old = measurement("ppi", "epb", 1.0, 1.0, settings={"epochs": 3}, seed=5)
    new = measurement("ppi", "epb", 2.0, 2.0)
    assert latest([old, new]) == [new]


def test_what_stands_in_the_record_is_not_measured_again_unless_asked_for() -> None:
    wanted = [THREE[0], THREE[0] | {"seed": 1}, THREE[0] | {"settings": {"method": "other"}}]
    known = [THREE[0] | {"commit": "another", "date": "later", "machine": "another"}]
    assert missing(known, wanted, again=False) == wanted[1:]
    assert missing(known, wanted, again=True) == wanted
    assert missing([THREE[0] | {"benchmark": "epoch"}], wanted, again=False) == wanted


def test_the_verdict_says_no_where_it_does_not_hold() -> None:
    text = verdict(rows([*THREE, measurement("ppi", "line", 50.0, 17.0)]))
    assert "| gensim DeepWalk, PecanPy, LINE | 9 | 1 | 1 | 1 |" in text
    lines = text.splitlines()
    assert any("gensim DeepWalk" in line and "| 7.5 | **no** |" in line for line in lines)
    assert any("| LINE |" in line and "| 100 | yes |" in line for line in lines)


def test_of_a_peer_in_several_settings_the_best_counts_and_apart_if_not_converged() -> None:
    pyg = [("pyg-1", 6.0), ("pyg-rate", 14.0), ("pyg-4", 7.0)]
    found = rows([*THREE, *(measurement("ppi", name, 90.0, micro) for name, micro in pyg)])
    assert [one.peer.method for one in judged(found)] == ["deepwalk", "pyg-rate"]
    converged, other = (tally(found, kind, n_graphs=1) for kind in (True, False))
    assert (converged.n_asked, converged.n_measured, converged.by_any) == (3, 1, 0)
    assert (other.peers, other.n_asked, other.by_any) == (("PyG Node2Vec",), 1, 1)
    assert (other.by_closed_form, other.by_trained, other.least) == (1, 1, 180.0)
    assert other.holds
    assert not converged.holds


def test_ours_is_counted_by_the_closed_form_and_by_training_apart() -> None:
    one = tally(rows([*THREE, measurement("ppi", "line", 30.0, 17.0)]), True, n_graphs=1)
    assert (one.by_any, one.by_closed_form, one.by_trained, one.least) == (1, 1, 0, 7.5)


def test_commits_and_loads_of_ours_and_the_peers_are_listed() -> None:
    peer = THREE[2] | {"commit": "old", "machine": "a machine, load 4.4"}
    text = conditions(rows([*THREE[:2], peer]))
    assert "| PPI | ours | abc | 0.1 |" in text
    assert "| PPI | peers | old | 4.4 |" in text


def test_a_peer_ahead_of_ours_stands_in_the_table_with_a_dash() -> None:
    found = rows([*THREE, measurement("ppi", "prone", 0.4, 30.0)])
    table = graph_table(found)
    assert "| ProNE | 0.40 | 30.00 ± 0.50 |" in table.splitlines()[2]
    assert "| – |" in table.splitlines()[2]
    assert "none is as good" in verdict(rows([measurement("ppi", "line", 1.0, 9.0)]))


def test_the_lead_is_paired_over_splits() -> None:
    ours = measurement("ppi", "closed-form", 1.0, 20.0, micro_runs=[19.0, 21.0])
    peer = measurement("ppi", "line", 9.0, 18.0, micro_runs=[18.0, 18.0])
    (one,) = judged(rows([ours, peer]))
    assert one.lead() == (2.0, pytest.approx(1.0))


def test_a_method_far_below_the_others_stands_at_the_edge_of_the_picture() -> None:
    found = rows([*THREE, measurement("ppi", "pyg-1", 30.0, 6.0)])
    drawn = dict(zip((row.method for row in found), heights(found), strict=True))
    assert drawn["closed-form"] == 18.0
    assert 6.0 < drawn["pyg-1"] < 18.0


def test_the_section_has_every_graph_and_method_of_the_record() -> None:
    text = section(rows([*THREE, measurement("pos", "svd", 1.0, 40.0)]), "picture.png")
    for word in ("### PPI", "### POS", "EP-B", "closed form", "DeepWalk", "SVD", "picture.png"):
        assert word in text
    assert "BlogCatalog" not in text


def test_labels_cover_neither_points_nor_each_other() -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform((60, 40), (540, 220), (14, 2))
    points[:5] = points[0] + rng.uniform(-12, 12, (5, 2))  # a crowd
    sizes = np.stack([rng.uniform(30, 110, 14), np.full(14, 11.0)], axis=1)
    corners = placed(points, sizes, np.array([0.0, 0, 600, 260]))
    labels = np.concatenate([corners, corners + sizes], axis=1)
    dots = np.concatenate([points - 3, points + 3], axis=1)
    shared = overlap(labels, labels)
    np.fill_diagonal(shared, 0)
    assert shared.max() == 0
    assert overlap(labels, dots).max() == 0
    assert labels.min() >= 0
    assert (labels[:, 2:] <= (600, 260)).all()


def test_each_undirected_edge_is_handed_over_once() -> None:
    graph = Graph.from_edges(np.array([[0, 1], [2, 1], [1, 0], [3, 3]]), nodes=range(5))
    assert pairs_of(graph).tolist() == [[0, 1], [1, 2]]


def test_a_worker_learns_in_its_own_process_and_tells_what_it_cost() -> None:
    edges = np.array([(i, j) for i in range(140) for j in range(i) if (i * j) % 7 == 1])
    graph = Graph.from_edges(edges, nodes=range(150))
    method = Method("EP, closed form", "embedprop_ours", {"method": "closed-form", "dim": 8})
    vectors, costs = run_job(method, graph, 0, ["env"], limit=120)
    assert vectors.shape == (150, 8)
    assert 0 < costs["cpu_seconds"] < costs["process_cpu_seconds"]
    assert costs["peak_rss_mb"] > 10
    assert costs["version"].startswith("embedprop ")


def test_a_worker_that_fails_is_an_error() -> None:
    graph = Graph.from_edges(np.array([[0, 1]]))
    method = Method("none", "no_such_worker", {})
    with pytest.raises(subprocess.CalledProcessError):
        run_job(method, graph, 0, [], limit=60)


def test_workers_have_one_thread() -> None:
    assert environment_variables()["OMP_NUM_THREADS"] == "1"
    assert environment_variables()["NUMBA_NUM_THREADS"] == "1"


def test_every_method_has_a_worker_and_pinned_requirements() -> None:
    folder = Path(methods.__file__).parent
    for method in METHODS.values():
        assert (folder / "workers" / f"{method.worker}.py").is_file()
        if method.environment is not None:
            text = (environments.REQUIREMENTS / f"{method.environment}.txt").read_text()
            assert text.split()
            assert all(line.count("==") == 1 for line in text.splitlines())


def test_an_environment_is_made_again_only_when_its_requirements_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def run(command: list[str], *, check: bool) -> None:
        assert check
        calls.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True)

    monkeypatch.setenv("EMBEDPROP_BENCHMARKS", str(tmp_path / "cache"))
    monkeypatch.setattr(environments, "REQUIREMENTS", tmp_path)
    monkeypatch.setattr(environments.subprocess, "run", run)
    (tmp_path / "peer.txt").write_text("numpy==1.0\n")
    python = environments.python_of("peer")
    assert python == tmp_path / "cache" / "peer" / "bin" / "python"
    assert len(calls) == 2
    environments.python_of("peer")
    assert len(calls) == 2
    (tmp_path / "peer.txt").write_text("numpy==1.1\n")
    environments.python_of("peer")
    assert len(calls) == 4
    assert environments.python_of(None) == Path(sys.executable)


def test_standardizing_takes_the_scale_of_columns_out_of_the_quality() -> None:
    rng = np.random.default_rng(0)
    targets = np.zeros((120, 2), bool)
    targets[np.arange(120), np.arange(120) % 2] = True
    vectors = rng.standard_normal((120, 3)) + 2 * targets[:, :1]
    assert np.allclose(standardized(vectors), standardized(1e-4 * vectors))
    split = share_split(np.arange(120), 0.5, 0)
    tiny = of_split((1e-4 * vectors, standardized(1e-4 * vectors)), targets, split)
    large = of_split((vectors, standardized(vectors)), targets, split)
    assert tiny["micro_scaled"] > 0.8
    assert large["micro"] > 0.8
    assert set(tiny) == {"micro", "macro", "micro_scaled", "macro_scaled"}


def test_a_single_split_has_no_spread() -> None:
    assert summary([{"micro": 0.25}]) == {"micro": 25.0, "micro_sd": None, "micro_runs": [25.0]}
